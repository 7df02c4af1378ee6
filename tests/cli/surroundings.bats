#!/usr/bin/env bats
# Odd surroundings: descriptors that are closed, places that cannot be written, limits, locks.

setup() {
    load common
    setup_folder
}

# ---- where results go ----------------------------------------------------------------------------

@test "closed descriptors are no harm, but a result that cannot be told is status 3" {
    status=0
    "$ABBA" compare --no-lock -q -n 2 true true >&- 2>stderr.txt </dev/null || status=$?
    err=$(<stderr.txt)
    expect_status 3
    expect_err "standard output"
    "$ABBA" compare --no-lock -n 2 --archive kept true true >out.txt 2>&- <&-
    grep -q wall_time out.txt
    abba verify kept
    expect_status 0
    "$ABBA" compare --no-lock -n 2 true true >out.txt 2>/dev/full
}

@test "no sub-command calls a full standard output success" {
    compare -q -n 2 --archive kept true true
    for words in --version --help list doctor "report kept" "compare --plan true true"; do
        # shellcheck disable=SC2086
        ! "$ABBA" $words >/dev/full 2>stderr.txt </dev/null || fail "success of: $words"
        grep -q "No space left" stderr.txt
    done
}

@test "-o where nothing can be written is told before anything runs" {
    for place in absent/report tmp; do
        compare -n 2 -o "$place" --archive kept true true
        expect_status 3
        expect_err "$place"
        [ ! -e kept ] || fail "it ran"
    done
}

@test "-o never replaces a device, and keeps a link" {
    ln -s /dev/full full
    compare -q -n 2 -o full true true
    expect_status 3
    expect_err "No space left"
    [ -c full ] || fail "the device was replaced"
    ln -s there link
    echo old >there
    compare -q -n 2 -o link true true
    expect_status 0
    [ -L link ] && grep -q wall_time there
}

# ---- limits --------------------------------------------------------------------------------------

@test "a limit on the size of files is an error that keeps what was measured" {
    (ulimit -f 64 && "$ABBA" compare --no-lock -q -n 200 --archive kept true true >out.txt 2>err.txt) &&
        status=0 || status=$?
    # shellcheck disable=SC2034 # expect_err of common.bash reads it
    output=$(<out.txt) err=$(<err.txt)
    expect_status 3
    expect_err "File too large"
    expect_err "what was measured so far is in 'kept'"
    abba verify kept
    expect_status 3
    expect_err "unfinished"
    abba report kept
    expect_status 3
}

@test "an error in a series without --archive keeps what was measured, and says where" {
    (ulimit -f 64 && "$ABBA" compare --no-lock -q -n 200 true true >out.txt 2>err.txt) &&
        status=0 || status=$?
    # shellcheck disable=SC2034 # expect_err of common.bash reads it
    output=$(<out.txt) err=$(<err.txt)
    expect_status 3
    place=$(sed -n "s/.*what was measured so far is in '\(.*\)'/\1/p" err.txt)
    [ "$(wc -l <"$place/samples.jsonl")" -gt 10 ] || fail "samples kept"
}

# ---- the lock ------------------------------------------------------------------------------------

@test "a series waits for another one and says so; a signal ends the wait" {
    [ -e /tmp/abba.lock ] || : >/tmp/abba.lock
    exec 8</tmp/abba.lock
    flock 8
    "$ABBA" compare -n 2 -q true true >out.txt 2>&1 8<&- &
    quiet=$!
    "$ABBA" compare -n 2 true true >out.txt 2>err.txt 8<&- &
    pid=$!
    wait_for grep -q "another series" err.txt
    kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" = 143 ]
    flock -u 8
    wait "$quiet"
    exec 8<&-
}
