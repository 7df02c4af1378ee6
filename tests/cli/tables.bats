#!/usr/bin/env bats
# Several candidates side by side, CPU sets, regimes: what stands in a report over variants and
# profiles. `stack` plays a program whose figures are known; what it prints is exact.

load common

# shellcheck disable=SC2154 # bats sets status
setup() {
    setup_folder
    mkdir -p runners/stack runners/other profiles/stack
    cat >stack <<'END'
#!/bin/sh
# SIZE SMALL LARGE: messages a second of small and of large messages, for each CPU it may use
[ "$1" -gt 100 ] && rate=$3 || rate=$2
[ "$MODE" = lossy ] && echo 'WARNING: not all messages delivered'
[ "$MODE" = dies ] && { echo 'peer | said @all <b>' >&2; exit 7; }
echo "rate: $((rate * $(nproc)))"
[ "$MODE" = noheap ] || echo "heap: $(($1 + 40))"
END
    chmod +x stack
    cat >runners/stack/runner.json <<'END'
{"runner": "stack", "roles": {"peer": {"command": ["{program}", "{size}"]}},
 "load": {"size": {"type": "integer", "min": 1, "default": 1}},
 "metrics": [
  {"metric": "messages_per_second", "pattern": "^rate: (?<value>\\d+)$", "unit": "1/s"},
  {"metric": "heap_bytes_per_message", "pattern": "^heap: (?<value>\\d+)$", "unit": "B",
   "required": false}],
 "invalid": [{"pattern": "not all messages delivered", "metrics": ["messages_per_second"]}],
 "table": ["messages_per_second", "heap_bytes_per_message", "peak_rss"]}
END
    sed 's/"runner": "stack"/"runner": "other"/' runners/stack/runner.json >runners/other/runner.json
    echo '{"thresholds": "stack", "rule": "bounded", "limits": {"messages_per_second": {"worse": "10%"}}}' >stack.json
    profile small '"regime": "latency-bound", "load": {"size": 1}'
    profile large '"regime": "memory-bound", "load": {"size": 4096}'
    variant usrsctp '"args": ["1000", "1000"]'
    variant pion '"args": ["2000", "700"], "runner": "other"'
}

profile() { # NAME KEYS
    printf '{"profile": "stack/%s", "runner": "stack", "pairs": 6, "confirm": 0, %s}\n' "$1" "$2" \
        >"profiles/stack/$1.json"
}

variant() { # NAME KEYS
    printf '{"variant": "%s", "program": "./stack", %s}\n' "$1" "$2" >"$1.json"
}

# A series with usrsctp and pion, and whatever else is asked for.
stacks() {
    abba run --no-lock --thresholds ./stack.json -b ./usrsctp.json -c ./pion.json "$@"
}

@test "several candidates give one table, each cell with its figure or its reason" {
    variant libwebrtc '"args": ["500", "500"], "env": {"MODE": "lossy"}'
    variant dying '"args": ["500", "500"], "env": {"MODE": "dies"}'
    variant noheap '"args": ["500", "500"], "env": {"MODE": "noheap"}'
    COLUMNS=140 stacks stack/small -c ./libwebrtc.json -c ./dying.json -c ./noheap.json --cpus 0 \
        --archive a
    expect_status 1
    [[ "$output" =~ usrsctp\ +1\.00K/s\ +41B\  ]] || fail "baseline's row"
    [[ "$output" =~ pion\ +2\.00K/s\ +2\.00\ \[2\.00,\ 2\.00\]\ +41B\ +1\.000\ \[1\.000,\ 1\.000\]\ .*passed ]] ||
        fail "pion's row"
    [[ "$output" =~ libwebrtc\ +invalid\ \(1\)\ +-\ +41B\  ]] || fail "libwebrtc's row"
    [[ "$output" =~ dying\ +failed\ \(2\)\ +-\ +failed\ \(2\)\ +-\ +failed\ \(2\) ]] || fail "dying's row"
    [[ "$output" =~ noheap\ +500/s\ +0\.500\ \[0\.500,\ 0\.500\]\ +missing\ \(3\) ]] || fail "noheap's row"
    expect_out "(1)        messages_per_second of libwebrtc: invalid in 6 of 6 runs: the runner says 'not all messages delivered'"
    expect_out "(2)        dying: failed in 6 of 6 runs: peer exited with status 7"
    expect_out "(3)        heap_bytes_per_message of noheap: missing in 6 of 6 runs"
    expect_out "regressed  noheap: messages_per_second -50.0%"
    expect_no "± spread"
    expect_no $'\e'
    abba verify a
    expect_status 0
    abba report a --format json
    [ "$(report '[c["status"] for c in r["profiles"][0]["table"]["rows"][3]["cells"]]')" = \
        "['failed', 'failed', 'failed']" ]
    # what stood in each candidate's own table is still there
    COLUMNS=140 abba report a -v
    expect_out "± spread"
    expect_out "Hodges-Lehmann"
    expect_out "dying: fail, 0 of 6 runs ended well"
}

