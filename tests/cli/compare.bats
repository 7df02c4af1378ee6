#!/usr/bin/env bats
# Comparing commands, the poop way and spelled out.

setup() {
    load common
    setup_folder
    cost=$ABBA_BUILD/cost
}

@test "two commands give a table with both, and leave nothing behind" {
    abba -n 6 --no-lock "$cost/touch 4096 1" "$cost/touch 40960 1"
    expect_status 0
    expect_out "baseline   $cost/touch 4096 1"
    expect_out "6 pairs (3 AB, 3 BA)"
    expect_out "wall_time"
    expect_out "peak_rss"
    expect_no "nan"
    nothing_left
}

@test "the bare form and compare do the same" {
    abba -n 6 --no-lock --format json "$cost/spin 1" "$cost/spin 1"
    expect_status 0
    bare=$(report 'r["plan_sha256"]')
    compare -n 6 --format json "$cost/spin 1" "$cost/spin 1"
    expect_status 0
    [ "$(report 'r["plan_sha256"]')" = "$bare" ]
}

@test "every candidate is compared with the baseline" {
    compare -n 6 --format json "$cost/spin 1" "$cost/spin 2" "$cost/spin 3"
    expect_status 0
    [ "$(report 'len({m["candidate"] for m in r["profiles"][0]["metrics"]})')" = 2 ]
}

@test "the duration decides the number of pairs: even, 6 to 5000" {
    compare -d 120 --format json "$cost/spin 2" "$cost/spin 2"
    expect_status 0
    pairs=$(report 'r["profiles"][0]["pairs"]')
    [ $((pairs % 2)) = 0 ] && [ "$pairs" -ge 6 ] && [ "$pairs" -le 5000 ]
    compare -d 1 --format json "$cost/spin 2" "$cost/spin 2"
    [ "$(report 'r["profiles"][0]["pairs"]')" = 6 ]
}

@test "more CPU time than the threshold allows is a regression" {
    compare -n 6 --threshold cpu_time=50% "$cost/spin 5" "$cost/spin 20"
    expect_status 1
    expect_out "regressed"
    expect_out "cpu_time: median change"
}

@test "less CPU time passes" {
    compare -n 6 --threshold cpu_time=50% "$cost/spin 20" "$cost/spin 5"
    expect_status 0
    expect_out "passed"
}

@test "without a threshold nothing is judged" {
    compare -n 6 "$cost/spin 1" "$cost/spin 10"
    expect_status 0
    expect_no "regressed"
}

@test "a metric that nothing yields cannot be judged" {
    compare -n 6 --threshold throughput=5% true true
    [ "$status" = 2 ] || [ "$status" = 3 ] || fail "status"
    [[ "$output$err" == *throughput* ]]
}

@test "a command that fails stops nothing, and its last words are shown" {
    compare -n 6 --archive kept "$cost/die exit 0" "$cost/die exit 3"
    expect_status 3
    [[ "$output" == "candidate failed in 6 runs"* ]] || fail "first line"
    expect_out "why"
    [ "$(wc -l <kept/samples.jsonl)" = 12 ]
    abba verify kept
    expect_status 0
}

@test "failures may be allowed" {
    compare -n 6 -f "$cost/die exit 3" "$cost/die exit 4"
    expect_status 0
    expect_out "6 pairs"
    expect_out "'baseline' exited with a status other than 0 in 6 of its runs, as was allowed"
    compare -n 6 -f true "$cost/spin 1"
    expect_status 0
    expect_no "as was allowed"
}

@test "json on standard output is nothing but json" {
    compare -n 6 --format json true true
    expect_status 0
    [ "$(report 'r["abba"]')" = 1 ]
}

@test "quiet means nothing on standard error" {
    compare -n 6 -q true true
    expect_status 0
    [ -z "$err" ]
}

@test "-o writes the report to a file and nothing else to standard output" {
    compare -n 6 -o out.md --format markdown true true
    expect_status 0
    [ -z "$output" ]
    [[ "$(head -1 out.md)" == "### "* ]]
}

@test "colours: never in a pipe, always when asked" {
    compare -n 6 true true
    [[ "$output" != *$'\033'* ]]
    for when in always ansi; do
        compare -n 6 --color "$when" true true
        [[ "$output" == *$'\033[1m'* ]]
    done
    NO_COLOR=1 compare -n 6 --color never true true
    [[ "$output" != *$'\033'* ]]
}

@test "a narrow and a wide report keep to their width" {
    for width in 80 140; do
        COLUMNS=$width compare -n 6 -v --threshold wall_time=50% true 'true --a-longer-command'
        while IFS= read -r line; do
            [ "${#line}" -le "$width" ] || fail "wider than $width: $line"
        done <<<"$output"
    done
}

@test "without UTF-8 the report is plain ASCII" {
    LC_ALL=C compare -n 6 "$cost/spin 1" "$cost/spin 10"
    [ -z "$(printf '%s' "$output" | LC_ALL=C tr -d '\n -~')" ]
}

