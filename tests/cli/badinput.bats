#!/usr/bin/env bats
# The answer to bad input is one clear message and the documented status; nothing is lost.

setup() {
    load common
    setup_folder
    cost=$ABBA_BUILD/cost
}

value='{"metric": "value", "pattern": "value=(?<value>[0-9]+)", "unit": "count", "better": "lower"}'

# Both sides run: nothing hangs, nothing crashes, all runs are archived.
expect_failed_runs() { # STATUS-OF-ABBA RUNS
    expect_status "$1"
    [ "$(wc -l <kept/samples.jsonl)" = "$2" ] || fail "runs archived"
    abba verify kept
    expect_status 0
}

# ---- programs ----------------------------------------------------------------------------------

@test "a program that does not exist" {
    compare -n 6 true /nonexistent/program
    expect_status 2
    expect_err "/nonexistent/program"
    compare -n 6 true nonexistent-program
    expect_status 2
    expect_err "nonexistent-program"
}

@test "a program that is not executable" {
    echo x >plain
    compare -n 6 true ./plain
    expect_status 2
    expect_err "plain"
}

@test "a folder instead of a program" {
    compare -n 6 true ./tmp
    expect_status 2
    expect_err "tmp"
}

@test "a program with a bad interpreter" {
    printf '#!/nonexistent/interpreter\n' >bad
    chmod +x bad
    compare -n 6 --archive kept true ./bad
    [ "$status" = 2 ] || expect_failed_runs 3 12
    [[ "$output$err" == *bad* ]]
}

@test "a program that is neither script nor binary" {
    printf '\001\002\003' >garbage
    chmod +x garbage
    compare -n 6 --archive kept true ./garbage
    [ "$status" = 2 ] || expect_failed_runs 3 12
}

@test "a program that dies by a signal" {
    compare -n 6 --archive kept true "$cost/die signal 11"
    [ "$status" = 3 ]
    expect_out "SIGSEGV"
    expect_failed_runs 3 12
}

@test "a program that hangs is ended by the time-out" {
    compare -n 1 --timeout 200ms --archive kept true "sleep 1000"
    expect_out "candidate failed"
    expect_failed_runs 3 2
}

@test "a program that ignores SIGTERM is ended by the time-out" {
    compare -n 1 --timeout 300ms --archive kept true "$cost/stubborn"
    expect_failed_runs 3 2
    no_process "^$cost/stubborn"
}

@test "children that outlive their program, also in a session of their own, are ended" {
    compare -n 1 --archive kept "$cost/escape 10" "$cost/escape fast"
    [ "$status" = 0 ] || [ "$status" = 3 ] || fail "status"
    no_process "^$cost/escape"
}

@test "a program that writes 1 GiB" {
    compare -n 1 --archive kept true "$cost/flood 1073741824 lines"
    expect_status 0
    [ "$(du -sm kept | cut -f1)" -lt 8 ] || fail "archive too large"
    abba verify kept
    expect_status 0
}

@test "a program that writes binary, or one line of 100 MB" {
    compare -n 1 --archive kept "$cost/flood 3000000 binary" "$cost/flood 100000000 line"
    expect_status 0
    abba verify kept
    expect_status 0
}

@test "binary, terminal escapes and markup on standard error stay harmless in every report" {
    cat >nasty <<'END'
#!/bin/sh
printf '\033[31mred\033]0;title\007 <script>alert(1)</script> | @all ]]> \377\376 `x`\n' >&2
exit 1
END
    chmod +x nasty
    compare -n 6 --archive kept true ./nasty
    expect_status 3
    expect_no $'\033'
    expect_out "red"
    for format in text markdown junit json; do
        abba report kept --format "$format"
        expect_status 3
        expect_no $'\033'
        expect_no $'\007'
    done
    abba report kept --format markdown
    # inside of code spans it is text
    outside=$(python3 -c 'import re, sys; print(re.sub(r"(`+).*?\1", "", sys.stdin.read()))' <<<"$output")
    [[ "$outside" != *"<script"* && "$outside" != *"@all"* ]] || fail "markup is active"
    abba report kept --format junit
    printf '%s' "$output" | python3 -c 'import sys, xml.dom.minidom as x; x.parseString(sys.stdin.buffer.read())'
}

@test "a role that exits before it is ready" {
    mkdir -p runners/r profiles/r
    cat >runners/r/runner.json <<END
{"runner": "r", "roles": {
  "server": {"command": ["$cost/serve", "exits", "1", "7"], "ready": {"stdout": "^ready$"}},
  "client": {"command": ["{program}"], "after": ["server"]}},
 "metrics": []}
END
    echo '{"profile": "r/p", "runner": "r", "pairs": 6, "confirm": 0}' >profiles/r/p.json
    abba run --no-lock r/p --baseline a=/bin/true --candidate b=/bin/echo --archive kept
    expect_out "server"
    expect_failed_runs 3 12
}