@test "a table keeps to 80 and to 140 columns, in values and ratios" {
    local columns
    stacks stack/small stack/large -c also=./pion.json -q --archive a
    for columns in 80 140; do
        COLUMNS=$columns abba report a
        expect_out "messages"
        expect_out "2.00 [2.00, 2.00]"
        awk -v most="$columns" 'length($0) > most { bad = 1; print } END { exit bad }' \
            <<<"$output" >&2 || fail "a line is wider than $columns columns"
    done
}

@test "hostile words of a program stay words, in text and in Markdown" {
    cat >evil <<'END'
#!/bin/sh
printf 'rate: 5\nheap: 41\nWARNING: \033[31m| @all <b>x</b> [y](http://z) not all messages delivered\n'
END
    chmod +x evil
    printf '{"variant": "evil", "program": "./evil"}' >evil.json
    sed -i 's/"pattern": "not all/"pattern": "WARNING.*not all/' runners/*/runner.json
    stacks stack/small -c ./evil.json -q --archive a
    COLUMNS=80 abba report a
    expect_out "evil"
    expect_out "invalid (1)"
    expect_no $'\e'
    abba report a --format markdown
    expect_out "| invalid (1) |"
    expect_no $'\e'
    expect_no "@all"
    expect_no "<b>"
    expect_no "](http"
    # as many cells in every row as in the head, outside of code spans
    printf '%s' "$output" | python3 -c '
import re, sys
width = 0
for line in sys.stdin:
    if not line.startswith("|"):
        width = 0
        continue
    bars = len(re.findall(r"(?<!\\)\|", line))
    width = width or bars
    assert bars == width, line
' || fail "a row has other cells than its head"
}

@test "a stack of another runner that reports other figures is refused, and what is missing named" {
    sed -i 's/"metric": "messages_per_second"/"metric": "throughput"/; s|"unit": "1/s"|"unit": "Mbit/s"|' \
        runners/other/runner.json
    sed -i 's/"metrics": \["messages_per_second"\]/"metrics": ["throughput"]/; s/"table".*/"checks": []}/' \
        runners/other/runner.json
    stacks stack/small
    expect_status 2
    expect_err "pion"
    expect_err "runner 'other'"
    expect_err "messages_per_second"
}

@test "a stack of another runner that takes another load is refused, and the load named" {
    sed -i 's/"size"/"length"/; s/{size}/{length}/' runners/other/runner.json
    stacks stack/small
    expect_status 2
    expect_err "pion"
    expect_err "runner 'other'"
    expect_err "it takes no load 'size'"
}

@test "a variant of another runner is found by its name where no other runner has one of that name" {
    mkdir -p runners/other/variants runners/stack/variants
    echo '{"variant": "far", "runner": "other", "program": "'"$PWD"'/stack", "args": ["2000", "700"]}' \
        >runners/other/variants/far.json
    abba run --no-lock stack/small -b ./usrsctp.json -c far --plan
    expect_status 0
    [[ "$output" =~ far\ +.*/stack\ 2000\ 700 ]] || fail "variant 'far' is not in the plan"
    # of two runners: neither is guessed; a program in PATH goes before
    mkdir -p runners/third/variants
    sed 's/"runner": "other"/"runner": "third"/' runners/other/runner.json >runners/third/runner.json
    sed 's/"runner": "other"/"runner": "third"/' runners/other/variants/far.json >runners/third/variants/far.json
    abba run --no-lock stack/small -b ./usrsctp.json -c far --plan
    expect_status 2
    expect_err "program 'far' is not in PATH"
    rm -r runners/third
    mkdir bin && cp stack bin/far
    PATH=$PWD/bin:$PATH abba run --no-lock stack/small -b ./usrsctp.json -c far --plan
    expect_status 0
    [[ "$output" != *"stack 2000 700"* ]] || fail "the program in PATH is the variant"
}

@test "profiles of a matrix over CPUs stand side by side with speed-ups that have no bounds" {
    [ "$(nproc)" -ge 2 ] || skip "one CPU"
    taskset -c 0,1 true || skip "CPUs 0 and 1 may not be used"
    profile cores '"matrix": {"cpus": ["0", "0-1", "all"]}'
    COLUMNS=100 stacks stack/cores --archive a
    expect_status 0
    expect_out "CPUs  messages_per_second of stack/cores"
    [[ "$output" =~ "1 CPU (0)  2 CPUs (0-1)"\ +"all CPUs" ]] || fail "head"
    [[ "$output" =~ usrsctp\ +1\.00K/s\ +2\.00K/s\ x2\.00\ +[0-9.]+K/s\ x[0-9.]+ ]] || fail "usrsctp's row"
    [[ "$output" =~ pion\ +2\.00K/s\ +4\.00K/s\ x2\.00\  ]] || fail "pion's row"
    expect_out "so it has no bounds"
    abba verify a
    expect_status 0
    abba report a --format markdown
    expect_out "| 1 CPU \\(0\\) | 2 CPUs \\(0\\-1\\) | all CPUs |"
    expect_out "<br>×2.00 |"
    abba run --no-lock stack/cores -b ./usrsctp.json -c ./pion.json --cpus 0
    expect_status 2
    expect_err "has CPUs of its own, by its matrix"
}

