#!/usr/bin/env bats
# Real programs in private networks: what ping, iperf3 and flow see of delay, loss and rate, on
# 127.0.0.1, ::1, the ordinary address and between two namespaces, as root and as a normal user.
# Bounds are those that hold on a busy machine too: nothing is faster, larger or rarer than asked.

setup() {
    load common
    setup_folder
    "$ABBA" doctor --require network >/dev/null 2>doctor.txt || skip "$(head -1 doctor.txt)"
    users=(myself)
    [ "$(id -u)" != 0 ] || ! as another "$ABBA" doctor --require network >/dev/null 2>&1 ||
        users+=(another)
}

# Runs a command as whoever runs the tests, or as a normal user.
as() { # myself|another COMMAND...
    if [ "$1" = myself ]; then
        "${@:2}"
    else
        setpriv --reuid=65534 --regid=65534 --clear-groups "${@:2}"
    fi
}

# A profile of `flow` with this network, that another user can read too. In $profile.
make_profile() { # NETWORK-JSON [LOAD-JSON]
    folder=$(mktemp -d /tmp/abba-traffic-XXXXXX)
    chmod 777 "$folder"
    profile=$folder/p.json
    cat >"$profile" <<END
{"profile": "p", "runner": "flow", "load": ${2:-{\}}, "pause": "0s", "network": $1}
END
}

teardown() {
    [ -z "${folder-}" ] || rm -rf "$folder"
}

# In the network of $profile, from the first role's namespace. Output in $output and $err.
inside() { # USER COMMAND...
    status=0
    output=$(cd / && HOME=$folder TMPDIR=$folder as "$1" "$ABBA" net "$profile" -- "${@:2}" 2>"$folder/err" </dev/null) ||
        status=$?
    err=$(<"$folder/err")
}

# What ping says: round trips in ms and loss in percent, checked by a Python expression on
# `least`, `mean`, `loss`, `sent`, `received`.
expect_ping() { # EXPRESSION
    printf '%s' "$output" | python3 -c "
import re, sys
text = sys.stdin.read()
sent, received = map(int, re.search(r'(\d+) packets transmitted, (\d+) received', text).groups())
times = re.search(r'= ([\d.]+)/([\d.]+)/', text)
least, mean = map(float, times.groups()) if times else (None, None)
sys.exit(not ($1))" || fail "not so: $1"
}

@test "ping sees twice the delay on 127.0.0.1, ::1 and the ordinary address" {
    make_profile '{"backend": "auto", "bound": {"lateness_p99": "1s"}, "impair": {"delay": "20ms"}}'
    for user in "${users[@]}"; do
        for address in 127.0.0.1 ::1 10.213.0.1 fd00:213::1; do
            inside "$user" ping -n -c 10 -i 0.2 "$address"
            expect_status 0
            expect_ping "received == 10 and least >= 40 and least < 60"
        done
    done
}

@test "ping between two namespaces sees the delays of both directions together" {
    make_profile '{"topology": "pair", "bound": {"lateness_p99": "1s"},
        "impair": {"sender->receiver": {"delay": "30ms"}, "receiver->sender": {"delay": "10ms"}}}'
    for user in "${users[@]}"; do
        for address in 10.213.0.2 fd00:213::2; do
            inside "$user" ping -n -c 10 -i 0.2 "$address"
            expect_status 0
            expect_ping "received == 10 and least >= 40 and least < 60"
        done
        expect_err "receiver->sender, back end"
        inside "$user" ping -n -c 2 -i 0.2 10.213.0.1 # its own address is not impaired
        expect_ping "received == 2 and least < 10"
    done
}

@test "ping sees the loss of both ways" {
    make_profile '{"bound": {"lateness_p99": "1s"}, "impair": {"loss": "10%"}}'
    for user in "${users[@]}"; do
        # 400 round trips of which 19 % are lost: outside of these bounds once in a million times.
        inside "$user" ping -n -q -c 400 -i 0.002 -W 1 127.0.0.1
        expect_ping "sent == 400 and 284 <= received <= 360"
    done
}

