#!/usr/bin/env bats
# Archives out of logs of runs that abba did not make.

setup() {
    load common
    setup_folder
    split='^\[Scenario (?<profile>\w+) run \d+\]'
}

# A program that prints a log, as a stack that is run would.
feed() { # PROGRAM LOG
    printf '#!/bin/sh\ncat %s\n' "$PWD/$2" >"$1"
    chmod +x "$1"
}

# Runs two programs of which each prints a log.
run_fed() { # PROFILE LOG LOG [OPTIONS...]
    feed first "$2"
    feed second "$3"
    abba run --no-lock "$1" --baseline first=./first --candidate second=./second -n 2 --confirm 0 \
        --pause 0s --archive fed --thresholds none "${@:4}"
}

# Each figure of each run that was fed: VARIANT METRIC -> value or status.
fed() { # VARIANT METRIC
    python3 - "$@" <<'END'
import json, sys
runs = [json.loads(line) for line in open("fed/samples.jsonl")]
found = [r["metrics"][sys.argv[2]] for r in runs if r["variant"] == sys.argv[1]]
assert len(found) == 2
print(*{v["value"] if v["status"] == "ok" else v["status"] for v in found})
END
}

# The mean of a metric under a profile, as --format json has it.
mean() { # METRIC [PROFILE]
    report "[x['mean'] for p in r['profiles'] if '${2:-}' in p['profile'] for x in p['summaries'] if x['metric'] == '$1'][0]"
}

# A line of the harness: scenario, repeat, seconds, rate; then what follows the rate.
line() {
    printf '[Scenario %s run %s] 100000 messages in %ss = %s msgs/sec%s\n' "$@"
}

@test "numbers grouped by commas are read, each log a run, its first repeat left out" {
    {
        line L1 1 2.500 40,000 ' | CPU 6.000s = 2.40 effective cores = 60.00 us/message | retained JS heap 1 bytes (native invisible)'
        line L1 2 2.422 41,280 ' | CPU 6.141s = 2.54 effective cores = 61.41 us/message | retained JS heap 4,724,448 bytes (native invisible)'
    } >l1.log
    abba import --runner rtc-message l1.log --format json --archive kept
    expect_status 0
    [ "$(mean messages_per_second)" = 41280 ]
    [ "$(mean delivery_time)" = 2.422 ]
    [ "$(mean window_cpu_time)" = 6.141 ]
    [ "$(mean window_effective_cores)" = 2.54 ]
    [ "$(mean window_cpu_per_message)" = 61.41 ]
    [ "$(mean retained_heap)" = 4724448 ]
    abba verify kept
    expect_status 0
}

@test "numbers grouped by any of three blanks, with a decimal comma, are read" {
    for blank in ' ' $'\u00a0' $'\u202f'; do
        for repeat in 1 2; do
            printf '[Scenario C1 run %s] 100000 messages in 1,126s = 88_831 msgs/sec | 33_429_184 bytes allocated total = 334,3 bytes/message | Gen0/Gen1/Gen2 per 10k messages = 0,30/0,00/0,00 (raw deltas 3/0/0) | CPU 2,766s = 2,46 effective cores = 27,66 us/message | retained heap 660_928 bytes | working set 74_878_976 bytes\n' "$repeat" |
                sed "s/_/$blank/g"
        done >c1.log
        rm -rf kept
        abba import --runner rtc-message-comma c1.log --format json --archive kept
        expect_status 0
        [ "$(mean messages_per_second)" = 88831 ]
        [ "$(mean delivered_messages)" = 100000 ]
        [ "$(mean delivery_time)" = 1.126 ]
        [ "$(mean heap_bytes_per_message)" = 334.3 ]
        [ "$(mean window_cpu_time)" = 2.766 ]
        [ "$(mean window_effective_cores)" = 2.46 ]
        [ "$(mean window_cpu_per_message)" = 27.66 ]
        [ "$(mean retained_heap)" = 660928 ]
        [ "$(mean working_set)" = 74878976 ]
    done
    sed -i "s/74$blank/74 /" c1.log # two kinds of blanks in one number
    rm -rf kept
    abba import --runner rtc-message-comma c1.log --format json --archive kept
    expect_status 0
    [ "$(mean retained_heap)" = 660928 ]
    [ "$(mean working_set)" = None ]
}

