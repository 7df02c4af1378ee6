#!/usr/bin/env bats
# Going on with a series that was ended before its time.

setup() {
    load common
    setup_folder
}

# A runner whose program prints a figure, and two profiles with warm-up and confirming stage. The
# candidate's is worse than is allowed: all stages are run.
make_series() {
    mkdir -p runners/t profiles/t
    cat >program <<'END'
#!/bin/sh
sleep "$1"
echo "value=$((${1#0.}))"
END
    chmod +x program
    cat >runners/t/runner.json <<END
{"runner": "t", "description": "of a test", "roles": {"only": {"command": ["{program}"]}},
 "metrics": [{"metric": "count", "pattern": "^value=(?<value>[0-9]+)$", "unit": "count", "better": "lower"}]}
END
    for name in p q; do
        echo '{"profile": "t/'$name'", "runner": "t", "warmup": 1, "pairs": 3, "confirm": 2,
               "pause": "0s"}' >profiles/t/$name.json
    done
    series=(t/p t/q --baseline old=./program --baseline-arg 0.010 --candidate new=./program
        --candidate-arg 0.020 --threshold count=1%)
}

# Starts the series in the background; $pid.
start() { # ARCHIVE
    env --default-signal=INT "$ABBA" run --no-lock -q "${series[@]}" --archive "$1" \
        >/dev/null 2>start.txt </dev/null &
    pid=$!
}

# The samples of an archive, by a Python expression on the list `s`.
samples() { # ARCHIVE EXPRESSION
    python3 -c "import json; s=[json.loads(l) for l in open('$1/samples.jsonl')]; print($2)"
}

# Ends the process and takes its status.
end() { # SIGNAL
    kill "-$1" "$pid" 2>/dev/null || true
    ended=0
    wait "$pid" || ended=$?
}

# Resumes until the series has ended; kills abba on the way as often as asked.
resume_all() { # ARCHIVE KILLS
    local left=$2
    while [ "$left" -gt 0 ]; do
        left=$((left - 1))
        "$ABBA" resume --no-lock -q "$1" >/dev/null 2>start.txt </dev/null &
        pid=$!
        sleep "0.0$((RANDOM % 90 + 10))"
        end KILL
        [ "$ended" = 137 ] || break
    done
    [ -e "$1/SHA256SUMS" ] || abba resume --no-lock -q "$1"
}

# What an archive of that series must be, however it came about: every slot of the plan, of each pair
# the last attempt whole, all stages of both profiles, and a report that counts second attempts.
expect_whole_series() { # ARCHIVE
    abba verify "$1"
    expect_status 0
    abba report "$1" --format json
    expect_status 1
    printf '%s' "$output" >report.json
    python3 - "$1" <<'END' || fail "not whole"
import collections, json, sys
r = json.load(open("report.json"))
s = [json.loads(line) for line in open(sys.argv[1] + "/samples.jsonl")]
assert [(p["verdict"], p["stage"]) for p in r["profiles"]] == [("regressed", "confirm")] * 2
last = collections.defaultdict(dict)
for x in s:
    assert x["status"] in ("ok", "interrupted")
    key = x["profile"], x["stage"], x["pair"]
    attempts = last[key].setdefault(x["attempt"], {})
    assert x["slot"] not in attempts
    attempts[x["slot"]] = x["status"]
assert len(last) == 12
again = 0
for key, attempts in last.items():
    assert list(attempts[max(attempts)].values()) == ["ok", "ok"], key
    again += max(attempts) > 1 and key[2] > 0
said = sum(int(n.split()[0]) for p in r["profiles"] for n in p["notes"] if "run again" in n)
assert said == again, (said, again)
END
}

# That series, judged by the median: both of its profiles regress.
make_judged_series() {
    make_series
    echo '{"thresholds": "m", "rule": "median", "pairs": 3, "confirm": 2,
           "limits": {"count": {"worse": "1%"}}}' >m.json
    series=("${series[@]:0:10}" --thresholds ./m.json)
}

kill_and_resume() { # TIMES
    local turn
    make_judged_series
    for turn in $(seq "$1"); do
        start a
        # The first instants have fewer things to go wrong than the runs have.
        [ $((turn % 5)) = 0 ] || wait_for test -s a/samples.jsonl
        sleep "$(printf '0.%03d' $((RANDOM % 500)))"
        end KILL
        if [ ! -e a/series.json ]; then # killed before anything was planned
            abba resume --no-lock a
            [ "$status" = 3 ] || [ "$status" = 5 ] || fail "no plan"
            rm -rf a a.new-*
            continue
        fi
        [ "$ended" = 137 ] || [ -e a/SHA256SUMS ] || fail "ended: $ended $(<start.txt)"
        resume_all a $((turn % 3))
        expect_whole_series a
        rm -rf a a.new-*
    done
}

