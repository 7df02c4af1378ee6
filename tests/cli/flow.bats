#!/usr/bin/env bats
# The flow runner's own program: everything arrives, intact or called corrupt, in each way of
# moving datagrams, and bad input gets one clear message. The receiver chooses its port.

# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr, status, output, also in subshells
bats_require_minimum_version 1.5.0

setup() {
    flow=$ABBA_BUILD/runners/flow/flow
    address=127.0.0.1
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    for pid in ${receiver-} ${sender-}; do
        kill "$pid" 2>/dev/null || true
    done
}

# Starts a receiver with the given arguments; sets receiver, reader (pids) and port. Its first
# line comes through a pipe: nothing is polled.
start_receiver() {
    local line
    rm -f pipe
    mkfifo pipe
    "$flow" receive "$@" >pipe 2>receiver.err 3>&- &
    receiver=$!
    exec 7<pipe
    port=
    if read -r line <&7; then port=${line#ready port=}; fi
    cat <&7 >receiver.out 3>&- &
    reader=$!
    exec 7<&-
}

# transfer "RECEIVER ARGUMENTS" "SENDER ARGUMENTS": sets received and sent (exit statuses).
transfer() {
    sent=0 received=0
    # shellcheck disable=SC2086
    start_receiver $1
    [ -n "$port" ]
    # shellcheck disable=SC2086
    "$flow" send --to "$address:$port" $2 >sender.out 2>sender.err || sent=$?
    wait "$receiver" || received=$?
    wait "$reader"
    receiver=
}

value() { # NAME FILE
    sed -n "s/^$1=//p" "$2"
}

delivered_intact() { # BYTES MESSAGES
    [ "$sent" = 0 ]
    [ "$received" = 0 ]
    [ "$(value payload receiver.out)" = intact ]
    [ "$(value delivered_bytes receiver.out)" = "$1" ]
    [ "$(value delivered_messages receiver.out)" = "$2" ]
}

in_each_mode() { # "RECEIVER ARGUMENTS" "SENDER ARGUMENTS" BYTES MESSAGES
    local io
    for io in single batch gso; do
        transfer "$1 --io $io" "$2 --io $io"
        delivered_intact "$3" "$4"
        [ "$(value io sender.out)" = "$io" ]
    done
}

@test "flow delivers every message intact in each io mode" {
    in_each_mode "" "--streams 3 --message 16KiB --messages 100 --duration 0" 4915200 300
}

@test "flow delivers messages of one byte, and messages larger than the window" {
    in_each_mode "" "--message 1 --messages 100" 100 100
    in_each_mode "" "--message 1MiB --messages 2 --window 16KiB" 2097152 2
    in_each_mode "" "--message 100kB --messages 5 --payload 65483 --window 1" 500000 5
}

@test "flow delivers everything over IPv6" {
    [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6 || skip "no IPv6 on loopback"
    address='[::1]'
    in_each_mode "--bind ::1" "--message 16KiB --messages 50" 819200 50
}

@test "flow delivers everything when 5 % are lost each way" {
    in_each_mode "--fault drop=5%,seed=3" \
        "--streams 4 --message 16KiB --messages 50 --duration 0 --fault drop=5%,seed=5" 3276800 200
    [ "$(value retransmissions sender.out)" -gt 0 ]
}

@test "flow delivers everything once through loss, duplicates, reordering and damage each way" {
    faults=drop=2%,duplicate=2%,reorder=5%,damage=1%
    in_each_mode "--fault $faults,seed=3" \
        "--streams 4 --message 16KiB --messages 50 --duration 0 --fault $faults,seed=5" 3276800 200
    [ "$(value duplicates receiver.out)" -gt 0 ]
    [ "$(value damaged receiver.out)" -gt 0 ]
    [ "$(value out_of_order receiver.out)" -gt 0 ]
}

@test "flow delivers everything through a socket buffer of 4 KiB" {
    in_each_mode "--receive-buffer 4KiB" "--streams 3 --message 16KiB --messages 20" 983040 60
}

@test "flow calls a payload that is wrong under a good checksum corrupt, on both sides" {
    transfer "" "--messages 200 --fault corrupt=5%,seed=1"
    [ "$sent" = 1 ]
    [ "$received" = 1 ]
    [ "$(value payload receiver.out)" = corrupt ]
    [ "$(value corrupt_datagrams receiver.out)" -gt 0 ]
    [ "$(value delivered_messages receiver.out)" = 200 ]
    grep -q 'payload is corrupt' sender.err
}

@test "flow pingpong takes one message at a time and prints its round trip" {
    transfer "" "--mode pingpong --message 4KiB --messages 50 --duration 0"
    delivered_intact 204800 50
    [ "$(value rtt_samples sender.out)" = 50 ]
    value rtt_p50_us sender.out | grep -qE '^[0-9]+\.[0-9]{3}$'
    value rtt_p99_us sender.out | grep -qE '^[0-9]+\.[0-9]{3}$'
}

@test "flow ends by itself after its duration, with whole messages" {
    for mode in stream pingpong; do
        transfer "" "--mode $mode --streams 2 --message 5000 --duration 50ms"
        [ "$sent" = 0 ]
        [ "$received" = 0 ]
        [ "$(value delivered_messages receiver.out)" = "$(value sent_messages sender.out)" ]
        [ "$(value delivered_bytes receiver.out)" = \
            $((5000 * $(value delivered_messages receiver.out))) ]
    done
}

@test "flow never consumes faster than it was told, and holds no more than its window" {
    transfer "--consume 40Mbit/s" "--streams 2 --message 10kB --messages 25 --window 64KiB --duration 0"
    delivered_intact 500000 50
    # 0.1 s at that rate, less the 20 ms that a consumer may save up.
    awk -v t="$(value delivery_time receiver.out)" 'BEGIN { exit !(t >= 0.079) }'
    [ "$(value window_datagrams receiver.out)" = 52 ]
}

@test "flow offers no more than its rate" {
    transfer "" "--message 1250 --rate 10Mbit/s --messages 100 --duration 0"
    delivered_intact 125000 100
    [ "$(value pacer sender.out)" = tick-1ms-sleep ]
    awk -v t="$(value delivery_time receiver.out)" 'BEGIN { exit !(t >= 0.078) }'
}

@test "flow batches: fewer system calls than datagrams, fewer still in trains" {
    declare -A calls
    for io in single batch gso; do
        transfer "--io $io" "--io $io --message 16KiB --messages 100 --duration 0"
        delivered_intact 1638400 100
        calls[$io]=$(value send_calls sender.out)
    done
    [ "${calls[single]}" -gt "$(value sent_datagrams sender.out)" ]
    [ "${calls[batch]}" -lt $((calls[single] / 2)) ]
    [ "${calls[gso]}" -lt $((calls[single] / 2)) ]
}

@test "flow takes an option given twice as it was given last" {
    transfer "--io single --io batch" "--messages 1 --io single --io batch"
    delivered_intact 1024 1
    [ "$(value io receiver.out)" = batch ]
    [ "$(value io sender.out)" = batch ]
}

@test "flow send says that no receiver answers, and prints no figures" {
    run --separate-stderr "$flow" send --to 127.0.0.1:1 --idle 100ms
    [ "$status" = 1 ]
    [ -z "$output" ]
    [ "$stderr" = "flow: the receiver is silent for 0.1 s at the start" ]
}

@test "flow receive says that no sender came, and prints no figures" {
    run --separate-stderr "$flow" receive --wait 50ms
    [ "$status" = 1 ]
    [ "${#lines[@]}" = 1 ]
    [ "$stderr" = "flow: no sender came within 0.05 s" ]
}

@test "flow ends with an error when the other side is killed" {
    start_receiver --idle 500ms
    "$flow" send --to "127.0.0.1:$port" --duration 0 --messages 1000000000 --idle 1s \
        >sender.out 2>sender.err 3>&- &
    sender=$!
    kill -KILL "$receiver"
    wait "$sender" && false
    sender=
    grep -qE 'silent|gone' sender.err
    wait "$receiver" || true
    receiver=

    start_receiver --idle 500ms
    "$flow" send --to "127.0.0.1:$port" --mode pingpong --duration 60s >/dev/null 2>&1 3>&- &
    sender=$!
    # A receiver that nobody talks to sleeps; one that has slept often has been talked to.
    until [ "$(awk '/^voluntary/ { print $2 }' "/proc/$receiver/status")" -gt 50 ]; do :; done
    kill -KILL "$sender"
    wait "$sender" || true
    sender=
    wait "$receiver" && false
    receiver=
    wait "$reader"
    grep -q 'the sender is silent for 0.5 s' receiver.err
    [ "$(value payload receiver.out)" = incomplete ]
}

@test "flow receive says that its port is taken" {
    start_receiver
    run --separate-stderr "$flow" receive --port "$port"
    [ "$status" = 1 ]
    [ "$stderr" = "flow: cannot bind to '127.0.0.1' port $port: Address already in use" ]
}

refuses() { # MESSAGE ARGUMENTS...
    local message=$1
    shift
    run --separate-stderr "$flow" "$@"
    if [ "$status" != 2 ] || [ -n "$output" ] || [[ "$stderr" != "flow: "*"$message"* ]]; then
        echo "flow $*: status $status: $stderr"
        return 1
    fi
    [ "${#stderr_lines[@]}" = 1 ]
}

@test "flow refuses a bad command line with one clear line and status 2" {
    refuses "no sub-command"
    refuses "unknown sub-command 'fetch'" fetch
    refuses "unknown option '--speed'" receive --speed 3
    refuses "'--port' needs a value" receive --port
    refuses "unexpected argument 'now'" receive now
    refuses "'65536' is not a value for --port" receive --port 65536
    refuses "'-1' is not a value for --port" receive --port -1
    refuses "'fast' is not a value for --io: single, batch or gso" receive --io fast
    refuses "'10' is not a value for --consume" receive --consume 10
    refuses "'1s1' is not a value for --wait" receive --wait 1s1
    refuses "unknown fault 'lose'" receive --fault lose=1%
    refuses "'101%' is not a percentage" receive --fault drop=101%
    refuses "--to is missing" send
    refuses "'0' is not a value for --streams" send --streams 0
    refuses "'1e3' is not a value for --streams" send --streams 1e3
    refuses "'0' is out of range for --message" send --message 0
    refuses "'16k' is not a value for --message" send --message 16k
    refuses "'65484' is out of range for --payload" send --payload 65484
    refuses "'nan' is not a value for --rate" send --rate nan
    refuses "'0x10' is not a value for --message" send --message 0x10
    refuses "'talk' is not a value for --mode" send --mode talk
    refuses "nothing ends this" send --to 127.0.0.1:9 --duration 0
}

@test "flow refuses an address that is not numeric" {
    run --separate-stderr "$flow" send --to localhost:9
    [ "$status" = 1 ]
    [[ "$stderr" == "flow: 'localhost' port '9' is not a numeric address: "* ]]
    run --separate-stderr "$flow" send --to 127.0.0.1
    [ "$status" = 1 ]
    [ "$stderr" = "flow: '127.0.0.1' is not ADDRESS:PORT" ]
}

@test "flow --help names every option of both sub-commands" {
    run "$flow" --help
    [ "$status" = 0 ]
    for option in bind port consume receive-buffer wait to streams message payload rate window \
        mode duration messages io idle fault; do
        [[ "$output" == *"--$option "* ]]
    done
    run "$flow" send --help
    [ "$status" = 0 ]
}

@test "flow does not pass for success when its result cannot be written" {
    [ -e /dev/full ] || skip "no /dev/full"
    run --separate-stderr bash -c "'$flow' --help >/dev/full"
    [ "$status" = 1 ]
    [[ "$stderr" == *"cannot write the result"* ]]
}
