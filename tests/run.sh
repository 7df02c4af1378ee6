#!/bin/bash
# Runs the tests that the Makefile has built, and ends with one line: "N passed, N failed", and
# ", N skipped" where some were. Exit status: 0 all passed; 1 one failed, or none ran.
#
# usage: tests/run.sh [FILTER]
#   FILTER: unit, cli, unit/json (tests/unit/test_json.c), cli/compare (tests/cli/compare.bats)
#
# All tests speak TAP: cmocka programs ($TEST_PROGRAMS/test_NAME), bats files (tests/cli/*.bats),
# and executables tests/*/run. Each runs in the source tree's top folder, with no standard input and
#   ABBA        the program under test
#   ABBA_BUILD  the build folder (cost/NAME, runners/NAME/NAME)
#   ABBA_SOURCE the source tree
#   ABBA_KIND   release, asan or coverage
# Cases of the tag "figures" measure for long what other programs do, by code of abba's that other cases
# run as well: the sanitizers' run (asan) leaves them out.
# TESTS_BUILT=0 says that not all of them could be built: one failure more.
# VERBOSE=1 prints each test, TEST_TIMEOUT (seconds) bounds one program, TEST_JOBS of them run at a time.
set -u
cd "$(dirname "$0")/.." || exit 2
: "${ABBA_BUILD:=$PWD/build}" "${ABBA_KIND:=release}" "${ABBA:=$PWD/build/abba}"
: "${TEST_PROGRAMS:=$ABBA_BUILD/$ABBA_KIND/tests}" "${TEST_TIMEOUT:=900}" "${VERBOSE:=0}"
export ABBA ABBA_BUILD ABBA_KIND ABBA_SOURCE=$PWD
export BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-180}
export LC_ALL=C.UTF-8
tests_built=${TESTS_BUILT:-1}
unset TESTS_BUILT ABBA_PATH NO_COLOR CMOCKA_XML_FILE MAKEFLAGS MAKELEVEL
filter=${1-}
filter=${filter%.bats}
left_out=()
[ "$ABBA_KIND" != asan ] || left_out=(--filter-tags '!figures')
logs=$ABBA_BUILD/$ABBA_KIND/test-logs
mkdir -p "$logs" || exit 2

passed=0 failed=0 skipped=0
if [ "$tests_built" != 1 ]; then
    echo "FAILED: the build, see above"
    failed=1
fi

wanted() { # NAME such as unit/json
    case $1 in
    "$filter" | "${filter:-$1}"/*) return 0 ;;
    *) [ -z "$filter" ] ;;
    esac
}

# Reads TAP, prints what is worth a reader's time, and last "=passed failed skipped". A plan's
# missing tests count as failed; so does a bad end that no test explains.
count_tap() { # NAME STATUS VERBOSE
    awk -v name="$1" -v status="$2" -v verbose="$3" '
    function close_group(i) {
        for (i = 1; i <= planned; i++)
            if (!(i in seen)) { bad++; print "  not run: " name ", test " i }
        planned = 0; ran = 0; split("", seen)
    }
    # The plan stands before its tests, or after them.
    /^1\.\.[0-9]+/ { if (planned || !ran) close_group(); planned = substr($1, 4) + 0; next }
    /^(not )?ok [0-9]+/ {
        n = $1 == "not" ? $3 : $2
        if (n in seen) next
        seen[n] = 1; ran = 1
        title = $0; sub(/^(not )?ok [0-9]+ *-? */, "", title)
        explain = 0
        if ($0 ~ /# *[Ss][Kk][Ii][Pp]/) { skip++; sub(/^# SKIP /, "", title); print "  skipped: " name ": " title; next }
        if ($1 == "ok") { good++; if (verbose) print "  ok: " name ": " title; next }
        bad++; explain = 1; print "  FAILED: " name ": " title; next
    }
    /^# (not )?ok - / { explain = 0; next }
    explain || verbose { print "      " $0 }
    END {
        close_group()
        if (status != 0 && bad == 0) { bad++; print "  FAILED: " name ": ended with status " status }
        if (good + bad + skip == 0) { bad++; print "  FAILED: " name ": no test ran" }
        printf "=%d %d %d\n", good, bad, skip
    }'
}

run_one() { # NAME COMMAND...
    local name=$1 log status begun out p f s
    shift
    log=$logs/${name//\//-}.tap
    begun=$SECONDS
    CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 10 "$TEST_TIMEOUT" "$@" </dev/null >"$log" 2>"$log.err"
    status=$?
    out=$(count_tap "$name" "$status" "$VERBOSE" <"$log")
    read -r p f s <<<"${out##*=}"
    echo "$p $f $s" >"$log.count"
    printf '%-28s %4d passed' "$name" "$p"
    [ "$f" = 0 ] || printf ', %d FAILED' "$f"
    [ "$s" = 0 ] || printf ', %d skipped' "$s"
    printf '  (%d s)\n' $((SECONDS - begun))
    out=${out%=*}
    [ -z "$out" ] || printf '%s\n' "${out%$'\n'}"
    if [ "$f" != 0 ]; then
        [ "$status" -lt 124 ] || echo "  status $status (124: longer than $TEST_TIMEOUT s; 128+N: signal N)"
        [ ! -s "$log.err" ] || tail -n 40 "$log.err" | cut -c 1-400 | sed 's/^/      | /'
        echo "  whole output: $log"
    fi
}

# Starts one as soon as there is room for it; what it prints comes out whole, when it has ended.
names=()
start_one() { # NAME COMMAND...
    local log=$logs/${1//\//-}.tap
    rm -f "$log.count"
    names+=("$1")
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    (
        text=$(run_one "$@")
        printf '%s\n' "$text"
    ) &
}

# What measures the machine, or looks at all of it, runs when nothing else does.
alone() { # NAME
    case $1 in
    unit/run | unit/leftovers | unit/shaper | unit/network | cli/figures | cli/network* | cli/srt) return 0 ;;
    *) return 1 ;;
    esac
}

each_test() { # COMMAND: with NAME and the program to run
    local name source file program
    for source in tests/unit/test_*.c; do
        name=${source#tests/unit/test_}
        name=unit/${name%.c}
        if [ ! -e "$source" ] || ! wanted "$name"; then continue; fi
        "$@" "$name" "$TEST_PROGRAMS/test_${name#unit/}"
    done
    for file in tests/cli/*.bats; do
        name=${file#tests/}
        name=${name%.bats}
        if [ ! -e "$file" ] || ! wanted "$name"; then continue; fi
        "$@" "$name" bats --tap ${left_out[@]+"${left_out[@]}"} "$file"
    done
    for program in tests/*/run; do
        name=${program#tests/}
        name=${name%/run}
        if [ ! -x "$program" ] || ! wanted "$name"; then continue; fi
        "$@" "$name" "$program"
    done
}

unless_alone() { alone "$1" || start_one "$@"; }
if_alone() { ! alone "$1" || start_one "$@"; }

jobs=${TEST_JOBS:-$(nproc 2>/dev/null || echo 1)}
[ "$jobs" -le 4 ] || jobs=4
each_test unless_alone
wait
jobs=1
each_test if_alone
wait

for name in ${names[@]+"${names[@]}"}; do
    p=0 f=1 s=0 # of one that left no count
    [ ! -e "$logs/${name//\//-}.tap.count" ] || read -r p f s <"$logs/${name//\//-}.tap.count"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done

[ $((passed + failed)) != 0 ] || echo "no test matches '$filter'"
line="$passed passed, $failed failed"
[ "$skipped" = 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
