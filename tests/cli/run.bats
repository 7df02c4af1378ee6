#!/usr/bin/env bats
# Profiles with thresholds, archives and verdicts.

setup() {
    load common
    setup_folder
    make_runner '{"metric": "value", "pattern": "value=(?<value>[0-9]+)", "unit": "count", "better": "lower"}'
    printf '#!/bin/sh\necho value=200\n' >worse
    chmod +x worse
}

@test "the same value on both sides passes and is archived below archive/" {
    cp program other && echo '# differs' >>other
    abba run --no-lock t/p --baseline ./program --candidate ./other --threshold value=5%
    expect_status 0
    folder=$(echo archive/*)
    [[ "$folder" =~ ^archive/[0-9]{8}T[0-9]{6}Z-t-p-[0-9a-f]{8}$ ]] || fail "folder $folder"
    expect_out "archive    $folder"
    # the last line is the digest
    digest=${output##* }
    abba verify "$folder" --digest "$digest"
    expect_status 0
}

@test "series that begin within a second get folders of their own" {
    for _ in 1 2 3 4; do
        abba run --no-lock -q -n 5 --confirm 0 t/p --baseline ./program --candidate ./worse --threshold value=5%
        expect_status 1
    done
    [ "$(entries_in archive)" = 4 ]
    for folder in archive/*; do
        [[ "$folder" =~ ^archive/[0-9]{8}T[0-9]{6}Z-t-p(-[0-9]+)?-[0-9a-f]{8}$ ]] || fail "folder $folder"
    done
}

@test "worse than the threshold is regressed" {
    abba run --no-lock t/p --baseline old=./program --candidate new=./worse --threshold value=50%
    expect_status 1
    expect_out "regressed"
    expect_out "new"
    expect_out "value: median change x200 is beyond the limit of +50%"
}

@test "a run that can judge nothing is incomplete" {
    abba run --no-lock t/p --baseline ./program --candidate ./worse
    [ "$status" = 3 ] || [ "$status" = 0 ] || fail "status"
    echo '{"thresholds": "none", "rule": "bounded", "limits": {}}' >nothing.json
    abba run --no-lock t/p --baseline ./program --candidate ./worse --thresholds ./nothing.json
    expect_status 3
}

@test "a profile that does not pass is confirmed by fresh pairs" {
    abba run --no-lock t/p --baseline ./program --candidate ./worse --threshold value=5% \
        --confirm 6 --archive a --format json
    expect_status 1
    [ "$(report 'r["profiles"][0]["stage"]')" = confirm ]
    [ "$(wc -l <a/samples.jsonl)" = 24 ]
}

@test "-n, --warmup, --pause and --timeout go before the profile's" {
    abba run --no-lock t/p --baseline ./program --candidate ./worse --plan -n 10 -w 2 --pause 5ms \
        --timeout 7s --threshold value=5%
    expect_status 0
    expect_out "10 pairs"
    expect_out "2 warm-up runs"
    expect_out "pause 5ms"
    expect_out "time-out 7s"
}

@test "several candidates are each judged" {
    abba run --no-lock t/p --baseline ./program --candidate same=./program --candidate bad=./worse \
        --threshold value=5% --format json
    expect_status 1
    [ "$(report '[m["verdict"] for m in r["profiles"][0]["metrics"] if m["metric"]=="value"]')" = "['passed', 'regressed']" ]
}

@test "arguments and environment of one side only" {
    # shellcheck disable=SC2016
    printf '#!/bin/sh\necho value=$((${1:-1} + ${PLUS:-0}))\n' >program
    abba run --no-lock t/p --baseline ./program --candidate ./program --baseline-arg 10 \
        --candidate-arg 20 --baseline-env PLUS=1 --candidate-env PLUS=2 --threshold value=5% --format json
    expect_status 1
    [ "$(report '[(m["baseline_median"], m["candidate_median"]) for m in r["profiles"][0]["metrics"] if m["metric"]=="value"]')" = "[(11, 22)]" ]
}

@test "identical programs are not run, unless asked to" {
    abba run --no-lock t/p --baseline ./program --candidate ./program --threshold value=5%
    expect_status 0
    expect_out "identical"
    abba run --no-lock t/p --baseline ./program --aa --threshold value=5%
    expect_status 0
    expect_out "baseline against itself"
}

@test "wrong use is told" {
    abba run --no-lock t/p --candidate ./worse
    expect_status 2
    expect_err "no baseline"
    abba run --no-lock t/p --baseline ./program
    expect_status 2
    expect_err "no candidate"
    abba run --no-lock t/p --baseline ./program --baseline ./worse --candidate ./worse
    expect_status 2
    expect_err "only one"
    abba run --no-lock --baseline ./program --candidate ./worse
    expect_status 2
    expect_err "PROFILE"
}

@test "a failing candidate is incomplete, and the report's first line" {
    printf '#!/bin/sh\necho oops >&2; exit 9\n' >worse
    abba run --no-lock t/p --baseline ./program --candidate ./worse --threshold value=5%
    expect_status 3
    [[ "$output" == "candidate failed in 6 runs"* ]] || fail "first line"
    expect_out "oops"
}

@test "bisect statuses" {
    abba run --no-lock t/p --baseline ./program --candidate ./worse --threshold value=5% --bisect
    expect_status 1
    printf '#!/bin/sh\nexit 9\n' >worse
    abba run --no-lock t/p --baseline ./program --candidate ./worse --threshold value=5% --bisect
    expect_status 125
    abba run --no-lock t/nothing --baseline ./program --candidate ./worse --bisect
    expect_status 255
}

@test "the built-in flow runner is judged in two of its variants" {
    abba run --no-lock flow/try-count --baseline one=flow --candidate two=flow \
        --candidate-arg=--io --candidate-arg=batch -n 6 --confirm 0 --archive a
    [ "$status" != 2 ] || skip "flow takes other words"
    [ -s a/SHA256SUMS ]
    abba verify a
    expect_status 0
}

@test "a profile whose CPUs are not there is left out, or ends it" {
    printf '{"profile": "flow/nowhere", "runner": "flow", "cpus": {"sender": "1023"}}' >nowhere.json
    abba run ./nowhere.json flow/try-count -n 6 -b single -c batch --plan
    expect_status 0
    expect_err "profile 'flow/nowhere' is left out"
    expect_out "flow --io batch"
    abba run ./nowhere.json flow/try-count -n 6 -b single -c batch --plan --unsupported fail
    expect_status 2
    expect_err "not all of the CPUs '1023' may be used here"
    abba run flow/try-count -b single -c batch --unsupported perhaps
    expect_status 2
    expect_err "skip"
}