# shellcheck disable=SC2030 # bats makes a function of it
@test "the fate of every packet is the seed's: equal seeds lose equal packets" {
    make_profile '{"bound": {"lateness_p99": "1s"}, "impair": {"loss": "10%"}}'
    for seed in 5 5 6; do
        "$ABBA" net "$profile" --seed "$seed" -- ping -n -c 100 -i 0.002 -W 1 127.0.0.1 2>/dev/null |
            sed -nE 's/.*icmp_seq=([0-9]+) .*/\1/p' >>"$folder/seed-$seed" || true
    done
    [ "$(sort "$folder/seed-5" | uniq -c | awk '$1 != 2' | wc -l)" = 0 ]
    [ "$(sort -u "$folder/seed-5" | wc -l)" -lt 100 ]
    ! diff -q <(sort -u "$folder/seed-5") <(sort -u "$folder/seed-6") >/dev/null || fail "another seed lost the same packets"
}

# iperf3 inside: its own server beside it. Sets $rate, what the receiver got in bit/s.
iperf() { # USER ADDRESS OPTION...
    inside "$1" bash -c 'iperf3 -s -1 >/dev/null 2>&1 &
        until grep -q ":1451 " /proc/net/tcp6; do sleep 0.02; done # port 5201
        timeout 60 iperf3 -c "$@"
        kill $!' - "$2" -J -t 2 "${@:3}"
    # shellcheck disable=SC2031 # within one test
    rate=$(printf '%s' "$output" | python3 -c "
import json, sys
end = json.load(sys.stdin)['end']
print(int((end.get('sum_received') or end['sum'])['bits_per_second']))")
}

@test "iperf3 gets no more than the rate, over TCP and UDP, on both addresses" {
    make_profile '{"bound": {"lateness_p99": "1s"}, "impair": {"delay": "5ms", "rate": "20Mbit/s"}}'
    for user in "${users[@]}"; do
        for address in 127.0.0.1 ::1; do
            iperf "$user" "$address"
            [ "$rate" -lt 20000000 ] && [ "$rate" -gt 6000000 ] || fail "TCP: $rate"
            iperf "$user" "$address" -u -b 30M -l 1400
            [ "$rate" -lt 20500000 ] && [ "$rate" -gt 6000000 ] || fail "UDP: $rate"
        done
    done
}

# A value of each sample of an archive, by a Python expression on `s`.
samples() {
    python3 -c "import json,sys
for line in open('$1/samples.jsonl'):
    s = json.loads(line); print($2)"
}

@test "flow meets delay, loss and rate, and its samples say so" {
    make_profile '{"bound": {"lateness_p99": "1s"}, "impair": {"delay": "20ms", "loss": "1%", "rate": "10Mbit/s"}}' \
        '{"rate": "20Mbit/s", "duration": "1s"}'
    for user in "${users[@]}"; do
        status=0
        output=$(cd "$folder" && HOME=$folder TMPDIR=$folder as "$user" "$ABBA" run --no-lock --aa \
            --baseline flow "$profile" -n 1 --confirm 0 --archive "a-$user" 2>"$folder/err" </dev/null) ||
            status=$?
        # shellcheck disable=SC2034 # fail() of common.bash shows it
        err=$(<"$folder/err")
        expect_status 4
        [ "$(samples "$folder/a-$user" "s['status']" | sort -u)" = ok ]
        samples "$folder/a-$user" "s['metrics']['throughput']['value'] < 10" | sort -u | grep -qx True
        samples "$folder/a-$user" "s['metrics']['rtt_p50']['value'] >= 40000" | sort -u | grep -qx True
        samples "$folder/a-$user" "s['net']['flows'][0]['lost'] > 0" | sort -u | grep -qx True
    done
}
