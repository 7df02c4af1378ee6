#!/usr/bin/env bats
# git bisect run abba ... --bisect finds the commit that made a program slower.

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
