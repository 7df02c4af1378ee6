#!/usr/bin/env bats
# The SRT runners' program against real libsrt: everything arrives and is counted, each library can
# be chosen, and bad input gets one clear message with SRT's reject reason. Then the same through
# abba: profiles, samples that failed, the neighbour, srt-live-transmit.

# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr, status, output, also in subshells
bats_require_minimum_version 1.5.0

setup() {
    load common
    setup_folder
    srt=$ABBA_BUILD/runners/srt/srt
    [ -x "$srt" ] || skip "no libsrt headers when this was built"
}

teardown() {
    for pid in ${receiver-} ${sender-}; do
        kill "$pid" 2>/dev/null || true
    done
}

# A UDP port that nobody uses.
free_port() {
    python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

# Starts a receiver on a free port, and sets `port`; its ready line comes through a pipe.
start_receiver() {
    local line
    rm -f pipe
    mkfifo pipe
    port=$(free_port)
    "$srt" receive --listen "127.0.0.1:$port" "$@" >pipe 2>receiver.err 3>&- &
    receiver=$!
    exec 7<pipe
    while read -r line <&7; do
        [[ "$line" != ready* ]] || break
    done
    cat <&7 >receiver.out 3>&- &
    reader=$!
    exec 7<&-
}

# transfer "RECEIVER ARGUMENTS" "SENDER ARGUMENTS": sets received and sent (exit statuses).
transfer() {
    local receiver_args sender_args
    eval "receiver_args=($1) sender_args=($2)"
    sent=0 received=0
    start_receiver "${receiver_args[@]}"
    "$srt" send --call "127.0.0.1:$port" "${sender_args[@]}" >sender.out 2>sender.err || sent=$?
    wait "$receiver" || received=$?
    wait "$reader"
    receiver=
}

value() { # NAME FILE
    sed -n "s/^$1=//p" "$2"
}

intact() {
    if [ "$sent" != 0 ] || [ "$received" != 0 ] || [ "$(value payload receiver.out)" != intact ] ||
        [ "$(value missing receiver.out)" != 0 ]; then
        cat receiver.out receiver.err sender.err >&2
        return 1
    fi
    [ "$(value delivered_messages receiver.out)" = "$(value sent_messages sender.out)" ]
    [ "$(value delivered_bytes receiver.out)" = "$(value sent_bytes sender.out)" ]
    [ "$(value sent_messages sender.out)" -gt 0 ]
}

short="--duration 200ms --rate 5Mbit/s"

@test "srt delivers every payload of many streams through one socket, and says what it loaded" {
    transfer "--streams 8" "--streams 8 $short"
    intact
    [ "$(value streams_ended receiver.out)" = 8 ]
    [ "$(value statistics_of receiver.out)" = 8 ]
    [ "$(value statistics_of sender.out)" = 8 ]
    [ "$(value pacer sender.out)" = tick-1ms-sleep ]
    value library_version sender.out | grep -Eqx '[0-9]+\.[0-9]+\.[0-9]+'
    [ -e "$(value library sender.out)" ]
}

@test "srt takes either of Debian's libraries, also together, with AES-CTR, key lengths, FEC, auth" {
    local gnutls="--library libsrt-gnutls.so.1.5" key="--passphrase 'ten letters'"
    transfer "$gnutls" "$short"
    intact
    transfer "$key --cryptomode aes-ctr" "$key --cryptomode aes-ctr $gnutls $short"
    intact
    [[ "$(value library sender.out)" == *gnutls* ]]
    transfer "$key --key-length 32" "$key --key-length 32 $short"
    intact
    transfer "--filter fec,cols:5,rows:4" "--filter fec,cols:5,rows:4 $short"
    intact
    [ "$(value filter_packets_extra sender.out)" -gt 0 ]
    transfer "--auth on --tlpktdrop on" "--auth on --tlpktdrop on $short"
    intact
}

@test "srt takes a library by its path, by the folder or the prefix that holds it, and by LD_LIBRARY_PATH" {
    local real
    real=$("$srt" check | sed -n 's/^library=//p')
    mkdir -p prefix/lib moved
    cp "$real" prefix/lib/libsrt.so.1.5
    for name in ./prefix/lib/libsrt.so.1.5 prefix/lib prefix; do
        run --separate-stderr "$srt" check --library "$name"
        [ "$status" = 0 ]
        [[ "$output" == *"library=$PWD/prefix/lib/libsrt.so.1.5"* ]]
    done
    cp "$real" moved/libsrt.so.1.5
    LD_LIBRARY_PATH=$PWD/moved run --separate-stderr "$srt" check
    [[ "$output" == *"library=$PWD/moved/libsrt.so.1.5"* ]]
    cp "$real" prefix/lib/libsrt-other.so.1
    printf x >>prefix/lib/libsrt-other.so.1
    run --separate-stderr "$srt" check --library prefix
    [ "$status" = 1 ]
    [[ "$stderr" == *"holds more than one libsrt"* ]]
}

@test "srt calls a payload that was changed under way corrupt, and counts it" {
    transfer "" "$short --fault corrupt=10"
    [ "$received" = 1 ]
    [ "$(value payload receiver.out)" = corrupt ]
    [ "$(value corrupt receiver.out)" = $(($(value sent_messages sender.out) / 10)) ]
    [ "$(value missing receiver.out)" = "$(value corrupt receiver.out)" ]
    grep -q 'payloads are corrupt' receiver.err
}

@test "srt without verification still counts bytes and ends" {
    transfer "--verify off" "$short"
    intact
    [ "$(value verified receiver.out)" = no ]
}

@test "srt passes the whole way over UDP alone: feed and sink" {
    port=$(free_port)
    "$srt" sink --listen "127.0.0.1:$port" >sink.out 2>sink.err 3>&- &
    receiver=$!
    wait_for grep -q ready sink.out
    "$srt" feed --call "127.0.0.1:$port" --duration 100ms --rate 1Mbit/s >feed.out
    wait "$receiver"
    receiver=
    [ "$(value payload sink.out)" = intact ]
    [ "$(value delivered_messages sink.out)" = "$(value sent_messages feed.out)" ]
}

# refused "RECEIVER ARGUMENTS" "SENDER ARGUMENTS" TEXT: the sender fails with one line that holds it.
refused() {
    local args
    eval "args=($1)"
    start_receiver --wait 30s "${args[@]}"
    eval "args=($2)"
    run --separate-stderr "$srt" send --call "127.0.0.1:$port" "${args[@]}"
    kill "$receiver"
    wait "$receiver" || true
    wait "$reader"
    receiver=
    [ "$status" = 1 ]
    [ "${#stderr_lines[@]}" = 1 ]
    [[ "$stderr" == *"$3"* ]] || { echo "$stderr" >&2; false; }
}

@test "srt names SRT's reject reason: wrong passphrase, encryption of one side, filters, secrets" {
    local one="--passphrase 'one passphrase'"
    refused "$one" "--passphrase 'another one'" "SRT reject reason BADSECRET (10)"
    refused "$one" "" "SRT reject reason UNSECURE (11)"
    refused "" "$one" "SRT reject reason UNSECURE (11)"
    refused "--filter fec,cols:10" "--filter fec,cols:5" "SRT reject reason FILTER (14)"
    refused "--auth on" "" "SRT reject reason UNAUTHORIZED (1401): the secret"
    refused "--auth on --secret other" "--auth on" "SRT reject reason UNAUTHORIZED (1401)"
    run --separate-stderr "$srt" send --call 127.0.0.1:9 --wait 200ms
    [ "$status" = 1 ]
    [[ "$stderr" == *"SRT reject reason TIMEOUT (16)"* ]]
}

@test "srt notices a latency that the other side has made larger, from either side" {
    transfer "--latency 500ms" "--latency 120ms $short"
    [ "$sent" = 1 ]
    grep -q 'latency mismatch: 120 ms were asked for here, the connection has 500 ms' sender.err
    transfer "--latency 120ms" "--latency 500ms $short"
    [ "$received" = 1 ]
    grep -q 'latency mismatch: 120 ms were asked for here' receiver.err
}

@test "srt notices a payload of another size, and a number of streams that differs" {
    transfer "--payload 1000" "$short --idle 1s"
    [ "$received" = 1 ]
    [ "$sent" = 1 ]
    grep -q 'a payload of 1316 bytes came, 1000 are expected' receiver.err
    transfer "--streams 1" "--streams 1 --first-stream 3 $short"
    [ "$received" = 1 ]
    grep -q 'says stream 3: expected are 1 streams from 0 on' receiver.err
    transfer "--streams 3 --wait 500ms" "--streams 2 $short"
    [ "$received" = 1 ]
    grep -q '2 of 3 callers came within 0.5 s' receiver.err
}

@test "srt says that its port is taken" {
    start_receiver
    run --separate-stderr "$srt" receive --listen "127.0.0.1:$port"
    [ "$status" = 1 ]
    [[ "$stderr" == *"cannot bind to '127.0.0.1:$port'"* ]]
    python3 - "$srt" <<'END'
import socket, subprocess, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
at = "127.0.0.1:%d" % s.getsockname()[1]
r = subprocess.run([sys.argv[1], "receive", "--listen", at], capture_output=True, text=True)
assert r.returncode == 1 and "cannot bind to '%s'" % at in r.stderr, r
END
}

@test "srt ends with an error when the other side is killed" {
    transfer "--fault die=20" "--duration 60s --rate 5Mbit/s --idle 1s"
    [ "$received" = 137 ]
    [ "$sent" = 1 ]
    grep -Eq 'stream 0: the connection was lost while sending, after [0-9]+ payloads' sender.err
    [ "$(value sent_messages sender.out)" -gt 0 ]
}

@test "srt says what is wrong with a library" {
    local zlib
    zlib=$(ldconfig -p | sed -n 's/.* => \(.*libz\.so\.1\)$/\1/p' | head -n 1)
    run --separate-stderr "$srt" check --library "${zlib:-libm.so.6}"
    [ "$status" = 1 ]
    [[ "$stderr" == *"is no libsrt: it has no function 'srt_startup'"* ]]
    run --separate-stderr "$srt" check --library ./none.so
    [ "$status" = 1 ]
    [[ "$stderr" == *"cannot load the library './none.so'"* ]]
    mkdir empty
    run --separate-stderr "$srt" check --library empty
    [ "$status" = 1 ]
    [[ "$stderr" == *"no libsrt*.so in 'empty'"* ]]
}

@test "srt refuses AES-GCM where the library has none, and never sends plain text in its place" {
    run --separate-stderr "$srt" check --cryptomode aes-gcm --passphrase 'ten letters'
    [ "$status" = 3 ] || skip "this libsrt has AES-GCM"
    [[ "$output" == *"unsupported: libsrt "*" has no cryptomode aes-gcm"* ]]
    run --separate-stderr "$srt" send --call 127.0.0.1:9 --cryptomode aes-gcm --passphrase 'ten letters'
    [ "$status" = 3 ]
    run --separate-stderr "$srt" check --cryptomode aes-gcm
    [ "$status" = 2 ]
    [[ "$stderr" == *"without --passphrase would send plain text"* ]]
}

refuses() { # MESSAGE ARGUMENTS...
    local message=$1
    shift
    run --separate-stderr "$srt" "$@"
    if [ "$status" != 2 ] || [ -n "$output" ] || [[ "$stderr" != "srt: "*"$message"* ]]; then
        echo "srt $*: status $status: $stderr"
        return 1
    fi
    [ "${#stderr_lines[@]}" = 1 ]
}

@test "srt refuses a bad command line with one clear line and status 2" {
    refuses "no sub-command"
    refuses "unknown sub-command 'fetch'" fetch
    refuses "unknown option '--speed'" receive --speed 3
    refuses "'--rate' needs a value" send --rate
    refuses "unexpected argument 'now'" receive now
    refuses "one of --listen and --call is needed" send
    refuses "one of --listen and --call is needed" send --listen 127.0.0.1:1 --call 127.0.0.1:2
    refuses "a relay needs --listen and --call" relay
    refuses "'0' is not a value for --streams: an integer from 1 to 1024" send --streams 0
    refuses "'100000' is not a value for --streams" send --streams 100000
    refuses "'1457B' is out of range for --payload: 64 to 1456 bytes" send --payload 1457B
    refuses "'63B' is out of range for --payload" send --payload 63B
    refuses "'0bit/s' is out of range for --rate" send --rate 0bit/s
    refuses "'fast' is not a value for --rate" send --rate fast
    refuses "'0s' is out of range for --duration" send --duration 0s
    refuses "the passphrase has 9 characters: 10 to 79 are allowed" send --passphrase 'too short'
    refuses "'17' is not a value for --key-length: 0, 16, 24 or 32" send --key-length 17
    refuses "'rot13' is not a value for --cryptomode" send --cryptomode rot13
    refuses "'yes' is not a value for --tlpktdrop: on or off" send --tlpktdrop yes
    refuses "'31' is not a value for --window" send --window 31
    refuses "--secret may hold none of" send --auth on --secret 'a,b'
    refuses "'sleep=1' is not a value for --fault" send --fault sleep=1
    refuses "streams 1000 to 1031: at most 1024 are numbered" send --first-stream 1000 --streams 32
}

@test "srt says that an address is none, and that libsrt refuses an option" {
    run --separate-stderr "$srt" send --call localhost:9
    [ "$status" = 1 ]
    [[ "$stderr" == *"is not a numeric address"* ]]
    run --separate-stderr "$srt" receive --listen 127.0.0.1
    [ "$status" = 1 ]
    [[ "$stderr" == *"'127.0.0.1' is not ADDRESS:PORT"* ]]
    run --separate-stderr "$srt" check --filter nonsense
    [ "$status" = 1 ]
    [[ "$stderr" == *"refuses SRTO_PACKETFILTER 'nonsense'"* ]]
    run --separate-stderr "$srt" check --filter fec,cols:10 --payload 1456
    [ "$status" = 1 ]
    [[ "$stderr" == *"refuses SRTO_PAYLOADSIZE 1456"* ]]
}

@test "srt --help names every option" {
    run "$srt" --help
    [ "$status" = 0 ]
    for option in library listen call streams first-stream rate duration payload latency passphrase \
        key-length cryptomode filter tlpktdrop window buffers udp-buffers pending auth secret verify \
        wait idle keep may-fail naks fault; do
        [[ "$output" == *"--$option "* ]]
    done
}

# ---- through abba --------------------------------------------------------------------------------

# A profile of 200 ms of the runner srt: make_profile "LOAD", further keys.
make_profile() {
    mkdir -p profiles/srt
    cat >profiles/srt/p.json <<END
{"profile": "srt/p", "runner": "srt", "pause": "0s", "timeout": "30s",
 "load": {"duration": "200ms", "rate": "5Mbit/s"$1}}
END
}

lab() {
    abba run --no-lock srt/p --thresholds srt-lab --pairs 1 --archive a "$@"
}

samples() { # EXPRESSION on `s`
    python3 -c "
import json
for line in open('a/samples.jsonl'):
    s = json.loads(line)
    print($1)"
}

@test "a series compares both flavours, and its archive holds each library's version and checksum" {
    make_profile ', "streams": 2'
    lab --baseline openssl --candidate gnutls --threshold cpu_per_gbit=1000% \
        --threshold throughput=90% --threshold peak_rss=1000%
    expect_status 0
    [ "$(samples "s['status']" | sort | uniq -c | tr -s ' ')" = " 2 ok" ]
    [ "$(samples "s['metrics']['missing']['value']" | sort -u)" = 0 ]
    grep -qh '^library_version=' a/raw/*-receiver.stdout
    grep -q 'libsrt-gnutls.so.1.5' a/loaded.json
    grep -q 'libsrt.so.1.5' a/loaded.json
    nothing_left
}

@test "profiles that a library cannot run are left out, said once, or refused" {
    "$srt" check --cryptomode aes-gcm --passphrase 'ten letters' >/dev/null && skip "this one can"
    abba run --plan srt/quick-1x-50M-clean srt/quick-1x-50M-gcm-fec srt/quick-32x-2G-gcm-fec \
        --baseline openssl --candidate gnutls
    expect_status 0
    expect_err "profiles 'srt/quick-1x-50M-gcm-fec', 'srt/quick-32x-2G-gcm-fec' are left out, unsupported: variant 'openssl': libsrt"
    [ "$(grep -c unsupported <<<"$err")" = 1 ]
    abba run srt/quick-1x-50M-gcm-fec --baseline openssl --candidate gnutls --archive b
    expect_status 2
    expect_err "has no cryptomode aes-gcm"
    abba run --unsupported fail srt/quick-1x-50M-clean srt/quick-1x-50M-gcm-fec --baseline openssl \
        --candidate gnutls --archive b
    expect_status 2
    [ ! -e b ]
}

# fails ROLE TEXT ARGUMENTS...: where one role of the candidate gets further arguments, its runs
# fail, with the text in their samples; the baseline's do not; nothing is left running.
fails() {
    local role=$1 text=$2
    shift 2
    rm -rf a
    cat >candidate <<END
#!/bin/sh
role=\$1
case \$role in
$role) exec "$srt" "\$@" $(printf "'%s' " "$@") ;;
esac
exec "$srt" "\$@"
END
    chmod +x candidate
    lab --baseline "$srt" --candidate ./candidate
    expect_status 3
    [ "$(samples "s['variant'], s['status']" | sort | uniq -c | tr -s ' ' | paste -sd,)" = \
        " 1 baseline ok, 1 candidate failed" ] || fail "statuses"
    samples "s['error'], [r['stderr_tail'] for r in s['roles'].values() if r.get('stderr_tail')]" |
        grep -qF -- "$text" || fail "expected in the failed samples: $text"
    no_process "$srt .*--[l]isten"
    nothing_left
}

@test "what fails is a failed sample that names the reason, and nothing is left running" {
    make_profile ', "passphrase": "ten letters"'
    fails send "SRT reject reason BADSECRET (10)" --passphrase 'other letters'
    fails receive "SRT reject reason UNSECURE (11)" --passphrase ''
    fails receive "latency mismatch: 120 ms were asked for here, the connection has 700 ms" --latency 700ms
    fails receive "a payload of 1316 bytes came, 1000 are expected" --payload 1000
    fails send "'1457B' is out of range for --payload: 64 to 1456 bytes" --payload 1457B
    fails send "is no libsrt: it has no function 'srt_startup'" --library libm.so.6
    fails receive "receiver was killed by signal 9 (SIGKILL)" --fault die=20
    fails send "payloads are corrupt" --fault corrupt=5
    python3 -c 'import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
time.sleep(60)' >port 3>&- &
    sender=$!
    wait_for test -s port
    fails receive "(Address already in use)" --listen "127.0.0.1:$(cat port)"
    kill "$sender"
    if ! "$srt" check --cryptomode aes-gcm --passphrase 'ten letters' >/dev/null; then
        fails send "has no cryptomode aes-gcm" --cryptomode aes-gcm
    fi
}

@test "parameters out of range are refused before anything runs" {
    for load in '"streams": 0' '"streams": 100000' '"payload": "1457B"' '"rate": "0bit/s"'; do
        mkdir -p profiles/srt
        echo "{\"profile\": \"srt/p\", \"runner\": \"srt\", \"load\": {$load}}" >profiles/srt/p.json
        lab --baseline openssl --candidate gnutls
        expect_status 2
        expect_err "profiles/srt/p.json"
        [ ! -e a ]
    done
}

@test "the neighbour's sample proves the flood: reports offered are reports processed" {
    mkdir -p profiles/srt-neighbour
    cat >profiles/srt-neighbour/p.json <<'END'
{"profile": "srt-neighbour/p", "runner": "srt-neighbour", "pause": "0s", "timeout": "30s",
 "load": {"duration": "500ms", "rate": "4Mbit/s", "keep": "10kbit/s", "naks": 500}}
END
    abba run --no-lock srt-neighbour/p --thresholds srt-lab --pairs 1 --archive a \
        --baseline openssl --candidate gnutls --threshold cpu_per_gbit=1000%
    [ "$(samples "s['status']" | sort -u)" = ok ] || fail samples
    samples "s['metrics']['naks_processed']['value'] >= 50 and
        s['metrics']['naks_processed']['value'] <= s['metrics']['naks_offered']['value']" |
        sort -u | grep -qx True
    no_process "$srt .*--[l]isten"
}

@test "a neighbour whose flood did not happen is invalid, one that starves is failed" {
    mkdir -p profiles/srt-neighbour bin
    # A sender that is told of more reports than the relay injects.
    cat >profiles/srt-neighbour/p.json <<'END'
{"profile": "srt-neighbour/p", "runner": "srt-neighbour", "pause": "0s", "timeout": "30s",
 "load": {"duration": "300ms", "rate": "2Mbit/s", "keep": "10kbit/s", "naks": 0}}
END
    cat >bin/srt <<END
#!/bin/sh
[ "\$1" = send ] && exec "$srt" "\$@" --naks 1000
exec "$srt" "\$@"
END
    chmod +x bin/srt
    abba run --no-lock srt-neighbour/p --thresholds srt-lab --pairs 1 --archive a \
        --baseline bin/srt --aa
    expect_status 3
    [ "$(samples "s['status'], s['error']" | sort -u)" = "invalid the runner says 'flood=missing'" ] ||
        fail "$(samples "s['status'], s['error']")"
    sed -i 's/10kbit/10Gbit/' profiles/srt-neighbour/p.json
    rm -rf a
    abba run --no-lock srt-neighbour/p --thresholds srt-lab --pairs 1 --archive a \
        --baseline openssl --candidate gnutls
    expect_status 3
    [ "$(samples "s['status']" | sort -u)" = failed ]
    samples "s['error']" | grep -q "rate=kept"
}

@test "srt-live-transmit runs between feed and sink, and its JSON statistics are read" {
    command -v srt-live-transmit >/dev/null || skip "no srt-live-transmit"
    mkdir -p profiles/srt-live-transmit
    cat >profiles/srt-live-transmit/p.json <<'END'
{"profile": "srt-live-transmit/p", "runner": "srt-live-transmit", "pause": "0s", "timeout": "30s",
 "load": {"duration": "500ms", "rate": "10Mbit/s", "passphrase": "ten-letters", "statistics": 50}}
END
    abba run --no-lock srt-live-transmit/p --thresholds srt-lab --pairs 1 --archive a \
        --baseline srt-live-transmit --aa
    [ "$(samples "s['status']" | sort -u)" = ok ] || fail "$(samples "s['error']")"
    samples "s['metrics']['packets_sent']['value'] > 100 and s['metrics']['rtt']['value'] > 0" |
        sort -u | grep -qx True
    nothing_left
}
