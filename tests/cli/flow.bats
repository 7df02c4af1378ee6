#!/usr/bin/env bats
# The flow runner's own program: everything arrives, intact or called corrupt, in each way of
# moving datagrams, and bad input gets one clear message. The receiver chooses its port.

bats_require_minimum_version 1.5.0

setup() {
    flow=$ABBA_BUILD/runners/flow/flow
    address=127.0.0.1
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
    if [ -n "${receiver-}" ] && kill -0 "$receiver" 2>/dev/null; then kill "$receiver"; fi
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
}