@test "of four runs in two processes the mean is exactly theirs, each log a run or split" {
    { line C1 1 9.999 10,001; line C1 2 1.334 74,950; line C1 3 1.343 74,437; } >p1.log
    { line C1 1 9.999 10,001; line C1 2 1.475 67,782; line C1 3 1.628 61,442; } >p2.log
    abba import --runner rtc-message p1.log p2.log --format json --archive whole
    expect_status 0
    [ "$(mean messages_per_second)" = 69652.75 ]
    abba import --runner rtc-message --split "$split" p1.log p2.log --format json --archive kept
    expect_status 0
    [ "$(mean messages_per_second C1)" = 69652.75 ]
    [ "$(report "[x['runs'] for x in r['profiles'][0]['summaries']][0]")" = 4 ]
    [ "$(grep -c '"warmup"' kept/samples.jsonl)" = 2 ]
    abba verify kept
    expect_status 0
    abba report kept
    expect_status 0
    expect_out 69652.75
    expect_out "unpaired: the logs give no pairs"
    abba report kept --format markdown
    expect_out "| 4 of 4 | 69652.75 |"
}

@test "the same lines, fed as output of programs that run, give the same mean" {
    { line C1 1 9.999 10,001; line C1 2 1.334 74,950; line C1 3 1.343 74,437; line C1 4 1.475 67,782
      line C1 5 1.628 61,442; } >all.log
    { line C1 1 9.999 10,001; line C1 2 1.000 100,000; } >other.log
    run_fed rtc-message/c1 all.log other.log
    [ "$(fed first messages_per_second)" = 69652.75 ]
    [ "$(fed first delivered_messages)" = 100000 ]
    [ "$(fed second messages_per_second)" = 100000 ]
    abba verify fed
    expect_status 0
}

@test "numbers with a decimal comma, fed as output, after a warning: rate and CPU are invalid, memory is not" {
    net_line='[Scenario C1 run %s] 100000 messages in 1,126s = 88 831 msgs/sec | 33 429 184 bytes allocated total = 334,3 bytes/message | Gen0/Gen1/Gen2 per 10k messages = 0,30/0,00/0,00 (raw deltas 3/0/0) | CPU 2,766s = 2,46 effective cores = 27,66 us/message | retained heap 660 928 bytes | working set 74 878 976 bytes\n'
    # shellcheck disable=SC2059 # the line is a format
    { printf "$net_line" 1; printf "$net_line" 2; } >good.log
    # shellcheck disable=SC2059
    { printf "$net_line" 1; echo '  WARNING [C1]: not all messages delivered within 60s. received=100551/101000'
      printf "$net_line" 2; } >warned.log
    run_fed rtc-message-comma/c1 good.log warned.log --format json
    [ "$(fed first messages_per_second)" = 88831 ]
    [ "$(fed first window_effective_cores)" = 2.46 ]
    for metric in messages_per_second delivery_time window_cpu_time window_effective_cores \
        window_cpu_per_message; do
        [ "$(fed second $metric)" = invalid ] || fail "$metric"
    done
    [ "$(fed second heap_bytes_per_message)" = 334.3 ]
    [ "$(fed second retained_heap)" = 660928 ]
    [ "$(fed second working_set)" = 74878976 ]
    expect_out "not all messages delivered within 60s. received=100551/101000"
    abba verify fed
    expect_status 0
}

@test "a program under flow control gets its load from the environment, as its benchmark takes it" {
    cat >flow <<'END'
#!/bin/sh
[ "$FLOW_WARMUP_MB $FLOW_STOP_MB $FLOW_DEDICATED_REACTOR" = "16 48 1" ] || exit 1
echo "FINAL 689.123 Mbps aggregate over $FLOW_PAIRS pairs (ordered=$FLOW_ORDERED) in 4.210s"
END
    chmod +x flow
    abba run --no-lock rtc-flow/10x --baseline ./flow --aa -n 2 --confirm 0 --pause 0s --archive fed
    grep -qx 'FINAL 689.123 Mbps aggregate over 10 pairs (ordered=1) in 4.210s' fed/raw/000001-peers.stdout
    [[ "$(fed baseline throughput)" == 722.597* ]] # 689.123 * 1048576 / 1e6
}

