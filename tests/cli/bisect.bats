#!/usr/bin/env bats
# git bisect run abba ... --bisect, and abba bisect: the commit that made a program worse is found, also
# among commits that cannot be tested.

setup() {
    load common
    setup_folder
    cost=$ABBA_BUILD/cost
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a \
        GIT_COMMITTER_EMAIL=a@example.org GIT_CONFIG_GLOBAL=/dev/null
    git init -q -b main repository
    cd repository || return 1
}

commit() { # MS [BROKEN]
    printf '#!/bin/sh\n%s\nexec %s/spin %s\n' "${2:-}" "$cost" "$1" >program
    chmod +x program
    git add program
    git commit -q -m "spin $1 ${2:+broken}" --allow-empty
}

@test "the culprit is found, over a commit that cannot be tested" {
    commit 4
    git tag good
    cp program ../good
    commit 4
    commit 4
    commit 4 "exit 3" # the first to be tried
    commit 4
    commit 20
    culprit=$(git rev-parse HEAD)
    commit 20
    git bisect start HEAD good >/dev/null
    git bisect run "$ABBA" compare --bisect --no-lock -q -n 6 --threshold cpu_time=50% \
        ../good ./program >out.txt 2>&1
    [ "$(git rev-parse refs/bisect/bad)" = "$culprit" ]
    grep -q "$culprit is the first bad commit" out.txt
    git bisect log | grep -q "^git bisect skip"
}

@test "a program that is gone stops the bisection" {
    commit 4
    git tag good
    commit 4
    commit 4
    git bisect start HEAD good >/dev/null
    status=0
    git bisect run "$ABBA" compare --bisect --no-lock -q -n 6 ../nowhere ./program >out.txt 2>&1 || status=$?
    [ "$status" != 0 ]
    if grep -q "first bad commit" out.txt; then
        return 1
    fi
}

# A program that prints a value, so that no verdict depends on the machine. Without a Makefile's
# target a commit cannot be built.
value() { # VALUE|broken [TAG]
    if [ ! -e runners ]; then
        make_runner '{"metric": "value", "pattern": "value=(?<value>[0-9]+)", "unit": "count", "better": "lower"}'
        rm program
        echo out >.gitignore
    fi
    if [ "$1" = broken ]; then
        printf 'all: nowhere\n' >Makefile
    else
        printf 'all:\n\tmkdir -p out && cp prog.sh out/prog\n' >Makefile
        printf '#!/bin/sh\necho value=%s\n' "$1" >prog.sh
        chmod +x prog.sh
    fi
    echo "${2-}" >>README # a commit of its own, whatever it is about
    git add -A
    git commit -q -m "value $1"
    [ -z "${2-}" ] || git tag "$2"
}

find_culprit() { # GOOD BAD
    abba bisect "$@" t/p --thresholds none --threshold value=10% --no-lock --build make \
        --product out/prog -n 6 --confirm 0 --archive found
}

@test "commits that cannot be built are passed over" {
    value 100 good
    value broken # in the way of every halving
    value 100
    value broken
    value 101
    value 120 culprit
    value broken
    value 121
    value 120 bad
    find_culprit good bad
    expect_status 0
    expect_out "culprit    $(git rev-parse culprit)"
    expect_out "evidence   $(git rev-parse --short=12 culprit) against its parent"
    expect_out "value: median change +18.8% is beyond the limit of +10%"
    for folder in found/*; do
        abba verify "$folder"
        expect_status 0
    done
    nothing_left
}

@test "a culprit among commits that cannot be built is one of them, and they are named" {
    value 100 good
    value 100 before
    value broken first
    value broken second
    value 120 bad
    find_culprit good bad
    expect_status 4
    expect_out "the culprit is one of 3 commits, which could not all be told apart:"
    for one in first second bad; do
        expect_out "$(git rev-parse $one) value "
    done
    expect_no "$(git rev-parse before) value"
    expect_no "culprit    "
}

@test "a good end that cannot be built is a fault of the question: 2, with the end of its log" {
    value broken good
    value 100
    value 120 bad
    find_culprit good bad
    expect_status 2
    expect_err "No rule to make target 'nowhere'"
    expect_err "baseline git:$(git rev-parse good)"
    expect_no "culprit"
    nothing_left
}

@test "a bad end that cannot be built: 3, and nobody says that it is not worse" {
    value 100 good
    value 120
    value broken bad
    find_culprit good bad
    expect_status 3
    expect_err "'bad' cannot be compared with 'good'"
    expect_err "No rule to make target 'nowhere'"
    expect_err "hint: name a later good or an earlier bad commit"
    expect_no "is not worse"
}

@test "a bad end that shows nothing: 3 where it is not worse, 4 where that is open" {
    value 100 good
    value 101 same
    printf 'all:\n\tmkdir -p out && cp prog.sh out/prog\n' >Makefile
    # every other run is worse, by a file that stands for the machine
    printf '#!/bin/sh\nif mkdir "%s"; then echo value=150; else rmdir "%s" && echo value=90; fi\n' \
        "$PWD/../odd" "$PWD/../odd" >prog.sh
    git commit -q -a -m open && git tag open
    find_culprit good same
    expect_status 3
    expect_err "'same' is not worse than 'good': passed"
    rm -r found
    find_culprit good open
    expect_status 4
    expect_err "'open' is not shown to be worse than 'good'"
}

@test "a culprit whose parent cannot be built is shown against the good end" {
    value 100 good
    value broken base
    value 100 one
    value 100 two
    value 101 three
    git checkout -q -b other base
    value 120 culprit
    git checkout -q main
    git merge -q -X theirs -m merge other >/dev/null 2>&1
    git tag bad
    find_culprit good bad
    expect_status 0
    expect_out "culprit    $(git rev-parse culprit)"
    expect_err "its parent cannot be tested, so it is 'good'"
    expect_out "value: median change +20.0%"
}

@test "two searches begun at once have folders of their own" {
    value 100 good
    value 100 same
    seek() {
        "$ABBA" bisect good same t/p --thresholds none --threshold value=10% --no-lock --build make \
            --product out/prog -n 6 --confirm 0 -q
    }
    seek 2>one.txt &
    first=$!
    seek 2>two.txt || true
    wait "$first" || true
    ! grep -q "exists already" one.txt two.txt || fail "one folder"
    [ "$(entries_in archive)" = 2 ]
}

@test "a signal ends a search, while it builds and while it runs, and nothing is left behind" {
    value 100 good
    value 100
    printf 'all:\n\ttouch started && sleep 300.375\n' >Makefile
    git commit -q -a -m slow
    slow=$(git rev-parse HEAD)
    value 120 bad
    printf '#!/bin/sh\necho value=130; exec sleep 300.625\n' >prog.sh
    git commit -q -a -m endless && git tag endless
    ended() { # COMMAND-THAT-IS-WAITED-FOR BAD
        "$ABBA" bisect good "$2" t/p --thresholds none --threshold value=10% --no-lock --build make \
            --product out/prog -n 6 --confirm 0 --archive "until-$2" >out.txt 2>err.txt &
        pid=$!
        wait_for pgrep -f "$1" >/dev/null
        kill -TERM "$pid"
        status=0
        wait "$pid" || status=$?
        [ "$status" = 143 ] || { cat out.txt err.txt && return 1; }
        wait_for no_process "$1"
        ! grep -q "culprit" out.txt
        nothing_left
    }
    ended 'sleep 300.375' "$slow"
    ended 'sleep 300.625' endless
}
