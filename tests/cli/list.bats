#!/usr/bin/env bats
# What abba knows.

setup() {
    load common
    setup_folder
}

@test "every kind is listed, and all of them briefly" {
    for kind in runners profiles thresholds series metrics; do
        abba list "$kind"
        expect_status 0
        [ -n "$output" ]
    done
    abba list
    expect_status 0
    for word in runners profiles thresholds series metrics events flow/pingpong; do
        expect_out "$word"
    done
}

@test "names alone, one a line" {
    abba list --names metrics
    grep -qx wall_time <<<"$output"
    [[ "$output" != *" "* ]]
    abba list --names profiles
    grep -qx flow/pingpong <<<"$output"
}

@test "events come from libpfm4" {
    abba list --names events
    expect_status 0
    grep -q PERF_COUNT_HW_CPU_CYCLES <<<"$output"
}

@test "the current folder's files come first, a faulty one is told" {
    mkdir -p profiles/mine
    echo '{"profile": "mine/p", "runner": "command", "description": "of my own"}' >profiles/mine/p.json
    echo '{' >profiles/mine/bad.json
    abba list profiles
    expect_status 0
    expect_out "of my own"
    expect_out "faulty"
}

@test "an unknown kind offers the nearest" {
    abba list profile
    expect_status 2
    expect_err "profiles"
    abba list a b
    expect_status 2
}
