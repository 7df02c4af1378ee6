#!/usr/bin/env bats
# The gate from end to end, over a repository of a real C library: what costs nothing passes, what
# costs 20 % CPU or memory is flagged and found among the commits, and nothing is red by luck. Cases
# of tag "figures" run no code of abba's that bisect.bats and git.bats do not, and take their time to
# measure: the sanitizers' run leaves them out.

setup() {
    load common
    setup_folder
    . "$ABBA_SOURCE/tests/gate/repository.bash"
    mkdir repository && cd repository || return 1
    gate_repository "$ABBA_SOURCE/tests/gate"
}

gate() { # BASELINE CANDIDATE [OPTIONS]
    local from=$1 to=$2
    shift 2
    abba run --no-lock record/quick-read --thresholds gate --build make --product bench \
        --baseline "git:$from" --candidate "git:$to" "$@"
}

# The same until it is decided: a busy machine may leave it open, which is no answer.
gate_decided() {
    for _ in 1 2 3; do
        gate "$@"
        [ "$status" = 4 ] || return 0
    done
    skip "three times inconclusive: this machine is too noisy"
}

# METRIC:VERDICT of all judged figures
verdicts() {
    report '" ".join(m["metric"] + ":" + m["verdict"] for p in r["profiles"] for m in p["metrics"] if m["threshold"] is not None)'
}

@test "a change that costs nothing passes" {
    gate_decided v1 clean
    expect_status 0
}

@test "20 % more CPU is flagged, and passes once it is accepted" {
    gate_decided clean cpu --format json
    expect_status 1
    [[ "$(verdicts)" == *cpu_time:regressed* ]] || fail "verdicts"
    [[ "$(verdicts)" == *peak_rss:passed* ]] || fail "verdicts"
    mkdir accepted
    cat >accepted/sums.json <<'END'
{"accepted": "sums", "profile": "record/*", "metric": "cpu_time", "up_to": "40%",
 "reason": "sums are made sure of", "who": "the maintainers", "until": "2999-12-31"}
END
    gate_decided clean cpu
    expect_status 0
    expect_out "accepted up to +40.0%"
    expect_out "sums are made sure of"
}

@test "20 % more memory is flagged" {
    gate_decided rss~1 rss --confirm 0 --format json
    expect_status 1
    [[ "$(verdicts)" == *peak_rss:regressed* ]] || fail "verdicts"
    [[ "$(verdicts)" != *cpu_time:regressed* ]] || fail "verdicts"
}

@test "what fails now and then is incomplete, never red" {
    sed -i 's/    if (!s || count == 0)/    FILE *f = fopen("\/dev\/urandom", "r");\n    if (!f || getc(f) < 192)\n        return 1;\n&/' bench.c
    gate_commit "bench: flaky"
    for _ in 1 2 3; do
        gate cpu~1 main -n 6 --confirm 0
        expect_status 3
        expect_out "incomplete"
    done
}

# bats test_tags=figures
@test "a quick profile of abba's own finds both culprits, at a given rate in a private network" {
    "$ABBA" doctor --require network >/dev/null 2>doctor.txt || skip "$(head -1 doctor.txt)"
    mkdir ../flow && cd ../flow || return 1
    gate_flow_repository "$ABBA_SOURCE"
    for _ in 1 2 3; do
        abba run --no-lock flow/quick-1x-50M-clean -n 6 --confirm 0 --build make --product build/program \
            --baseline git:clean --candidate git:rss --format json
        skip_if_too_busy_for_a_network
        expect_status 1
        [[ "$(verdicts)" == *peak_rss:regressed* ]] || fail "verdicts"
        [[ "$(verdicts)" != *throughput:regressed* ]] || fail "verdicts"
        [[ "$(verdicts)" != *cpu_per_gbit:passed* ]] || fail "verdicts"
        [[ "$(verdicts)" != *cpu_per_gbit:regressed* ]] || return 0
    done
    skip "CPU three times inconclusive: this machine is too noisy"
}