@test "a warning before its line takes rate and CPU out and leaves memory, of its own run alone" {
    tail=' | CPU 6.141s = 2.54 effective cores = 61.41 us/message | retained heap 4,000 bytes'
    {
        line C1 1 1.000 100,000 "$tail"
        line C1 2 1.000 100,000 "$tail"
        line PD 1 1.000 100,000 "$tail"
        echo '  WARNING [PD]: not all messages delivered within 60s. received=100551/101000'
        line PD 2 61.889 1616 "$tail"
        line PD 3 1.000 100,000 "$tail"
    } >all.log
    abba import --runner rtc-message --split "$split" all.log --format json --archive kept
    expect_status 0
    [ "$(report "[p['profile'] for p in r['profiles']]")" = "['rtc-message/C1', 'rtc-message/PD']" ]
    python3 - <<'END'
import json
runs = [json.loads(line) for line in open("kept/samples.jsonl")]
pd = [r for r in runs if r["profile"].endswith("PD") and r["stage"] == "main"]
assert len(pd) == 2 and len(runs) == 5
warned = pd[0]["metrics"]
for name in ("messages_per_second", "window_cpu_time", "window_effective_cores", "window_cpu_per_message"):
    assert warned[name]["status"] == "invalid" and warned[name]["value"] is None, name
    assert "not all messages delivered" in warned[name]["reason"]
assert warned["retained_heap"]["value"] == 4000
assert warned["delivered_messages"]["value"] == 100000
assert pd[1]["metrics"]["messages_per_second"]["value"] == 100000
for r in runs:
    assert r["roles"]["peers"].keys() == {"end", "files"} and r["roles"]["peers"]["end"] == "imported"
    assert not {"wall_time", "cpu_time", "peak_rss", "user_time"} & r["metrics"].keys()
    assert all(v["status"] == "missing" for v in r["noise"].values())
END
    python3 - "$ABBA_SOURCE" <<'END'
import json, sys
try:
    import jsonschema
except ImportError:
    sys.exit(0)
for kind, file in (("series", "series.json"), ("sample", "samples.jsonl"), ("report", "report.json")):
    schema = json.load(open(f"{sys.argv[1]}/archive/schema/{kind}.schema.json"))
    for text in open("kept/" + file) if file.endswith("l") else [open("kept/" + file).read()]:
        jsonschema.Draft202012Validator(schema).validate(json.loads(text))
END
    [ "$(report "[(x['runs'], x['of']) for x in r['profiles'][1]['summaries'] if x['metric'] == 'messages_per_second'][0]")" = "(1, 2)" ]
    abba verify kept
    expect_status 0
}

@test "a rate that contradicts count and seconds makes the run invalid" {
    { line C1 1 1.000 100,000; line C1 2 1.000 98,000; line C1 3 1.000 98,000; } >bad.log
    abba import --runner rtc-message bad.log --archive kept --format json
    expect_status 3
    expect_out "check: delivered_messages / delivery_time is 100000, but messages_per_second is 98000"
    expect_out "within 1% is allowed"
}

@test "repeats that differ are checked one by one, and one bad repeat is found" {
    { line C1 1 1.000 100,000; line C1 2 1.000 100,000; line C1 3 2.000 50,000; } >far.log
    abba import --runner rtc-message far.log --archive kept --format json
    expect_status 0
    [ "$(mean messages_per_second)" = 75000 ]
    { line C1 1 1.000 100,000; line C1 2 1.000 103,000; line C1 3 1.000 97,000; } >bad.log
    abba import --runner rtc-message bad.log --archive other --format json
    expect_status 3
    expect_out "messages_per_second is 103000"
}

@test "Mbps of a flow are Mibit/s, and converted" {
    echo 'FINAL 689.123 Mbps aggregate over 10 pairs (ordered=false) in 4.210s' >flow.log
    abba import --runner rtc-flow flow.log --format json --archive kept
    expect_status 0
    python3 -c "assert abs($(mean throughput) - 689.123 * 1048576 / 1e6) < 1e-9"
    [ "$(mean delivery_time)" = 4.21 ]
}

make_pairs() { # CHANGE
    for i in 1 2 3 4 5 6 7 8; do
        a=$((100000 + i * 37))
        { line C1 1 1.000 100,000; line C1 2 1.000 $a; } >a$i.log
        { line C1 1 1.000 100,000; line C1 2 1.000 $((a * $1 / 100)); } >b$i.log
    done
    sides=()
    for i in 1 2 3 4 5 6 7 8; do
        sides+=(-b "a$i.log" -c "b$i.log")
    done
    # Count and time of a log agree with its rate.
    for f in a?.log b?.log; do
        rate=$(sed -n '2s/.*= \([0-9]*\) msgs.*/\1/p' "$f")
        { line C1 1 1.000 100,000; printf '[Scenario C1 run 2] %s messages in 1.000s = %s msgs/sec\n' "$rate" "$rate"; } >tmp.log
        mv tmp.log "$f"
    done
}

