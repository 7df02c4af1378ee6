#!/usr/bin/env bats
# Profiles with a private network: their runs are inside it, the sample proves it, the host's own
# network stays as it is. As root or as a normal user who may make user namespaces.

setup() {
    load common
    setup_folder
    "$ABBA" doctor --require network >/dev/null 2>doctor.txt || skip "$(head -1 doctor.txt)"
}

# Links, addresses, routes, rules and sockets' counters of the host's namespace that abba could
# touch.
host_network() {
    cut -d: -f1 /proc/net/dev
    cat /proc/net/route /proc/net/if_inet6 /proc/net/fib_trie 2>/dev/null
    cat /proc/sys/net/ipv4/conf/lo/route_localnet /proc/sys/net/ipv4/conf/all/accept_local
}

# A value of each sample of an archive, by a Python expression on `s`.
samples() {
    python3 -c "import json,sys
for line in open('$1/samples.jsonl'):
    s = json.loads(line); print($2)"
}

@test "every run of a profile with a network has one of its own, with the pair's seed, and proves it" {
    host_network >before
    abba run --no-lock --aa --baseline flow flow/try-light -n 2 --confirm 0 --archive a
    expect_status 4
    host_network >after
    diff before after
    [ "$(samples a "s['status']" | sort | uniq -c | tr -s ' ')" = " 4 ok" ]
    samples a "s['net']['backend']" | sort -u | grep -Eqx 'user|kernel'
    [ "$(samples a "s['pair'], s['net']['flows'][0]['seed']" | sort -u | wc -l)" = 2 ]
    samples a "s['net']['flows'][0]['offered'] > 200" | sort -u | grep -qx True
    samples a "s['metrics']['rtt_p50']['value'] > 30000" | sort -u | grep -qx True
    output=$(printf '%s' "$output" | tr -s ' \n' ' ')
    expect_out "one way: delay 20ms, jitter 5ms, loss 0.1%"
    expect_out "round trip: delay 40ms, jitter 10ms at most, loss 0.2%"
    expect_out "reordered"
    expect_out "met the same random numbers"
}

@test "a report with networks comes out of the archive again, byte for byte" {
    abba run --no-lock --aa --baseline flow flow/try-light -n 1 --confirm 0 --archive a \
        --format json -o first.json
    expect_status 4
    abba report a --format json -o second.json
    cmp first.json second.json
    abba verify a
    expect_status 0
}

@test "a pair has a namespace a role, each with its address and its direction's delay" {
    abba run --no-lock --aa --baseline flow flow/try-pair -n 1 --confirm 0 --archive a
    expect_status 4
    [ "$(samples a "[f['link'] for f in s['net']['flows']]" | sort -u)" = \
        "['receiver->sender', 'sender->receiver']" ]
    samples a "14000 < s['metrics']['rtt_p50']['value']" | sort -u | grep -qx True
}

