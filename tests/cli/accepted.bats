#!/usr/bin/env bats
# Changes that were agreed to, series that were run before, and profiles of one side only.

setup() {
    load common
    setup_folder
    make_runner '{"metric": "value", "pattern": "value=(?<value>[0-9]+)", "unit": "count", "better": "lower"}'
    printf '#!/bin/sh\necho value=100\n' >program
    printf '#!/bin/sh\necho value=120\n' >v120
    printf '#!/bin/sh\necho value=150\n' >v150
    chmod +x program v120 v150
    mkdir accepted
    accept agreed t/p value 25% 2999-12-31
}

accept() { # NAME PROFILE METRIC UP-TO UNTIL
    cat >accepted/"$1".json <<END
{"accepted": "$1", "profile": "$2", "metric": "$3", "up_to": "$4", "reason": "checksums, <b>now</b>",
 "who": "an engineer", "until": "$5"}
END
}

judge() { # PROGRAM [OPTIONS]
    local program=$1
    shift
    abba run --no-lock t/p --thresholds none --threshold value=10% --baseline ./program \
        --candidate "./$program" "$@"
}

@test "a change that was agreed to is accepted: exit 0, and said in the open" {
    judge v120 --archive a
    expect_status 0
    expect_out "accepted"
    expect_out "accepted up to +25.0% until"
    expect_out "2999-12-31 by an engineer: checksums, <b>now</b> (accepted/agreed.json)"
    abba verify a
    expect_status 0
    abba report a --format json
    expect_status 0
    [ "$(report 'r["verdict"], [m["accepted"][0]["up_to"] for m in r["profiles"][0]["metrics"] if m["metric"] == "value"]')" = "accepted [0.25]" ]
    abba report a --format markdown
    expect_out "accepted"
    expect_no "<b>now"
    abba report a --format junit
    expect_no "<failure"
}

@test "worse than accepted is regressed; without it too" {
    judge v150
    expect_status 1
    expect_out "it is accepted only up to +25.0%"
    judge v120 --no-accepted
    expect_status 1
    abba compare --no-lock -n 6 --threshold value=10% ./program ./v120 2>/dev/null
    [ "$status" != 1 ]
}

@test "one that has expired is not applied, and warned of" {
    accept agreed t/p value 25% 2020-02-29
    judge v120 --archive a
    expect_status 1
    expect_out "warning: the accepted change 'agreed' (value of t/p) has expired on 2020-02-29"
    abba verify a
    expect_status 0
}

@test "one that nobody needs, or that judges nothing, is warned of" {
    accept idle 't/*' wall_time 25% 2999-12-31
    accept elsewhere other/p value 25% 2999-12-31
    judge program --candidate-arg x
    expect_status 0
    expect_out "'agreed' is unused: value of t/p passes without it"
    expect_out "'idle' is unused: no limit judges wall_time of t/*"
    expect_err "'elsewhere' is of profile 'other/p', which is not run here"
}

@test "it is part of the plan, by name or all that lie here" {
    judge v120 --plan --format json
    with=$output
    judge v120 --plan --format json --accepted agreed
    [ "$output" = "$with" ]
    judge v120 --plan --format json --no-accepted
    [ "$output" != "$with" ]
    [[ "$with" == *'"up_to":"25%"'* ]] || fail "not in the plan"
}

@test "faults name file and place" {
    accept agreed t/p value 25 2999-12-31
    judge v120
    expect_status 2
    expect_err "accepted/agreed.json"
    accept agreed t/p value 25% 2999-02-30
    judge v120
    expect_status 2
    expect_err "'2999-02-30' is no day"
    accept agreed t/p value 25% 2999-02-28
    mv accepted/agreed.json accepted/other.json
    judge v120
    expect_status 2
    expect_err "a file's name is its id"
    judge v120 --accepted nowhere
    expect_status 2
    expect_err "no accepted change 'nowhere'"
}