# ---- files -------------------------------------------------------------------------------------

@test "JSON that is cut, deep, or has a key twice names line and column" {
    make_runner "$value"
    printf '{"profile": "t/p", "runner": ' >profiles/t/p.json
    run_profile
    expect_status 2
    expect_err "p.json"
    { printf '{"profile": "t/p", "runner": "t", "load": '; printf '[%.0s' $(seq 10000); } >profiles/t/p.json
    run_profile
    expect_status 2
    expect_err "p.json"
    echo '{"profile": "t/p", "runner": "t", "pairs": 6, "pairs": 8}' >profiles/t/p.json
    run_profile
    expect_status 2
    expect_err "pairs"
}

@test "JSON that is huge" {
    make_runner "$value"
    { printf '{"profile": "t/p", "runner": "t", "description": "'; head -c 40000000 /dev/zero | tr '\0' x; printf '"}'; } >profiles/t/p.json
    run_profile
    expect_status 2
    expect_err "p.json"
}

@test "an unknown key offers the nearest known one" {
    make_runner "$value"
    echo '{"profile": "t/p", "runner": "t", "piars": 6}' >profiles/t/p.json
    run_profile
    expect_status 2
    expect_err "piars"
    expect_err 'did you mean "pairs"?'
}

@test "wrong units, and numbers that are none" {
    make_runner "$value"
    for wrong in '"pause": 5' '"pause": "5 parsecs"' '"pause": "NaNms"' '"pairs": NaN' \
        '"pairs": 1e999' '"pairs": 6.5' '"pairs": "6"' '"pairs": -1' '"pause": "-1s"'; do
        echo "{\"profile\": \"t/p\", \"runner\": \"t\", $wrong}" >profiles/t/p.json
        run_profile
        expect_status 2
        expect_err "p.json"
    done
}

@test "text that is not UTF-8" {
    make_runner "$value"
    printf '{"profile": "t/p", "runner": "t", "description": "\377\376"}' >profiles/t/p.json
    run_profile
    expect_status 2
    expect_err "UTF-8"
}

@test "an unknown metric in thresholds offers the nearest" {
    make_runner "$value"
    echo '{"thresholds": "mine", "rule": "bounded", "limits": {"wall_tiem": {"worse": "5%"}}}' >mine.json
    run_profile --thresholds ./mine.json
    expect_status 2
    expect_err "wall_tiem"
    expect_err "wall_time"
    compare -n 6 --threshold wall_tiem=5% true true
    expect_status 2
    expect_err "wall_time"
}

@test "a profile, a runner or thresholds that are not there offer the nearest" {
    make_runner "$value"
    abba run --no-lock t/q --baseline ./program --candidate ./program
    expect_status 2
    expect_err "t/p"
    run_profile --thresholds defualt
    expect_status 2
    expect_err "default"
}

@test "a pattern that does not compile, or has no group 'value'" {
    make_runner '{"metric": "value", "pattern": "value=(?<value>[0-9]+", "unit": "count", "better": "lower"}'
    run_profile
    expect_status 2
    expect_err "runner.json"
    make_runner '{"metric": "value", "pattern": "value=([0-9]+)", "unit": "count", "better": "lower"}'
    run_profile
    expect_status 2
    expect_err "value"
}

@test "a pattern that never matches, or matches twice, fails the run and names the count" {
    make_runner "$value" 'echo nothing'
    run_profile
    expect_status 3
    expect_out "value"
    rm -r a
    make_runner "$value" 'echo value=1; echo value=2'
    run_profile
    expect_status 3
    expect_out "2"
}

@test "a pattern that backtracks for ever is stopped" {
    make_runner '{"metric": "value", "pattern": "^(?<value>(a+)+)b$", "unit": "count", "better": "lower"}' \
        'printf "%s" aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac'
    run_profile
    expect_status 3
}

# ---- figures -----------------------------------------------------------------------------------

