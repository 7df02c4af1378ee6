# What the command-line tests share. Each test works in a folder of its own; temporary files go to
# $TMPDIR below it, so that what is left behind can be seen. Other series on this machine are not
# waited for: nothing here is judged by time.

setup_folder() {
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir -p tmp
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
    # Reports write ${HOME} for the home folder, which the sources may well be below.
    export HOME=$BATS_TEST_TMPDIR/home
}

# Runs abba with standard error apart: $status, $output (standard output), $err.
abba() {
    status=0
    output=$("$ABBA" "$@" 2>stderr.txt </dev/null) || status=$?
    err=$(<stderr.txt)
}

# compare without waiting for others.
compare() {
    abba compare --no-lock "$@"
}

fail() {
    printf '%s\nstatus %s\n--- standard output\n%s\n--- standard error\n%s\n' "$*" "$status" \
        "$output" "$err" >&2
    return 1
}

expect_status() {
    [ "$status" = "$1" ] || fail "expected status $1"
}

expect_out() {
    [[ "$output" == *"$1"* ]] || fail "expected in standard output: $1"
}

expect_err() {
    [[ "$err" == *"$1"* ]] || fail "expected in standard error: $1"
}

expect_no() {
    [[ "$output$err" != *"$1"* ]] || fail "not expected: $1"
}

# One value of a JSON report on standard output, by a Python expression on `r`.
report() {
    printf '%s' "$output" | python3 -c "import json,sys; r=json.load(sys.stdin); print($1)"
}

# Waits until the command succeeds, at most 20 s.
wait_for() {
    local tries=400
    until "$@"; do
        [ $((--tries)) -gt 0 ] || return 1
        sleep 0.05
    done
}

# The kernel takes long to make a network on a machine that others load: nothing can be said then.
skip_if_too_busy_for_a_network() {
    [[ "$err" != *"a probe of its network"* ]] || skip "too busy for a network"
}

entries_in() { # FOLDER
    find "$1" -mindepth 1 -maxdepth 1 | wc -l
}

nothing_left() {
    [ -z "$(ls -A "$TMPDIR")" ] || fail "left in TMPDIR: $(ls -A "$TMPDIR")"
}

# A runner of one role that prints what the test wants to be read, and its profile.
make_runner() { # METRIC-JSON [SHELL-TEXT]
    mkdir -p runners/t profiles/t
    cat >program <<END
#!/bin/sh
${2:-echo value=1}
END
    chmod +x program
    cat >runners/t/runner.json <<END
{"runner": "t", "description": "of a test", "roles": {"only": {"command": ["{program}"]}},
 "metrics": [$1]}
END
    echo '{"profile": "t/p", "runner": "t", "pairs": 6, "confirm": 0, "pause": "0s"}' \
        >profiles/t/p.json
}

run_profile() {
    abba run --no-lock t/p --baseline old=./program --candidate new=./program --candidate-arg x \
        --archive a "$@"
}

# Whether no process has a command line that matches.
no_process() {
    if pgrep -f "$1" >/dev/null; then
        return 1
    fi
}