@test "abba killed at 30 random points (1 to 10), resumed, killed again: the archive is whole" {
    kill_and_resume 10
}

@test "abba killed at 30 random points (11 to 20), resumed, killed again: the archive is whole" {
    kill_and_resume 10
}

@test "abba killed at 30 random points (21 to 30), resumed, killed again: the archive is whole" {
    kill_and_resume 10
}

@test "a run that failed by itself is never run again, its pair goes on with the slot after it" {
    make_series
    printf '#!/bin/sh\necho >>count\nexit 3\n' >broken
    chmod +x broken
    series=(t/p --baseline old=./program --baseline-arg 0.010 --candidate bad=./broken
        --candidate new=./program --candidate-arg 0.020 --confirm 0)
    for turn in $(seq 6); do
        rm -f count
        start a
        wait_for test -s a/samples.jsonl
        sleep "0.0$((RANDOM % 90 + 10))"
        end KILL
        resume_all a 1
        abba verify a
        expect_status 0
        failed=$(samples a 'sum(r["status"] == "failed" for r in s)')
        [ "$failed" = 4 ] # warm-up and three blocks, each once
        [ "$(samples a 'max(r["attempt"] for r in s if r["status"] == "failed") >= 1')" = True ]
        rm -rf a
    done
}

@test "a series closed by Ctrl-C goes on, and the interrupted pair is attempt 2" {
    make_series
    series=(t/p --baseline old=./program --baseline-arg 0.3 --candidate new=./program
        --candidate-arg 0.3 --candidate-env X=1 --confirm 0 --threshold count=1%)
    start a
    wait_for test -s a/samples.jsonl
    end INT
    [ "$ended" = 130 ]
    abba verify a
    expect_status 0
    before=$output
    abba resume --no-lock a
    expect_err "run again as attempt 2"
    abba verify a
    expect_status 0
    [ "$output" != "$before" ]
    [ "$(samples a '[r["attempt"] for r in s if r["stage"] == "warmup"][-2:]')" = "[2, 2]" ]
    [ "$(samples a 'sum(r["status"] == "interrupted" for r in s) <= 1')" = True ]
    abba report a
    expect_out "3 pairs"
    expect_no "warm-up run"
}

# ---- what is torn --------------------------------------------------------------------------------

# An archive of six pairs without its end: only LINES lines are left.
cut_short() { # LINES
    compare -q -n 6 --archive a true true
    rm a/SHA256SUMS a/report.json
    head -n "$1" a/samples.jsonl >s
    cat s >a/samples.jsonl
}

# Runs a command as after a reboot: the boot has another id, and what lay in folders that do not
# survive one is gone.
after_reboot() {
    rm -rf tmp && mkdir tmp
    # shellcheck disable=SC2016 # the inner shell's own words
    unshare --mount sh -c 'mount --bind "$1" /proc/sys/kernel/random/boot_id && shift && exec "$@"' \
        sh "$PWD/other_boot" "$@"
}

@test "a series that a reboot ended goes on, with its network" {
    echo 01234567-89ab-cdef-0123-456789abcdef >other_boot
    after_reboot grep -q 01234567 /proc/sys/kernel/random/boot_id 2>/dev/null ||
        skip "no other boot's id can be put in the place of this one's (needs root)"
    make_judged_series
    for name in p q; do
        sed -i 's/"pause"/"network": {"topology": "loopback"}, "pause"/' profiles/t/$name.json
    done
    start a
    more_than_five() { [ -e a/samples.jsonl ] && [ "$(wc -l <a/samples.jsonl)" -gt 5 ]; }
    wait_for more_than_five
    end KILL
    [ "$ended" = 137 ]
    [ ! -e a/SHA256SUMS ]
    after_reboot "$ABBA" resume --no-lock -q a >/dev/null 2>again.txt || [ $? = 1 ] || fail "$(<again.txt)"
    expect_whole_series a
}