# shellcheck disable=SC2016 # a dollar sign that nobody expands
@test "a command is split as words, and no shell runs" {
    compare -n 1 --archive kept "$cost/show 'a b' \\\$HOME" "$cost/show \"a b\" '*'"
    expect_status 0
    [ "$(cat kept/raw/*stdout | grep -cx 'arg=a b')" = 2 ]
    grep -qx 'arg=$HOME' kept/raw/*stdout
    grep -qx 'arg=\*' kept/raw/*stdout
}

@test "an unclosed quote is an error that says where" {
    compare -n 1 "echo 'a" true
    expect_status 2
    expect_err "echo 'a"
}

@test "shell syntax gets a hint that no shell runs" {
    compare -n 1 'echo a | nosuchprogram' 'nosuchprogram | cat'
    [[ "$err" == *shell* ]] || [ "$status" = 0 ] || fail "no word about the shell"
}

@test "--input is the standard input of every run" {
    echo "from the file" >in
    compare -n 6 --input in --archive kept cat 'cat -'
    expect_status 0
    [ "$(cat kept/raw/*stdout | sort -u)" = "from the file" ]
}

@test "--env reaches every run" {
    compare -n 1 --env ABBA_TEST=seen --archive kept "$cost/show" "$cost/show x"
    expect_status 0
    [ "$(grep -l 'ABBA_TEST=seen' kept/raw/*stdout | wc -l)" = 2 ]
}

@test "--cpus is where every run is" {
    compare -n 1 --cpus 0 --archive kept "$cost/spin 1" "$cost/spin 1"
    expect_status 0
    grep -q '"cpus":"0"' kept/samples.jsonl
}

@test "--aa compares a command with itself and shows the noise" {
    compare -n 6 --aa "$cost/spin 2"
    expect_status 0
    expect_out "baseline against itself"
}

@test "one command alone is an error that says what to do" {
    compare "$cost/spin 1"
    expect_status 2
    expect_err "nothing to compare it with"
    expect_err "--aa"
}

@test "--plan runs nothing and prints the hash that a run has" {
    compare -n 6 --plan --threshold cpu_time=5% --archive kept "$cost/spin 1" "$cost/spin 2"
    expect_status 0
    [ ! -e kept ]
    expect_out "cpu_time 5%"
    hash=$(sed -n 's/^plan *//p' <<<"$output")
    compare -n 6 --threshold cpu_time=5% --format json "$cost/spin 1" "$cost/spin 2"
    [ "$(report 'r["plan_sha256"]')" = "$hash" ]
}

@test "an archive is kept where it was asked for, and verifies" {
    compare -n 6 --archive some/where true true
    expect_status 0
    expect_out "archive    some/where"
    digest=$(sed -n 's/^  digest *//p' <<<"$output")
    abba verify some/where --digest "$digest"
    expect_status 0
    nothing_left
}

@test "the same on both sides is said" {
    compare -n 6 true true
    expect_status 0
    expect_out "same program"
}

@test "warm-up runs are archived and left out" {
    compare -n 6 -w 2 --format json --archive kept "$cost/spin 1" "$cost/spin 1"
    expect_status 0
    [ "$(wc -l <kept/samples.jsonl)" = 16 ]
    [ "$(report 'r["profiles"][0]["pairs"]')" = 6 ]
}

@test "a signal closes the archive and is raised again" {
    for name in INT:130 TERM:143; do
        folder=kept-${name%:*}
        env --default-signal=INT "$ABBA" compare --no-lock -n 5000 -q --archive "$folder" \
            "$cost/spin 5" "$cost/spin 5" >out.txt 2>&1 &
        pid=$!
        wait_for test -s "$folder/samples.jsonl"
        kill "-${name%:*}" "$pid"
        status=0
        wait "$pid" || status=$?
        [ "$status" = "${name#*:}" ] || fail "status for ${name%:*}"
        [ -e "$folder/SHA256SUMS" ]
        abba report "$folder"
        expect_status 3
    done
}

@test "a signal leaves no temporary archive behind" {
    "$ABBA" compare --no-lock -n 5000 -q "$cost/spin 5" "$cost/spin 5" >out.txt 2>&1 &
    pid=$!
    wait_for test -n "$(ls -A "$TMPDIR")" || true
    wait_for sh -c 'ls tmp/*/archive/samples.jsonl >/dev/null 2>&1'
    kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" = 143 ]
    nothing_left
}

@test "a reader that goes away does no harm" {
    set -o pipefail
    "$ABBA" compare --no-lock -n 6 true true 2>/dev/null | head -1
    nothing_left
}

@test "a full standard output is told" {
    status=0
    "$ABBA" compare --no-lock -q -n 6 true true >/dev/full 2>stderr.txt || status=$?
    [ "$status" = 3 ]
    grep -q 'cannot write to standard output' stderr.txt
}