@test "--impair makes a quick network and is part of the plan" {
    cat >devices <<'EOF'
#!/bin/sh
cut -d: -f1 /proc/net/dev
EOF
    chmod +x devices
    compare -n 1 --impair "delay 1ms" --archive a ./devices ./devices
    expect_status 0
    gzip -dc a/raw/*stdout* 2>/dev/null | grep -q a0 || grep -q 'a0\|eth0' a/raw/*stdout*
    compare --plan --impair "delay 1ms" ./devices ./devices
    expect_out "loopback; one way: delay 1ms"
    compare --plan -n 1 --impair "delay 1ms" --format json ./devices ./devices
    with=$output
    compare --plan -n 1 --format json ./devices ./devices
    [ "$with" != "$output" ]
}

@test "--impair that asks for nothing is a plain private loopback" {
    for words in "delay 0ms" "loss 0%" "rate 0" "duplicate 0%"; do
        compare -n 1 --impair "$words" true true
        expect_status 0
    done
}

@test "a right that is missing is named, before anything runs" {
    [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || skip "not root"
    status=0
    for right in net_raw net_admin; do
        output=$(setpriv --bounding-set "-$right" --inh-caps "-$right" "$ABBA" run --no-lock --aa \
            --baseline flow flow/try-light -n 1 --archive a 2>stderr.txt </dev/null) || status=$?
        err=$(<stderr.txt)
        [ "$right" != net_raw ] || [[ "$("$ABBA" doctor)" == *"no sch_netem"* ]] || continue
        expect_status 2
        expect_err "Operation not permitted"
        expect_err "CAP_${right^^}"
        [ ! -e a ]
    done
}

@test "programs that do not use the network are noted" {
    compare -n 1 --impair "delay 1ms" true true
    expect_status 0
    expect_out "no packet passed the network"
}

@test "--impair that is not tc's is one message" {
    compare -n 1 --impair "delya 1ms" true true
    expect_status 2
    expect_err "--impair"
    compare -n 1 --impair "loss 101%" true true
    expect_status 2
    abba run --aa --baseline flow flow/try-light --impair "delay 1ms"
    expect_status 2
    expect_err "has a network of its own"
}

@test "the kernel's back end is refused where there is none" {
    [[ "$("$ABBA" doctor)" == *"no sch_netem"* ]] || skip "this kernel has sch_netem"
    cat >p.json <<'EOF'
{"profile": "p", "runner": "flow", "load": {"duration": "100ms"},
 "network": {"backend": "kernel", "impair": {"delay": "1ms"}}}
EOF
    abba run --no-lock --aa --baseline flow ./p.json -n 1 --archive a
    expect_status 2
    expect_err "the kernel has no sch_netem"
    [ ! -e a ]
}

@test "a load that the shaper cannot pass is refused, with the figure, before it runs" {
    [[ "$("$ABBA" doctor)" == *"no sch_netem"* ]] || skip "this kernel has sch_netem"
    cat >p.json <<'EOF'
{"profile": "p", "runner": "flow", "load": {"rate": "900Gbit/s", "duration": "100ms"},
 "network": {"impair": {"delay": "1ms"}}}
EOF
    abba run --no-lock --aa --baseline flow ./p.json -n 1 --archive a
    expect_status 3
    expect_err "packets/s"
    [ ! -s a/samples.jsonl ]
}

@test "a profile that does not fit is left out, with the reason in the archive and its report" {
    [[ "$("$ABBA" doctor)" == *"no sch_netem"* ]] || skip "this kernel has sch_netem"
    cat >big.json <<'EOF'
{"profile": "big", "runner": "flow", "load": {"rate": "900Gbit/s", "duration": "100ms"},
 "network": {"bound": {"lateness_p99": "1s"}, "impair": {"delay": "1ms"}}}
EOF
    cat >small.json <<'EOF'
{"profile": "small", "runner": "flow", "load": {"rate": "1Mbit/s", "duration": "100ms"},
 "network": {"bound": {"lateness_p99": "1s"}, "impair": {"delay": "1ms"}}}
EOF
    abba run --no-lock --aa --baseline flow ./big.json ./small.json -n 1 --confirm 0 --archive a
    expect_status 3
    expect_err "profile 'big' is not run: it offers"
    expect_out "not run: it offers"
    python3 - <<'EOF'
import json
big, small = json.load(open("a/probes.json"))["probes"]
assert big["profile"] == "big" and "packets/s" in big["reason"], big
assert big["offered"] > big["capacity"] > 1000, big
assert small["agrees"] and small["reason"] is None and small["rtt_min"] >= 0.002, small
EOF
    abba verify a
    expect_status 0
    abba report a
    expect_out "not run: it offers"
    # Both networks are equal, so the capacity was measured for one, and again before a refusal.
    [ "$(find home/.cache/abba/capacity -type f | wc -l)" = 1 ]
    sed -i 's/"capacity": [0-9]*/"capacity": 5/' a/probes.json
    abba verify a
    expect_status 5
}

# Holds the shaper of each probe of that abba back, from its first datagrams on, longer than the
# probe waits. Builtins alone: a probe lasts for some tenths of a second.
hold_probes_back() { # PID
    local children child name keeper flight
    while [ -e "/proc/$1/exe" ]; do # not of one that has ended
        read -r -a children <"/proc/$1/task/$1/children" || true # no newline is at its end
        keeper='' flight=''
        for child in "${children[@]}"; do
            read -r name <"/proc/$child/comm" || continue
            [ "$name" != abba-net ] || keeper=$child
            [ "$name" != abba ] || flight=$child
        done
        if [ -z "$keeper" ] || [ -z "$flight" ]; then continue; fi
        kill -STOP "$keeper"
        sleep 1.2
        kill -CONT "$keeper"
        while [ -d "/proc/$flight" ]; do sleep 0.01; done
    done 2>/dev/null
}

