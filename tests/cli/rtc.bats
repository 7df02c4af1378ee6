#!/usr/bin/env bats
# Harnesses of data-channel stacks. `make runners-rtc` builds them; what is not built is skipped.

load common

# shellcheck disable=SC2154 # bats sets status
setup() {
    setup_folder
}

# One small repeat of each shape, through abba: the payload is intact and figures agree.
try_stack() { # RUNNER
    local profile
    [ -x "$ABBA_BUILD/runners/$1/$1" ] || skip "runner '$1' is not built (make runners-rtc)"
    for profile in rtc/quick-message rtc/quick-flow; do
        abba run --no-lock "$profile" --baseline "$1" --aa -n 1 --confirm 0 --archive "$profile"
        expect_status 4 # one pair gives no bounds
        # What the program says of its CPU time is what was seen from outside.
        python3 - "$profile/samples.jsonl" <<'END'
import json, sys
for line in open(sys.argv[1]):
    sample = json.loads(line)
    m = {k: v["value"] for k, v in sample["metrics"].items()}
    assert sample["status"] == "ok", sample["error"]
    assert m["delivered_messages"] > 0
    assert abs(m["inner_cpu_time"] - m["cpu_time"]) <= 0.03 * m["cpu_time"] + 0.02, m
END
    done
}

@test "usrsctp: both shapes, through to the archive" {
    try_stack usrsctp
}
@test "pion: both shapes, through to the archive" {
    try_stack pion
}
@test "libdatachannel: both shapes, through to the archive" {
    try_stack libdatachannel
}
@test "libwebrtc: both shapes, through to the archive" {
    try_stack libwebrtc
}
