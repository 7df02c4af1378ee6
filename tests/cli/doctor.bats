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

# As a container without privileges has it: "filter ERRNO CALLS -- COMMAND" of tests/cost.
contained() {
    status=0
    output=$("$ABBA_BUILD/cost/filter" 1 clone3,unshare,mount,setns,perf_event_open -- "$ABBA" "$@" \
        2>stderr.txt </dev/null) || status=$?
    err=$(<stderr.txt)
}

@test "a seccomp filter is told from sysctls, and what mends it" {
    contained doctor --require network,pmu,user-namespace
    expect_status 3
    text=$(tr -s ' \n' ' ' <<<"$output")
    [[ "$text" == *"network no no private networks: a seccomp filter"* ]] || fail "network"
    [[ "$text" == *"user-namespace no may not be made: a seccomp filter"* ]] || fail "user-namespace"
    [[ "$text" == *"counters count: a seccomp filter"* ]] || fail "pmu"
    expect_out "seccomp=unconfined"
    expect_no "pmu: sudo sysctl"
    for name in network pmu user-namespace; do
        expect_err "$name ("
    done
}

@test "a container without privileges: a subreaper, no networks, each said once" {
    cat >bad.json <<'END'
{"profile": "bad", "runner": "flow", "load": {"duration": "100ms"},
 "network": {"impair": {"delay": "1ms"}}, "pairs": 2, "confirm": 0}
END
    sed 's/"bad"/"worse"/' bad.json >worse.json
    sed 's/"bad"/"plain"/; /"network"/d; s/"duration": "100ms"},/&"pairs": 2, "confirm": 0}/' bad.json >plain.json
    contained run --no-lock --aa --baseline flow ./bad.json ./plain.json ./worse.json --archive a \
        --thresholds none
    [ "$status" = 0 ] || [ "$status" = 3 ] || fail "status"
    expect_err "profiles 'bad', 'worse' are left out: their networks are not to be had here: a seccomp filter"
    [ "$(grep -c 'left out' <<<"$err")" = 1 ]
    [ "$(id -u)" != 0 ] || [ "$(grep -c 'as a subreaper does' <<<"$err")" = 1 ] || fail "subreaper"
    [ "$(wc -l <a/samples.jsonl)" = 4 ]
    contained run --no-lock --aa --baseline flow ./bad.json ./plain.json --unsupported fail
    expect_status 2
    expect_err "profile 'bad': its network is not to be had here: a seccomp filter"
    contained run --no-lock --aa --baseline flow ./bad.json
    expect_status 2
}