@test "a torn last line and raw files without a line are kept as raw/torn-N" {
    compare -q -n 6 --archive a 'echo one' 'echo two'
    rm a/SHA256SUMS a/report.json
    tail -n 1 a/samples.jsonl | head -c 500 >torn
    head -n 5 a/samples.jsonl >s
    cat s torn >a/samples.jsonl
    : >a/report.json.new
    abba verify a
    expect_status 3
    abba resume --no-lock -q a
    expect_status 0
    cmp torn a/raw/torn-1
    [ -s a/raw/torn-1-000006-command.stdout ]
    [ ! -e a/report.json.new ]
    [ "$(samples a 'len(s)')" = 13 ]
    [ "$(samples a '[r["attempt"] for r in s if r["pair"] == 3]')" = "[1, 2, 2]" ]
    abba verify a
    expect_status 0
    abba report a
    expect_out "1 pair was interrupted and run again"
    rm a/SHA256SUMS
    printf '{"run":14' >>a/samples.jsonl
    abba resume --no-lock -q a
    expect_status 0
    [ "$(<a/raw/torn-2)" = '{"run":14' ]
    abba verify a
    expect_status 0
}

@test "raw files that did not reach the disk make their runs and all after them again" {
    compare -q -n 6 --archive a 'echo one' 'echo two'
    rm a/SHA256SUMS a/report.json
    : >a/raw/000010-command.stdout
    rm a/raw/000011-command.stdout
    abba resume --no-lock a
    expect_status 0
    expect_err "last 3 runs did not reach the disk"
    [ "$(wc -l <a/raw/torn-1)" = 3 ]
    [ "$(samples a '[r["attempt"] for r in s if r["pair"] == 5]')" = "[1, 2, 2]" ]
    abba verify a
    expect_status 0
}

@test "a failed run whose files did not reach the disk is not run again: the archive is damaged" {
    compare -q -n 6 --archive a 'echo one' 'sh -c "echo two; exit 1"'
    rm a/SHA256SUMS a/report.json
    : >a/raw/000010-command.stdout
    cp -r a before
    abba resume --no-lock a
    expect_status 5
    expect_err "failed by itself"
    diff -r a before
}

@test "a series that was killed while it was closed is closed" {
    cut_short 12
    : >a/SHA256SUMS.new
    abba resume --no-lock -q a
    expect_status 0
    [ "$(samples a 'len(s)')" = 12 ]
    abba verify a
    expect_status 0
}

@test "a full disk ends a series, and one that has room again lets it go on" {
    [ "$(id -u)" = 0 ] || skip "only root may mount"
    mkdir small
    unshare -m true 2>/dev/null || skip "no mount namespaces"
    cat >inside <<'END'
mount -t tmpfs -o size=64k none small || exit 77
rc=0
"$ABBA" compare --no-lock -q -n 40 --archive small/a 'seq 900' 'seq 901' >out.txt 2>err.txt || rc=$?
[ "$rc" = 3 ] || exit 1
rc=0
"$ABBA" resume --no-lock -q small/a >out.txt 2>err.txt || rc=$?
[ "$rc" = 3 ] || exit 2
mount -o remount,size=4m small || exit 77
"$ABBA" resume --no-lock -q small/a >out.txt 2>err.txt || exit 3
"$ABBA" verify small/a || exit 4
END
    rc=0
    unshare -m sh inside || rc=$?
    [ "$rc" != 77 ] || skip "no tmpfs"
    [ "$rc" = 0 ] || fail "step $rc: $(cat out.txt err.txt)"
}

# ---- what cannot go on ---------------------------------------------------------------------------

# Nothing may have changed.
refuses() { # STATUS TEXT [OPTION...]
    local want=$1 text=$2
    shift 2
    rm -rf before
    cp -rp a before
    abba resume --no-lock a "$@"
    expect_status "$want"
    expect_err "$text"
    diff -r a before || fail "the archive was changed"
}

@test "resume refuses a finished archive, and says so" {
    compare -q -n 2 --archive a true true
    refuses 2 "is finished: all of its 4 runs are there"
}

@test "resume refuses what is no archive or a damaged one" {
    abba resume nowhere
    expect_status 5
    abba resume "$ABBA"
    expect_status 5
    mkdir empty
    abba resume empty
    expect_status 5
    expect_err "is not an archive"
    mkdir -p none/raw
    abba resume none
    expect_status 3
    expect_err "run the series again"
    cut_short 5
    sed -i '3s/"run":3/"run":4/' a/samples.jsonl
    refuses 5 "line 3"
    sed -i 's/"pause": "0s"/"pause": "1s"/' a/series.json
    refuses 5 "not the one that was hashed"
    abba resume
    expect_status 2
    abba resume a b
    expect_status 2
}