@test "a profile whose probe finds another network than the model is refused, with the figures" {
    [[ "$("$ABBA" doctor)" == *"no sch_netem"* ]] || skip "this kernel has sch_netem"
    cat >p.json <<'EOF'
{"profile": "p", "runner": "flow", "load": {"rate": "1Mbit/s", "duration": "100ms"},
 "network": {"bound": {"lateness_p99": "1ms"}, "impair": {"delay": "200ms"}}}
EOF
    "$ABBA" run --no-lock --aa --baseline flow ./p.json -n 1 --confirm 0 --archive a \
        >out.txt 2>stderr.txt </dev/null &
    pid=$!
    hold_probes_back "$pid" || true
    status=0
    wait "$pid" || status=$?
    # shellcheck disable=SC2034 # fail() of common.bash shows them
    output=$(<out.txt) err=$(<stderr.txt)
    expect_status 3
    expect_err "profile 'p' cannot be run here: a probe of its network found that"
    grep -Eq "round trips took [0-9.]+ ms .median., expected were 400.000|no datagram came back" stderr.txt
    [ ! -s a/samples.jsonl ]
    grep -q '"agrees": false' a/probes.json
}

@test "a run whose shaper was too late is invalid and says which check failed" {
    cat >p.json <<'EOF'
{"profile": "p", "runner": "flow", "load": {"rate": "1Mbit/s", "duration": "100ms"},
 "network": {"backend": "user", "bound": {"lateness_p99": "1us"},
             "impair": {"delay": "30ms", "jitter": "30ms"}}}
EOF
    abba run --no-lock --aa --baseline flow ./p.json -n 1 --confirm 0 --archive a
    expect_status 3
    [ "$(samples a "s['status']" | sort -u)" = invalid ]
    samples a "s['error']" | grep -q "the shaper could not keep up"
}

@test "roles that a direction names must be the runner's" {
    cat >p.json <<'EOF'
{"profile": "p", "runner": "flow",
 "network": {"topology": "pair", "impair": {"sender->reciever": {"delay": "1ms"}}}}
EOF
    abba run --no-lock --aa --baseline flow ./p.json -n 1
    expect_status 2
    expect_err "reciever"
}

@test "net runs a command inside, with its status, and says what happened to packets" {
    host_network >before
    abba net flow/try-light -- sh -c 'cut -d: -f1 /proc/net/dev; exit 7'
    expect_status 7
    expect_out eth0
    expect_err "delay 20ms"
    expect_err "0 packets"
    abba net flow/try-pair --role sender -- sh -c 'kill -9 $$'
    expect_status 137
    host_network >after
    diff before after
}

@test "net without a network, a command or a known role is one message" {
    abba net flow/pingpong -- true
    expect_status 2
    expect_err "has no network"
    abba net flow/try-light
    expect_status 2
    expect_err "no command"
    abba net flow/try-pair --role nobody -- true
    expect_status 2
    expect_err "nobody"
    abba net flow/try-light -- ./not-there
    expect_status 127
}

@test "net --probe measures round trips, losses and capacity" {
    abba net flow/try-light --probe
    [ "$status" = 0 ] || [ "$status" = 3 ] || fail "status"
    expect_out "expected 40.000 ms"
    expect_out "agrees"
}

@test "what is allowed and seldom meant is said before anything runs" {
    compare --plan -n 1 --impair "delay 1ms 5ms" true true
    expect_status 0
    expect_err "the jitter is above the delay"
    compare --plan -n 1 --impair "loss 10% 25%" true true
    expect_err "really loses 1."
    compare -n 1 --impair "delay 10ms 2ms distribution nope" true true
    expect_status 2
    expect_err "no distribution 'nope'"
}

@test "a table of a distribution that is missing or malformed is found before an archive is made" {
    mkdir tables
    export TC_LIB_DIR=$PWD/tables
    printf '1 2\n3 x\n' >tables/bad.dist
    compare -n 1 --archive a --impair "delay 10ms 2ms distribution bad" true true
    expect_status 2
    expect_err "bad.dist': line 2: not a number"
    "$ABBA" compare --no-lock --impair "delay 10ms 2ms distribution bad" true true 2>said || true
    [ "$(wc -l <said)" = 1 ]
    [ ! -e a ]
    cat >p.json <<'EOF'
{"profile": "p", "runner": "flow", "network": {"topology": "pair", "impair": {"sender->receiver":
 {"delay": "2ms", "jitter": "1ms", "distribution": "nope"}}}}
EOF
    abba run --no-lock --aa --baseline flow ./p.json -n 1 --archive a
    expect_status 2
    expect_err "profile 'p': no distribution 'nope'"
    [ ! -e a ]
    abba net ./p.json -- true
    expect_status 2
    expect_err "no distribution 'nope'"
}