@test "a change that wins in one regime and loses in another is flagged" {
    COLUMNS=100 stacks stack/small stack/large --archive a
    expect_status 1
    expect_out "regimes  what was shown where"
    [[ "$output" =~ latency-bound\ +memory-bound ]] || fail "head"
    [[ "$output" =~ messages_per_second\ +\+\ +- ]] || fail "signs"
    expect_out "flips      messages_per_second: wins in latency-bound, loses in memory-bound"
    expect_no $'\e'
    abba verify a
    expect_status 0
    abba report a --format json
    [ "$(report 'r["regimes"]["flips"][0]["loses"]')" = "['memory-bound']" ]
    abba report a --color always
    expect_out $'\e[32m+\e[0m'
    abba report a --format markdown
    expect_out "messages\\_per\\_second:"
    expect_out "| \`messages_per_second\` | + | - |"
}

@test "bytes a message come from the memory pass, into the same table" {
    local known=$ABBA_BUILD/cost/preload/known
    COLUMNS=100 compare -n 5 --memory-pass --archive a "$known none 1 10 48" "$known none 1 20 48" \
        "$known none 1 40 48"
    expect_status 0
    [[ "$output" =~ candidate-2\ +[0-9.]+[mu]?s\ +23\.7kB\  ]] || fail "bytes in the row"
    [[ "$output" =~ candidate-2\ +[^\ ]+\ \[[^]]*\]\ +4\.00\ \[4\.00,\ 4\.00\] ]] || fail "their ratio"
    expect_out "memory     heap_bytes: from the runs of 'compare,pass=memory'"
    expect_no "regimes"
    abba verify a
    expect_status 0
}

@test "data-channel stacks of several runners, where they are built, stand in one table" {
    local stack
    for stack in usrsctp pion; do
        [ -x "$ABBA_BUILD/runners/$stack/$stack" ] || skip "runner '$stack' is not built (make runners-rtc)"
    done
    COLUMNS=100 abba run --no-lock rtc/quick-message -b usrsctp -c pion -c usrsctp-no-crc32c -n 2 \
        --confirm 0 --memory-pass --archive a
    expect_status 4 # two pairs give no bounds
    [[ "$output" =~ pion\ +[0-9.]+K?/s\ +[0-9.]+k?B\  ]] || fail "pion's row"
    [[ "$output" =~ usrsctp-no-crc32c\ +[0-9.]+K?/s\ +[0-9.]+k?B\  ]] || fail "the other variant's row"
    expect_out "window_cpu"
    expect_out "memory     heap_bytes_per_message: from the runs of 'rtc/quick-message,pass=memory'"
    abba verify a
    expect_status 0
}

@test "a lab names what flips in any of its comparisons" {
    cat >lab.json <<'END'
{"series": "stack/lab", "thresholds": "./stack.json", "comparisons": [
 {"comparison": "flipping", "baseline": "./usrsctp.json", "candidates": ["./pion.json"],
  "profiles": ["stack/small", "stack/large"]},
 {"comparison": "steady", "baseline": "./usrsctp.json", "candidates": ["same=./usrsctp.json"],
  "profiles": ["stack/small", "stack/large"]}]}
END
    variant same '"args": ["1001", "1001"]'
    sed -i 's|"same=./usrsctp.json"|"./same.json"|' lab.json
    COLUMNS=100 abba run --no-lock --series ./lab.json --archive lab
    expect_status 1
    expect_out "what wins in one regime and loses in another"
    expect_out "flips      flipping: messages_per_second: wins in latency-bound, loses in"
    expect_no "steady: messages"
    abba verify lab
    expect_status 0
    abba report lab --format markdown
    expect_out "flipping:"
    expect_out "messages\\_per\\_second:"
}

@test "an archive of before there were tables is verified as it was" {
    stacks stack/small stack/large -c also=./pion.json -q --archive a
    abba report a --format json
    [ "$(report '"table" in r["profiles"][0]')" = True ]
    # as an older abba left it: no word of keys, a report without them
    chmod -R u+w a
    python3 - <<'END'
import json
series = json.load(open("a/series.json"))
del series["report"]
open("a/series.json", "w").write(json.dumps(series, indent=2) + "\n")
END
    rm a/SHA256SUMS a/report.json
    abba resume a -q --no-lock
    expect_status 1
    abba verify a
    expect_status 0
    abba report a --format json
    [ "$(report '"table" in r["profiles"][0] or "regimes" in r')" = False ]
    [ "$(grep -c '"table"' a/report.json)" = 0 ]
    COLUMNS=100 abba report a # each candidate's own table, as it was
    expect_out "± spread"
}