@test "bisect finds the commit that costs memory, and shows the evidence" {
    head=$(git rev-parse HEAD)
    abba bisect v1 main record/quick-read --thresholds none --threshold peak_rss=10% --no-lock \
        --build make --product bench -n 6 --confirm 0 --archive found
    expect_status 0
    expect_out "culprit    $(git rev-parse rss)"
    expect_out "record: room to spare"
    expect_out "peak_rss: median change"
    for folder in found/*; do
        abba verify "$folder"
        expect_status 0
    done
    # the repository is as it was
    [ "$(git rev-parse HEAD)" = "$head" ]
    [ -z "$(git status --porcelain --untracked-files=no)" ]
    [ ! -e .git/BISECT_LOG ]
    nothing_left
}

# bats test_tags=figures
@test "bisect finds the commit that costs CPU" {
    for try in 1 2 3; do
        abba bisect v1 main --no-lock --build make --product bench -n 8 \
            --threshold cpu_time=10% --archive "found$try" -- 8000 4
        case $status in
        0) break ;;
        3) expect_err "is not worse than" ;;
        *) expect_status 4 ;;
        esac
    done
    [ "$status" = 0 ] || skip "three times undecided: this machine is too noisy"
    expect_out "culprit    $(git rev-parse cpu)"
    expect_out "record: sums are made sure of"
}

# bats test_tags=figures
@test "git bisect run with revisions as variants finds it too" {
    git bisect start main v1 >/dev/null
    git bisect run "$ABBA" run --bisect --no-lock -q record/quick-read --thresholds none \
        --threshold peak_rss=10% --build make --product bench -n 6 --confirm 0 \
        --baseline git:v1 --candidate git:HEAD >out.txt 2>&1
    [ "$(git rev-parse refs/bisect/bad)" = "$(git rev-parse rss)" ]
    git bisect reset >/dev/null 2>&1
}

@test "bisect: wrong ends, nothing to find, commits that cannot be built" {
    bisect() {
        abba bisect "$@" record/quick-read --thresholds none --threshold peak_rss=10% --no-lock \
            --build make --product bench -n 6 --confirm 0
    }
    bisect main v1
    expect_status 2
    expect_err "'v1' has no commit that 'main' lacks"
    bisect v1 nowhere
    expect_status 2
    expect_err "'nowhere' is no revision"
    bisect v1 clean
    expect_status 3
    expect_err "'clean' is not worse than 'v1'"
    abba bisect v1 main record/quick-read --build make --product bench -- 1
    expect_status 2
    # two commits that cannot be built stand before the culprit
    git checkout -q -b broken v1
    sed -i 's/^bench:/bench: nowhere/' Makefile
    gate_commit "broken"
    echo x >>README
    gate_commit "broken still"
    git checkout -q v1 -- Makefile
    gate_cost_rss
    gate_commit "record: room to spare, and it builds"
    bisect v1 broken
    expect_status 4
    expect_out "the culprit is one of 3 commits"
}

# bats test_tags=figures
@test "the shared library alone can be the variant" {
    make bench-shared >/dev/null
    cp bench-shared "$BATS_TEST_TMPDIR/bench"
    sed -i "s,\"program\": \"bench\",\"program\": \"$BATS_TEST_TMPDIR/bench\",;s,\"{rounds}\"\],&\, \"env\": {\"LD_LIBRARY_PATH\": \"{lib.folder}\"}," \
        runners/record/runner.json
    for _ in 1 2 3; do
        abba run --no-lock record/quick-read --thresholds gate --build 'make librecord.so' \
            --file lib=librecord.so --baseline git:clean --candidate git:cpu --format json
        [ "$status" = 4 ] || break
    done
    [ "$status" != 4 ] || skip "three times inconclusive: this machine is too noisy"
    expect_status 1
    [[ "$(verdicts)" == *cpu_time:regressed* ]] || fail "verdicts"
}