@test "a role that opens a network namespace of its own makes its run invalid, which says so" {
    unshare --net true 2>/dev/null || skip "no network namespaces for programs here"
    # With traffic of its own elsewhere, below a shell that stays.
    cat >elsewhere <<'EOF'
#!/bin/sh
unshare --net sh -c 'ip link set lo up && ping -q -c 1 127.0.0.1 && sleep 0.5'
EOF
    # Fenced off from all networks, as browsers do with processes that need none.
    cat >fenced <<'EOF'
#!/bin/sh
unshare --net sleep 0.3
ping -q -c 1 127.0.0.1
EOF
    chmod +x elsewhere fenced
    compare -n 1 --impair "delay 1ms" --archive a "unshare --net sleep 0.5" "unshare --net sleep 0.5"
    expect_status 3
    [ "$(samples a "s['status'] + ' ' + s['error']" | sort -u)" = \
        "invalid network: role 'command' was in a network namespace of its own, not in the run's" ]
    compare -n 1 --impair "delay 1ms" --archive b ./elsewhere ./elsewhere
    expect_status 3
    [ "$(samples b "s['status']" | sort -u)" = invalid ]
    abba verify b
    expect_status 0
    compare -n 1 --impair "delay 1ms" --archive c ./fenced ./fenced
    samples c "s['net']['flows'][0]['offered'], s['error']" >found # a shaper may be too late
    [ "$(grep -c "^(0,\|namespace" found)" = 0 ]
}

@test "a role in a namespace of its own is named while the other uses the network" {
    unshare --net true 2>/dev/null || skip "no network namespaces for programs here"
    mkdir -p runners/two
    cat >runners/two/runner.json <<EOF
{"runner": "two", "description": "one pings, one is elsewhere", "program": "sleep",
 "roles": {"pinger": {"command": ["$(command -v ping)", "-q", "-c", "3", "-i", "0.2", "127.0.0.1"]},
           "leaver": {"command": ["$(command -v unshare)", "--net", "{program}", "0.5"]}}}
EOF
    cat >p.json <<'EOF'
{"profile": "p", "runner": "two",
 "network": {"bound": {"lateness_p99": "1s"}, "impair": {"delay": "1ms"}}}
EOF
    abba run --no-lock --aa --baseline sleep ./p.json -n 1 --confirm 0 --archive a
    expect_status 3
    [ "$(samples a "s['status'] + ' ' + s['error']" | sort -u)" = \
        "invalid network: role 'leaver' was in a network namespace of its own, not in the run's" ]
    samples a "s['net']['flows'][0]['offered'] >= 6" | sort -u | grep -qx True
}

# A flood: abba lives, drops over the limit are counted apart from losses, and what could not be
# passed as asked is said in the sample.
expect_flooded() { # ARCHIVE STATUS-OF-RUNS
    python3 - "$1" "$2" <<'EOF'
import json, sys
for line in open(sys.argv[1] + "/samples.jsonl"):
    s = json.loads(line)
    f = s["net"]["flows"][0]
    if s["status"] == "invalid": # only for want of a CPU for the shaper
        assert "nobody asked to lose" in s["error"] or "keep up" in s["error"], s["error"]
        continue
    assert s["status"] == sys.argv[2], s
    assert f["offered"] > 1000, f
    if s["net"]["backend"] != "user": # the kernel counts all that it dropped together
        continue
    assert f["offered"] == f["delivered"] + f["lost"] + f["limit"] + f["queued"], f
    assert f["limit"] > 9 * f["delivered"] and f["high_water"] <= 20, f
    assert f["lost_low"] <= f["lost"] <= f["lost_high"] < f["limit"], f
EOF
}

@test "a program that floods a slow link ends by itself, and drops over the limit are not losses" {
    blast=$ABBA_BUILD/cost/blast
    compare -n 1 --impair "delay 1ms loss 5% rate 1mbit limit 20" --archive a "$blast 500" "$blast 500"
    expect_flooded a ok
    [ "$status" = 0 ] || [ "$status" = 3 ] || fail "status"
    [[ "$("$ABBA" doctor)" == *"no sch_netem"* ]] || return 0
    output=$(printf '%s' "$output" | tr -s ' \n' ' ')
    expect_out "dropped over the queue's limit"
}

@test "a program that floods a slow link without an end is ended by the time-out" {
    blast=$ABBA_BUILD/cost/blast
    compare -n 1 --timeout 1s --impair "delay 1ms loss 5% rate 1mbit limit 20" --archive a \
        "$blast 0" "$blast 0"
    expect_status 3
    expect_flooded a timeout
    expect_out "timed out after 1"
    abba verify a
    expect_status 0
}
