#!/usr/bin/env bats
# Series that end before their time, or whose ground moves: no process is left, the archive is
# readable and says what it is.

setup() {
    load common
    setup_folder
    cost=$ABBA_BUILD/cost
    mark=ABBA_TEST_MARK=$$-$BATS_TEST_NUMBER-$RANDOM
}

# Whether no process has the mark in its environment, whatever it calls itself.
no_marked() {
    ! grep -lsa "$mark" /proc/[0-9]*/environ >/dev/null
}

# Starts a series of programs that are hard to end. In $pid.
start_series() { # ARCHIVE [WRAPPER...]
    local folder=$1
    shift
    case $((RANDOM % 4)) in
    0) set -- "$@" -- "$cost/escape 3" "$cost/escape fast" ;;
    1) set -- "$@" -- "$cost/stubborn" "$cost/spin 3" ;;
    2) set -- "$@" -- "$cost/tree wide 4 5" "$cost/touch 4000 3" ;;
    3) set -- "$@" -- "$cost/flood 300000 lines" "$cost/flood 3000000 binary" ;;
    esac
    local wrapper=()
    while [ "$1" != -- ]; do
        wrapper+=("$1")
        shift
    done
    shift
    "${wrapper[@]}" env --default-signal=INT "$ABBA" compare --no-lock -q -n 5000 \
        --timeout 40ms --env "$mark" --archive "$folder" "$@" >/dev/null 2>stderr.txt </dev/null &
    pid=$!
}

# Kills that many series, half of them from the first instant on, half after their first sample.
kill_series() { # COUNT SIGNAL STATUS VERIFIES [WRAPPER...]
    local count=$1 signal=$2 ends=$3 verifies=$4 turn
    shift 4
    for turn in $(seq "$count"); do
        folder=a-$signal-$turn
        start_series "$folder" "$@"
        [ $((turn % 2)) = 1 ] || wait_for test -s "$folder/samples.jsonl"
        sleep "0.0$((RANDOM % 70 + 10))"
        # shellcheck disable=SC2034 # fail() of common.bash shows it
        status=0 output='' err=''
        kill "-$signal" "$pid" || fail "ended before: $(<stderr.txt)"
        wait "$pid" || status=$?
        expect_status "$ends"
        wait_for no_marked || fail "left: $(grep -lsa "$mark" /proc/[0-9]*/environ)"
        [ -d "$folder" ] || continue # not yet made
        abba report "$folder"
        expect_status 3
        abba verify "$folder"
        expect_status "$verifies"
        rm -rf "$folder"
    done
}

@test "SIGKILL of abba at 40 random points leaves no process and an archive that says unfinished" {
    kill_series 40 KILL 137 3
}

@test "SIGKILL of a normal user's abba at 10 random points leaves no process" {
    # A normal user has no pid namespace.
    as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    [ "$(id -u)" = 0 ] || skip "the tests before were a normal user's"
    "${as_user[@]}" test -x "$ABBA" -a -x "$cost/spin" || skip "no other user may see the build"
    home=$(mktemp -d /tmp/abba-user-XXXXXX)
    chown 65534 "$home"
    cd "$home"
    TMPDIR=$home kill_series 10 KILL 137 3 "${as_user[@]}"
    cd /
    rm -r "$home"
}

@test "SIGTERM and SIGINT at random points close the archive and leave no process" {
    kill_series 6 TERM 143 0
    kill_series 6 INT 130 0
}

@test "a signal that is ignored from the start, as by nohup, stays ignored" {
    (trap '' HUP && exec "$ABBA" compare --no-lock -q -n 400 --archive kept true true) \
        >/dev/null 2>&1 </dev/null &
    pid=$!
    wait_for test -s kept/samples.jsonl
    kill -HUP "$pid"
    status=0
    wait "$pid" || status=$?
    expect_status 0
    [ "$(wc -l <kept/samples.jsonl)" = 800 ]
}

# ---- files that change meanwhile -----------------------------------------------------------------

# A program that does the shell text in the fifth run.
in_fifth_run() {
    cat >actor <<END
#!/bin/sh
echo >>count
[ "\$(wc -l <count)" != 5 ] || { $1; }
END
    chmod +x actor
    printf '#!/bin/sh\nexec true\n' >victim
    chmod +x victim
    echo text >input
}

expect_invalid() { # WHY
    expect_status 3
    expect_out "invalid"
    expect_out "$1"
    abba report kept --format json
    [ "$(report 'r["verdict"]')" = invalid ]
    abba verify kept
    expect_status 0
    rm -rf kept count
}

@test "a program that is replaced, altered or removed during a series makes it invalid" {
    in_fifth_run 'printf "#!/bin/sh\nexit 0\n" >v2; chmod +x v2; mv v2 victim'
    compare -q -n 6 --archive kept ./actor ./victim
    expect_invalid "changed during the"
    in_fifth_run 'echo "# more" >>victim'
    compare -q -n 6 --archive kept --threshold wall_time=1000% ./actor ./victim
    expect_invalid "changed during the"
    in_fifth_run 'rm victim'
    compare -q -n 6 --archive kept ./actor ./victim
    expect_invalid "is gone"
}

@test "a program that is written again with the same content is the same" {
    in_fifth_run 'cp -p victim v2; mv v2 victim'
    compare -q -n 6 --archive kept ./actor ./victim
    expect_status 0
}

@test "an input that changes during a series makes it invalid" {
    in_fifth_run 'echo more >>input'
    compare -q -n 6 --archive kept --input input ./actor "cat"
    expect_invalid "changed during the"
}

@test "an input that goes away ends the series and keeps what was measured" {
    in_fifth_run 'rm input'
    compare -q -n 6 --archive kept --input input ./actor cat
    expect_status 3
    expect_err "input"
    abba verify kept
    expect_status 3
    expect_err "unfinished"
}

@test "an input that is no file, or not there, is told before anything runs" {
    mkfifo pipe
    for input in pipe tmp absent /dev/zero; do
        compare -n 6 --input "$input" cat cat
        expect_status 2
        expect_err "$input"
    done
    compare -q -n 2 --input /dev/null cat cat
    expect_status 0
}

# ---- size ----------------------------------------------------------------------------------------

@test "a megabyte of arguments on one side reaches its program, and the other side runs too" {
    make_runner '{"metric": "count", "pattern": "^(?<value>[0-9]+)$", "unit": "count", "better": "lower"}' \
        'echo $#'
    python3 -c 'import json; json.dump({"variant": "many", "program": "./program",
        "args": ["%099d" % i for i in range(10000)]}, open("many.json", "w"))'
    abba run --no-lock t/p --baseline one=./program --candidate ./many.json --archive a --format json
    expect_out '"candidate_median": 10000'
    abba verify a
    expect_status 0
}

@test "arguments that the kernel does not take are told as such" {
    python3 -c 'import json; json.dump({"variant": "long", "program": "/bin/true",
        "args": ["x" * 200000]}, open("long.json", "w"))'
    make_runner ''
    abba run --no-lock t/p --baseline one=./program --candidate ./long.json --archive a
    expect_status 3
    expect_out "too"
    expect_out "long failed in 6 runs"
    expect_no "one failed"
}

@test "more candidates than can be compared is a usage error" {
    candidates=()
    for i in $(seq 200); do candidates+=("true $i"); done
    compare -n 2 true "${candidates[@]}"
    expect_status 2
    expect_err "at most"
    compare -q -n 1 --archive kept true "${candidates[@]:0:25}"
    [ "$(wc -l <kept/samples.jsonl)" = 26 ]
}