@test "figures of any size, sign and scatter fit their columns and print neither nan nor inf" {
    make_runner "$value"
    sed -i 's/\[0-9\]+/\\\\S+/' runners/t/runner.json
    cat >program <<'END'
#!/bin/sh
echo >>"count$1"
n=$(wc -l <"count$1")
set -- $(cat "values$1")
shift $((n % $#))
echo "value=$1"
END
    while IFS=: read -r old new; do
        rm -rf a count*
        echo "$old" >values
        echo "$new" >valuesx
        run_profile --threshold value=5% -v
        for format in text markdown junit; do
            abba report a --format "$format"
            ! grep -qiwE '[+-]?(nan|inf)' <<<"$output" || fail "$old against $new in $format"
            ! grep -qE '[0-9]{30}\.?[0-9]* ' <<<"$output" || fail "long digits in $format"
        done
        abba verify a
        expect_status 0
    done <<'END'
0:0 1 2
0 1 2:0 0 0 1
-10:-20
0:-5
1e-300:1e300
5e-324:1
1e308:-1e308
1e308 -1e308:-1e308 1e308 0
7:0
END
}

@test "identical samples and zero baselines never print nan" {
    make_runner "$value" 'echo value=0'
    for text in 'echo value=0' 'echo value=7'; do
        rm -rf a
        printf '#!/bin/sh\n%s\n' "$text" >other
        chmod +x other
        for format in text markdown json junit; do
            rm -rf a
            abba run --no-lock t/p --baseline old=./program --candidate new=./other --archive a \
                --threshold value=5% --format "$format" -v
            [[ "$(tr '[:upper:]' '[:lower:]' <<<"$output")" != *nan* ]] || fail "nan in $format"
        done
    done
    [ "$status" = 1 ] || fail "from 0 to 7 is worse than 5%"
}

# ---- archives ------------------------------------------------------------------------------------

@test "an archive folder that exists already is not touched" {
    mkdir kept
    echo mine >kept/file
    compare -n 6 --archive kept true true
    expect_status 2
    expect_err "exists already"
    [ "$(ls kept)" = file ]
}

@test "an archive that is none, or damaged" {
    mkdir empty
    for command in report verify; do
        abba "$command" empty
        expect_status 5
        abba "$command" nowhere
        expect_status 5
    done
    compare -n 6 -q --archive kept true true
    sed -i 's/"pair":3/"pair":4/' kept/samples.jsonl
    abba verify kept
    expect_status 5
    expect_err "samples.jsonl"
}

@test "a digest of another archive is told" {
    compare -n 6 -q --archive kept true true
    abba verify kept --digest "$(printf '0%.0s' $(seq 64))"
    expect_status 5
    abba verify kept --digest 123
    expect_status 2
}

@test "a full disk in the middle of a series loses nothing measured before" {
    mkdir small
    if ! unshare -m true 2>/dev/null; then
        skip "mounts may not be made here"
    fi
    # shellcheck disable=SC2016
    unshare -m sh -c '
        mount -t tmpfs -o size=256k none small || exit 77
        "$0" compare --no-lock -n 200 --archive small/a "$1/flood 20000 lines" "$1/flood 20000 lines"
        echo status $?
        "$0" report small/a >/dev/null
        echo report $?
        "$0" verify small/a
        echo verify $?
        wc -l <small/a/samples.jsonl' "$ABBA" "$cost" >out.txt 2>err.txt || [ $? != 77 ] || skip "no tmpfs"
    output=$(<out.txt) err=$(<err.txt) status=-
    expect_out "status 3"
    expect_out "report 3"
    expect_out "verify 3"
    expect_err "No space left"
    expect_err "unfinished"
    [ "$(tail -1 out.txt)" -gt 2 ]
}

@test "a disk that is full when the archive is closed leaves it unfinished, with all runs" {
    unshare -m true 2>/dev/null || skip "mounts may not be made here"
    mkdir small
    found=no
    # One of these sizes has room for the samples and none for the report.
    for size in 32 36 40 44 48 52 56 60 64; do
        # shellcheck disable=SC2016
        unshare -m sh -c '
            mount -t tmpfs -o size="$2"k none small || exit 77
            "$0" compare --no-lock -q -n 4 --archive small/a true true >out.txt 2>err.txt
            echo $? >status
            [ -d small/a ] || exit 0
            "$0" report small/a >/dev/null 2>&1
            echo $? >>status
            "$0" verify small/a 2>verify.txt
            echo $? >>status' "$ABBA" "$cost" "$size" || { [ $? != 77 ] || skip "no tmpfs"; }
        if grep -q "small/a/\(report.json\|SHA256SUMS\)'.*No space left" err.txt; then
            [ "$(tr "\n" " " <status)" = "3 3 3 " ]
            grep -q "unfinished: 8 of 8 runs" verify.txt
            found=yes
        fi
    done
    [ $found = yes ]
}

@test "SIGKILL of abba at any moment leaves no process and a readable archive" {
    for turn in 1 2 3 4 5; do
        "$ABBA" compare --no-lock -q -n 5000 --archive "a$turn" "$cost/spin 7" "$cost/escape 7" \
            >/dev/null 2>&1 &
        pid=$!
        wait_for test -s "a$turn/samples.jsonl"
        sleep "0.0$((turn * 7 % 10))"
        kill -KILL "$pid"
        wait "$pid" || true
        wait_for no_process "^$cost/(spin|escape)"
        abba report "a$turn"
        expect_status 3
        abba verify "a$turn"
        expect_status 3
        expect_err "unfinished"
    done
}

# ---- words ---------------------------------------------------------------------------------------

@test "options given twice, unknown, without argument or with a wrong one are usage errors" {
    for words in "-n 6 -n 6" "--nosuch" "-n" "-n x" "-n 0" "--pairs=" "--timeout 5" "--quiet=1" \
        "--color blue" "--format xml" "--threshold wall_time" "--threshold wall_time=x" \
        "--threshold =5%" "--threshold wall_time=5% --threshold wall_time=6%" "--env X" "--cpus 99999" "--cpus x" "--seed -1" "--input /nonexistent" \
        "-q -v" "--event no-such-event-name" "--timeout 1us" "--timeout 25h" "--pause 2h" "-n 10001"; do
        # shellcheck disable=SC2086
        compare $words true true
        [ "$status" = 2 ] || fail "status of: $words"
        [ "$(grep -c '^abba: ' stderr.txt)" = 1 ] || fail "one message for: $words"
        [ ! -e core ]
    done
}

@test "a slip in a sub-command's name is told from a program" {
    abba comapre a b
    expect_status 2
    expect_err "neither a sub-command of abba nor a program"
    expect_err "abba compare"
    abba -q run t/p
    expect_status 2
    expect_err "its options go behind it"
    abba
    expect_status 2
    expect_err "nothing to compare"
}

@test "control characters of names and files reach no terminal through messages" {
    compare $'\e[31mred\a' true
    expect_status 2
    expect_err 'x1b[31mred'
    expect_no $'\e'
    expect_no $'\a'
    abba report $'no\e[2Jarchive'
    expect_status 5
    expect_no $'\e'
    compare '\true' 'no\\such'
    expect_status 2
    expect_err "program 'no\such' is"
}

@test "every kind of file refuses every kind of broken JSON, in one line that names it" {
    make_runner "$value"
    echo '{"thresholds": "mine", "rule": "bounded", "limits": {}}' >mine.json
    echo '{"variant": "v", "program": "./program"}' >v.json
    cat >broken.py <<'END'
import os, subprocess, sys
broken = [b'', b'null', b'"x"', b'{', b'[' * 10000 + b']' * 10000, b'{"a":' * 10000, b'{} {}', b'{},',
          b'{} // x', b'{"": 1}', b'{"a\x01": 1}', b'{"\xff": 1}', b'{"\xc0\xaf": 1}', b'{"a": "\\ud800"}',
          b'{"description": "\\u0000"}', b'\xef\xbb\xbf{}', '{}'.encode('utf-16'), b'{}\0', b'NaN',
          b'{"pairs": Infinity}', b'{"pairs": 01}', b'{"pairs": 1.}', b'{"pairs": +1}',
          b'{"pairs": ' + b'9' * 100000 + b'}', b'{' + b','.join(b'"k%d": 1' % i for i in range(99999)) + b'}']
command = [os.environ['ABBA'], 'run', '--plan', 't/p', '--baseline', 'a=./program', '--candidate',
           './v.json', '--thresholds', './mine.json']
for path in 'runners/t/runner.json', 'profiles/t/p.json', 'mine.json', 'v.json':
    good = open(path, 'rb').read()
    for text in broken:
        open(path, 'wb').write(text)
        r = subprocess.run(command, capture_output=True, timeout=60)
        words = r.stderr.decode()
        if r.returncode != 2 or words.count('abba: ') != 1 or os.path.basename(path) not in words or len(words) > 2000:
            sys.exit('%s %r: %d %s' % (path, text[:60], r.returncode, words))
    open(path, 'wb').write(good)
sys.exit(subprocess.run(command, stdout=subprocess.DEVNULL).returncode)
END
    python3 broken.py
}

@test "the largest and smallest that options take give an archive that can be read" {
    for words in "--timeout 1ms" "--timeout 24h" "-w 1000" "--seed 18446744073709551615" \
        "--threshold wall_time=0%" "--pause 1ns"; do
        rm -rf kept
        # shellcheck disable=SC2086
        compare -q -n 1 $words --archive kept true true
        abba verify kept
        expect_status 0
    done
    for words in "-n 10000" "--pause 1h"; do
        # shellcheck disable=SC2086
        compare --plan $words true true
        expect_status 0
    done
}
