#!/usr/bin/env bats
# What this machine can measure.

setup() {
    load common
    setup_folder
}

@test "every check is a line, every counter too" {
    abba doctor
    expect_status 0
    for word in pid-namespace user-namespace network pmu perf-events cgroup psi aslr governor turbo smt \
        cpus swap load PERF_COUNT_HW_CPU_CYCLES; do
        expect_out "$word"
    done
    while IFS= read -r line; do
        [ "${#line}" -le 100 ] || fail "wider than 100: $line"
    done <<<"$output"
}

@test "what is there may be required" {
    name=$("$ABBA" doctor | awk '$2 == "ok" {print $1; exit}')
    abba doctor --require "$name"
    expect_status 0
}

@test "what is not there is named, with what mends it" {
    name=$("$ABBA" doctor | awk '$2 == "no" {print $1; exit}')
    [ -n "$name" ] || skip "this machine has everything"
    abba doctor --require "aslr,$name"
    expect_status 3
    expect_err "required, and not to be had here: $name"
}

@test "an unknown requirement lists the known ones" {
    abba doctor --require pmu,pid-namespcae
    expect_status 2
    expect_err "pid-namespcae"
    expect_err "did you mean 'pid-namespace'?"
    expect_err "user-namespace"
}

@test "nothing is left behind" {
    abba doctor
    nothing_left
}