@test "the same plan again is attempt 2, and the report lists the earlier verdict" {
    judge v150 --archive all/one
    expect_status 1
    expect_no "attempt"
    digest=${output##* }
    judge v120 --archive all/another # another plan
    judge v150 --archive all/two
    expect_out "attempt 2"
    expect_out "digest ${digest:0:16}"
    # the archive holds it: moved elsewhere, it says the same
    mv all/two elsewhere
    abba verify elsewhere
    expect_status 0
    abba report elsewhere --format json
    [ "$(report '[(e["archive"], e["verdict"], e["digest"]) for e in r["earlier"]]')" = "[('one', 'regressed', '$digest')]" ]
    # one that was broken off counts
    mv elsewhere all/two
    rm all/two/SHA256SUMS
    judge v150 --archive all/three
    expect_out "attempt 3"
    expect_out "unfinished"
}

@test "a run that judged nothing is incomplete" {
    abba run --no-lock t/p --thresholds none --baseline ./program --candidate ./v120
    expect_status 3
}

@test "a baseline that fails early while the candidate works gives no ratio" {
    printf '#!/bin/sh\necho value=100\nexit 1\n' >program
    judge v120 --format json
    expect_status 3
    [ "$(report '{m["median_change"] for m in r["profiles"][0]["metrics"]}')" = "{None}" ]
}

@test "a profile that one revision only has is new: nothing is run, nothing passed" {
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a \
        GIT_COMMITTER_EMAIL=a@example.org GIT_CONFIG_GLOBAL=/dev/null
    rm accepted/*
    git init -q -b main . && git add -A && git commit -q -m one && git tag first
    sed 's,t/p,t/q,' profiles/t/p.json >profiles/t/q.json
    cp v120 program && git add -A && git commit -q -m two
    abba run --no-lock t/p t/q --thresholds none --threshold value=50% --product program \
        --baseline git:first --candidate git:HEAD --archive a --format json
    expect_status 0
    [ "$(report '[p["verdict"] for p in r["profiles"]]')" = "['passed', 'new']" ]
    [ "$(wc -l <a/samples.jsonl)" = 12 ]
    abba verify a
    expect_status 0
    abba report a
    expect_out "only the candidate's revision has this profile"
    abba run --no-lock t/q --thresholds none --threshold value=50% --product program \
        --baseline git:first --candidate git:HEAD
    expect_status 3
    expect_out "new"
}

@test "a budget refuses what cannot end in time, with the estimate" {
    sed -i 's/"pause"/"takes": "2s", "pause"/' profiles/t/p.json
    judge v120 --budget 10s --confirm 10
    expect_status 2
    expect_err "the series takes about 26 s, and 1 min 10 s with all confirming pairs; the budget is 10 s"
    judge program --candidate-arg x --budget 1min
    expect_status 0
    sed -i 's/"takes": "2s", //' profiles/t/p.json
    judge v120 --budget 10s
    expect_status 2
    expect_err "nobody knows what a run of 't/p' takes"
    judge v120 --budget 0s
    expect_status 2
}

@test "a glob runs all profiles that it matches" {
    sed 's,t/p,t/q,' profiles/t/p.json >profiles/t/q.json
    abba run --no-lock 't/*' --thresholds none --threshold value=50% --baseline ./program \
        --candidate ./v120 --format json
    expect_status 0
    [ "$(report '[p["profile"] for p in r["profiles"]]')" = "['t/p', 't/q']" ]
    abba run 't/x*' --baseline ./program --candidate ./v120
    expect_status 2
    expect_err "no profile matches 't/x*'"
}

@test "the quick profiles decide within ten minutes, with all confirming pairs" {
    local set
    for set in 'flow/quick-*' 'rtc/quick-*' 'srt-live-transmit/quick-*' 'srt-neighbour/quick-*' \
        'srt/quick-1x-50M-*aes* srt/quick-1x-50M-clean srt/quick-1x-50M-light srt/quick-32x-320M-clean'; do
        # shellcheck disable=SC2086
        (set -f && "$ABBA" run $set -b x=/bin/true -c y=/bin/true --budget 10min --plan >/dev/null 2>err.txt) ||
            { cat err.txt && return 1; }
    done
    abba run 'srt/quick-*' -b x=/bin/true -c y=/bin/true --budget 10min --plan
    expect_status 2
    expect_err "with all confirming pairs; the budget is 10 min 00 s"
}