@test "pairs that are declared are judged, and the archive is verified like any other" {
    make_pairs 80
    abba import --runner rtc-message --paired "${sides[@]}" --threshold messages_per_second=5% --archive kept
    expect_status 1
    expect_out "8 pairs (as listed)"
    expect_out "imported: abba read what these runs printed"
    expect_no "CPUs, Linux"
    abba verify kept
    expect_status 0
    abba report kept
    expect_status 1
    make_pairs 100
    abba import --runner rtc-message --paired "${sides[@]}" --threshold messages_per_second=5% --archive same
    expect_status 0
    abba pack -q same -o same.tar.zst
    abba unpack -q same.tar.zst again
    expect_status 0
}

@test "two sides without pairs are summed up, not judged" {
    make_pairs 80
    abba import --runner rtc-message -b a1.log -b a2.log -c b1.log --format json --archive kept
    expect_status 0
    [ "$(report "r['verdict'], [(x['variant'], x['runs']) for x in r['profiles'][0]['summaries'] if x['metric'] == 'messages_per_second']")" = "not_judged [('baseline', 2), ('candidate', 1)]" ]
    abba verify kept
    expect_status 0
    abba import --runner rtc-message -b a1.log -c b1.log --threshold messages_per_second=5%
    expect_status 2
    expect_err "not judged"
    abba import --runner rtc-message --paired -b a1.log -b a2.log -c b1.log
    expect_status 2
    expect_err "'candidate' has 1 runs"
}

@test "a log of several roles names them" {
    cat "$ABBA_SOURCE"/archive/sample/flow-quick/raw/000001-receiver.stdout >r.log
    cat "$ABBA_SOURCE"/archive/sample/flow-quick/raw/000001-sender.stdout >s.log
    abba import --runner flow receiver=r.log,sender=s.log --format json --archive kept
    expect_status 0
    want=$(head -1 "$ABBA_SOURCE"/archive/sample/flow-quick/samples.jsonl | python3 -c "import json,sys; print(json.loads(sys.stdin.read())['metrics']['delivered_bytes']['value'])")
    [ "$(mean delivered_bytes)" = "$want" ]
    cmp r.log kept/raw/000001-receiver.stdout
    abba import --runner flow r.log
    expect_status 2
    expect_err "a log must say which"
}

@test "bad logs: one message each, what was read is kept" {
    echo nothing >none.log
    abba import --runner rtc-message none.log --archive kept
    expect_status 3
    expect_out "no match for"
    abba import --runner rtc-message --split "$split" none.log --archive other
    expect_status 3
    expect_err "has no match for"
    [ ! -e other ]
    abba import --runner rtc-message nowhere.log
    expect_status 2
    expect_err "nowhere.log"
    abba import --runner nosuch none.log
    expect_status 2
    abba import none.log
    expect_status 2
    expect_err "no runner is given"
    abba import --runner rtc-message
    expect_status 2
    expect_err "no logs are given"
    abba import --runner rtc-message -b none.log
    expect_status 2
    expect_err "no --candidate is given"
    abba import --runner rtc-message --split '(' none.log
    expect_status 2
    expect_err "option '--split'"
    { line C1 1 1.000 100,000; } >one.log
    abba import --runner rtc-message --split "$split" one.log
    expect_status 3
    expect_err "sacrificial"
    [ ! -e archive ]
    abba import --runner rtc-message none.log --archive kept
    expect_status 2
    expect_err "exists"
    { line C1 1 1.000 100,000; line C1 2 1.000 100,000; echo tail of it; } >tail.log
    abba import --runner rtc-message --split "$split" tail.log
    expect_err "11 bytes behind its last run belong to none"
    [ -d archive ]
    head -c 3000000 /dev/urandom >noise.log
    abba import --runner rtc-message noise.log --archive noise
    abba verify noise
    expect_status 0
}

@test "a log is a regular file, as it is read more than once" {
    mkfifo pipe
    abba import --runner rtc-message --archive a pipe
    expect_status 2
    expect_err "'pipe' is no regular file"
    abba import --runner rtc-message --archive a .
    expect_status 2
    [ ! -e a ]
}