@test "resume refuses other programs, input, machine and abba" {
    printf '#!/bin/sh\nexit 0\n' >one
    cp one two
    chmod +x one two
    echo text >input
    compare -q -n 6 --archive a --input input ./one './two x'
    rm a/SHA256SUMS
    head -n 5 a/samples.jsonl >s
    cat s >a/samples.jsonl
    echo '# more' >>two
    refuses 2 "variant 'candidate'"
    rm two
    refuses 2 "two"
    cp one two
    echo more >>input
    refuses 2 "input"
    echo text >input
    cp a/series.json kept.json
    sed -i 's/"kernel": "Linux /"kernel": "Linux 0/' a/series.json
    refuses 2 "is not the machine that 'a' was begun on: kernel was"
    sed 's/"tool": "abba [^"]*/"tool": "abba 0.0.1/' kept.json >a/series.json
    refuses 2 "was begun by abba 0.0.1"
    cp kept.json a/series.json
    mkdir elsewhere
    mv one elsewhere
    abba resume --no-lock a
    expect_status 2
    expect_err "same folder"
    mv elsewhere/one .
    abba resume --no-lock -q a
    expect_status 0
}

@test "resume refuses a library that is another one, and keeps what was known of those that ran" {
    echo 'int f(void) { return 0; }' >lib.c
    echo 'int f(void); int usleep(unsigned); int main(void) { usleep(20000); return f(); }' >main.c
    gcc -shared -fPIC -o libf.so lib.c
    gcc -o one main.c -L. -lf -Wl,-rpath,"$PWD"
    compare -q -n 20 --archive a ./one true
    rm a/SHA256SUMS
    head -n 37 a/samples.jsonl >s
    cat s >a/samples.jsonl
    files() {
        python3 -c 'import json; l=json.load(open("a/loaded.json"))
print(len(l["files"]), sorted(r["variant"] for r in l["roles"]))'
    }
    known=$(files)
    grep -q libf.so a/loaded.json || skip "the program was too short to be seen"
    cp libf.so kept.so
    echo 'int g(void) { return 1; }' >>lib.c
    gcc -shared -fPIC -o libf.so lib.c
    refuses 2 "libf.so' has SHA-256"
    cp kept.so libf.so
    abba resume --no-lock -q a
    expect_status 0
    [ "$(files)" = "$known" ] || fail "$(files), was $known"
    abba verify a
    expect_status 0
}

@test "resume refuses an archive that another abba writes, and a folder that cannot be written" {
    "$ABBA" compare --no-lock -q -n 400 --archive a 'sleep 0.02' 'sleep 0.02' >/dev/null 2>&1 &
    pid=$!
    wait_for test -s a/samples.jsonl
    abba resume --no-lock a
    expect_status 2
    expect_err "is being written by another abba"
    end KILL
    [ "$(id -u)" = 0 ] || chmod -R a-w a
    if [ "$(id -u)" = 0 ]; then
        # shellcheck disable=SC2016 # the inner shell's own word
        unshare -m sh -c 'mount --bind a a && mount -o remount,ro,bind a &&
            "$0" resume --no-lock a' "$ABBA" >out.txt 2>err.txt || status=$?
        # shellcheck disable=SC2034 # expect_err of common.bash looks at it
        err=$(<err.txt)
    else
        abba resume --no-lock a
        chmod -R u+w a # to be removed with the test's folder
    fi
    expect_status 3
    expect_err "cannot"
}

@test "resume --plan tells where a series goes on, and changes nothing" {
    cut_short 5
    refuses 0 "goes on after 5 runs in 'compare', stage main, with 8 runs to make" --plan
    expect_out "plan "
}

@test "a network's back end is the one of the runs before" {
    abba doctor --require network
    [ "$status" = 0 ] || skip "no private networks here"
    compare -q -n 3 --archive a --impair "delay 1ms" true true
    skip_if_too_busy_for_a_network
    expect_status 0
    rm a/SHA256SUMS
    head -n 3 a/samples.jsonl >s
    cat s >a/samples.jsonl
    abba resume --no-lock -q a
    expect_status 0
    [ "$(samples a 'len({r["net"]["backend"] for r in s})')" = 1 ]
    abba verify a
    expect_status 0
}
