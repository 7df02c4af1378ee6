#!/usr/bin/env bats
# Revisions of a repository as variants: found, built apart, and told in the archive.

setup() {
    load common
    setup_folder
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a \
        GIT_COMMITTER_EMAIL=a@example.org GIT_CONFIG_GLOBAL=/dev/null
    git init -q -b main repository
    cd repository || return 1
    make_runner '{"metric": "value", "pattern": "value=(?<value>[0-9]+)", "unit": "count", "better": "lower"}'
    rm program
    printf 'all: out/prog\nout/prog: prog.sh\n\tmkdir -p out && cp $< $@ && chmod +x $@\nno:\n\t@echo this is why && false\n' >Makefile
    echo out >.gitignore
    commit 100
    git tag first
}

commit() { # VALUE
    printf '#!/bin/sh\necho value=%s "$@"\n' "$1" >prog.sh
    git add -A
    git commit -q -m "value $1"
}

gate() {
    abba run --no-lock t/p --thresholds none --build make --product out/prog --threshold value=10% "$@"
}

build_started() {
    compgen -G "$HOME/.cache/abba/builds/*/tree/started" >/dev/null
}

source_of() { # VARIANT EXPRESSION on v
    python3 -c "import json; v=[v for v in json.load(open('a/series.json'))['plan']['variants'] if v['variant']=='$1'][0]; print($2)"
}

@test "two revisions are built and judged; commits and commands are in the archive" {
    commit 150
    gate --baseline git:first --candidate git:HEAD --archive a
    expect_status 1
    expect_out "value: median change +50.0% is beyond the limit"
    expect_out "git:first ($(git rev-parse --short=12 first))"
    [ "$(source_of candidate 'v["source"]["commit"]')" = "$(git rev-parse HEAD)" ]
    [ "$(source_of candidate 'v["source"]["tree"]')" = "$(git rev-parse 'HEAD^{tree}')" ]
    [ "$(source_of baseline 'v["source"]["build"]["command"]')" = "['make']" ]
    abba verify a
    expect_status 0
    [ -z "$(git status --porcelain --untracked-files=no)" ]
    nothing_left
}

@test "paths of both builds are equally long, and a build is made once" {
    commit 150
    gate --baseline git:first --candidate git:HEAD --archive a
    old=$(source_of baseline 'v["program"]') new=$(source_of candidate 'v["program"]')
    [ "$old" != "$new" ]
    [ "${#old}" = "${#new}" ]
    expect_err "building the baseline, first"
    gate --baseline git:first --candidate git:HEAD --plan
    expect_no "building"
    # one that somebody has tidied away is told as such
    rm "$(compgen -G "$HOME/.cache/abba/builds/*/tree/out/prog" | head -n 1)"
    gate --baseline git:first --candidate git:HEAD --plan
    expect_err "the build left no file 'out/prog'"
    expect_err "hint: it was made earlier and kept; without the folder '$HOME/.cache/abba/builds/"
}

@test "the baseline is the common ancestor, unless that is declined" {
    git checkout -q -b topic
    commit 101
    git checkout -q main
    commit 60
    git checkout -q topic
    gate --baseline git:main --candidate git:topic --archive a
    expect_status 0
    [ "$(source_of baseline 'v["source"]["commit"]')" = "$(git rev-parse first)" ]
    expect_out "common ancestor of main and topic"
    gate --baseline git:main --candidate git:topic --no-merge-base --archive b
    expect_status 1
}

@test "worktree is the files as they stand: changed, new, but not ignored ones" {
    # shellcheck disable=SC2016
    printf '#!/bin/sh\n. "$(dirname "$0")/../extra"\necho value=$v\n' >prog.sh
    echo v=200 >extra
    echo ignored >.gitignore && echo v=1 >ignored
    index=$(sha256sum .git/index)
    objects=$(find .git/objects | wc -l)
    gate --baseline git:HEAD --candidate worktree --archive a
    expect_status 1
    expect_out "worktree ($(git rev-parse --short=12 HEAD) + changes)"
    [ "$(source_of candidate 'v["source"]["changed"]')" = True ]
    [ ! -e "$(source_of candidate 'v["program"]' | sed "s,\${HOME},$HOME,;s,/out/prog,,")/ignored" ]
    # nothing in the repository has changed
    [ "$index" = "$(sha256sum .git/index)" ]
    [ "$objects" = "$(find .git/objects | wc -l)" ]
}

@test "a work tree as the baseline is what stands there, not an ancestor" {
    commit 150
    printf '#!/bin/sh\necho value=200\n' >prog.sh
    gate --baseline worktree --candidate git:HEAD --archive a
    expect_status 0
    [ "$(source_of baseline 'v["source"]["changed"]')" = True ]
    expect_out "worktree ($(git rev-parse --short=12 HEAD) + changes)"
    expect_no "common ancestor"
}

@test "a dirty tree is noted where its commit is measured, and the same source is identical" {
    echo '# changed' >>Makefile
    gate --baseline git:HEAD --candidate git:HEAD
    expect_err "the work tree has changes (1 file) that are not in 'HEAD'; --candidate worktree has them"
    expect_out "identical"
}

@test "an unmerged tree is refused" {
    git checkout -q -b other && commit 1
    git checkout -q main && commit 2
    git merge -q other >/dev/null || true
    gate --baseline git:HEAD --candidate worktree
    expect_status 2
    expect_err "worktree: the work tree has unmerged files, such as 'prog.sh'"
}

@test "compare takes the arguments behind --" {
    commit 150
    abba compare --no-lock -n 6 --baseline git:first --candidate git:HEAD --build make \
        --product out/prog --archive a -- 'x y' -z
    expect_status 0
    grep -rqx "value=100 x y -z" a/raw
    grep -rqx "value=150 x y -z" a/raw
}

@test "unknown revisions, and none at all" {
    gate --baseline git:nowhere --candidate git:HEAD
    expect_status 2
    expect_err "baseline: 'nowhere' is no revision of the repository"
    gate --baseline git:--help --candidate git:HEAD
    expect_status 2
    expect_err "'--help' is no revision"
    gate --baseline git: --candidate git:HEAD
    expect_status 2
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir -p empty && cd empty || return 1
    GIT_CEILING_DIRECTORIES=$BATS_TEST_TMPDIR gate --baseline git:a --candidate git:b
    expect_status 2
}

@test "a shallow clone names the fetch command" {
    commit 150
    git clone -q --depth 1 "file://$PWD" ../shallow
    cd ../shallow || return 1
    gate --baseline git:first --candidate git:HEAD
    expect_status 2
    expect_err "git fetch --unshallow origin"
    gate --baseline git:HEAD --candidate worktree
    expect_status 2
    expect_err "the clone is shallow"
    expect_err "git fetch --unshallow origin"
}

@test "a build that fails: 2 for the baseline, 3 for the candidate, with the end of its log" {
    git checkout -q -b broken
    sed -i 's/^all:.*/all: no/' Makefile
    git commit -q -a -m broken
    gate --no-merge-base --baseline git:broken --candidate git:first
    expect_status 2
    expect_err "this is why"
    expect_err "baseline git:broken"
    gate --baseline git:first --candidate git:broken -q
    expect_status 3
    expect_err "this is why"
    expect_err "the build ended with status 2"
    gate --baseline git:first --candidate git:broken --bisect -q
    expect_status 125
    gate --no-merge-base --baseline git:broken --candidate git:first --bisect -q
    expect_status 255
}

@test "a product that is missing, leads out, or was not named" {
    abba run --no-lock t/p --build make --product out/none --baseline git:first --candidate git:first
    expect_status 2
    expect_err "the build left no file 'out/none'"
    abba run --no-lock t/p --build make --product ../../x --baseline git:first --candidate git:first
    expect_status 2
    abba run --no-lock t/p --build make --product /bin/true --baseline git:first --candidate git:first
    expect_status 2
    expect_err "'/bin/true' is no path within the build"
    abba run --no-lock t/p --build make --baseline git:first --candidate git:first
    expect_status 2
    expect_err "--product PATH"
    abba run --no-lock t/p --build make --baseline ./x --candidate ./y
    expect_status 2
    expect_err "option '--build' is for variants of a git repository"
}

@test "a candidate's product that leads out or cannot be executed is its fault, not the question's" {
    printf 'all:\n\tmkdir -p out && ln -s /bin/true out/prog\n' >Makefile
    git commit -q -a -m leads
    gate --baseline git:first --candidate git:HEAD
    expect_status 3
    expect_err "'out/prog' leads out of the build, to '"
    printf 'all:\n\tmkdir -p out && cp prog.sh out/prog && chmod -x out/prog\n' >Makefile
    git commit -q -a -m plain
    gate --baseline git:first --candidate git:HEAD
    expect_status 3
    expect_err "'out/prog' of the build is not executable"
}

@test "what a build leaves running is ended before anything is measured" {
    printf 'all:\n\tmkdir -p out && cp prog.sh out/prog && chmod +x out/prog\n\tsleep 300.175 & echo left\n' >Makefile
    git commit -q -a -m leaves
    gate --baseline git:first --candidate git:HEAD --archive a
    expect_status 0
    no_process 'sleep 300.175'
}

@test "a build that writes outside of its folder fails" {
    printf 'all:\n\techo x >%s/outside\n' "$BATS_TEST_TMPDIR" >Makefile
    git commit -q -a -m outside
    gate --baseline git:first --candidate git:HEAD
    if [ "$status" = 0 ]; then
        expect_err "no Landlock"
        skip "this kernel has no Landlock"
    fi
    expect_status 3
    expect_err "--build-writes FOLDER allows another"
    [ ! -e "$BATS_TEST_TMPDIR/outside" ]
    printf 'all:\n\techo x >%s/outside && mkdir -p out && cp prog.sh out/prog && chmod +x out/prog\n' \
        "$BATS_TEST_TMPDIR" >Makefile
    git commit -q -a -m outside
    gate --baseline git:first --candidate git:HEAD --build-writes "$BATS_TEST_TMPDIR"
    expect_status 0
    [ -e "$BATS_TEST_TMPDIR/outside" ]
}

@test "no shell runs, no hook, no configuration of the user's" {
    gate --build 'make > out' --baseline git:first --candidate git:first 2>/dev/null || true
    abba run --no-lock t/p --build 'make >out' --product out/prog --baseline git:first --candidate git:first
    expect_status 2
    expect_err "No rule to make target '>out'"
    mkdir -p hooks
    for hook in post-checkout post-index-change reference-transaction; do
        printf '#!/bin/sh\ntouch "%s/hooked"\n' "$BATS_TEST_TMPDIR" >hooks/$hook && chmod +x hooks/$hook
    done
    git config core.hooksPath hooks
    git config core.fsmonitor "$PWD/hooks/post-checkout"
    printf '[alias]\n\trev-parse = !touch %s/aliased\n[core]\n\tpager = touch %s/paged\n' \
        "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/config"
    rm -f "$BATS_TEST_TMPDIR/hooked"
    GIT_CONFIG_GLOBAL=$BATS_TEST_TMPDIR/config GIT_DIR=/nowhere GIT_INDEX_FILE=/nowhere GIT_TRACE=1 \
        gate --baseline git:first --candidate worktree
    expect_status 0
    [ ! -e "$BATS_TEST_TMPDIR/hooked" ]
    [ ! -e "$BATS_TEST_TMPDIR/aliased" ]
    [ ! -e "$BATS_TEST_TMPDIR/paged" ]
}

@test "a library out of the build fills {lib} where the runner says" {
    cat >lib.c <<'END'
int figure(void) { return FIGURE; }
END
    cat >use.c <<'END'
#include <stdio.h>
int figure(void);
int main(void) { return printf("value=%d\n", figure()) < 0; }
END
    # shellcheck disable=SC2016
    printf 'FIGURE=7\nlibf.so: lib.c\n\t$(CC) -DFIGURE=$(FIGURE) -shared -fPIC -o $@ $<\n' >Makefile
    git add -A && git commit -q -m library
    git tag library
    sed -i s/FIGURE=7/FIGURE=9/ Makefile
    git commit -q -a -m worse
    cc -DFIGURE=1 -shared -fPIC -o ../libf.so lib.c
    cc -o ../use use.c ../libf.so
    cat >runners/t/runner.json <<END
{"runner": "t", "description": "of a test", "program": "$PWD/../use",
 "roles": {"only": {"command": ["{program}"], "env": {"LD_LIBRARY_PATH": "{lib.folder}", "LD_PRELOAD": "{lib}"}}},
 "metrics": [{"metric": "value", "pattern": "value=(?<value>[0-9]+)", "unit": "count", "better": "lower"}]}
END
    abba run --no-lock t/p --thresholds none --build make --file lib=libf.so --threshold value=10% \
        --baseline git:library --candidate git:HEAD --archive a
    expect_status 1
    expect_out "baseline   git:library ($(git rev-parse --short=12 library))"
    expect_out "candidate  git:HEAD ($(git rev-parse --short=12 HEAD))"
    grep -rqx "value=7" a/raw
    grep -rqx "value=9" a/raw
    [ "$(source_of candidate 'sorted(v["files"]["lib"])')" = "['file', 'sha256', 'size']" ]
    # and compare, where the variant's own environment is filled
    abba compare --no-lock -n 6 --build make --file lib=libf.so --baseline git:library \
        --candidate git:HEAD --baseline-env 'LD_PRELOAD={lib}' --candidate-env 'LD_PRELOAD={lib}' \
        --archive b -- "$PWD/../use"
    expect_status 0
    grep -rqx "value=9" b/raw
    # a variant without the file
    abba run --no-lock t/p --baseline x=/bin/true --candidate y=/bin/true
    expect_status 2
    expect_err "unknown name '{lib.folder}'"
}

@test "a candidate may replace one role only" {
    cat >runners/t/runner.json <<'END'
{"runner": "t", "description": "of a test",
 "roles": {"a": {"command": ["{program}", "a"]}, "b": {"command": ["{program}", "b"]}},
 "metrics": [{"metric": "value", "role": "a", "pattern": "value=(?<value>[0-9]+)", "unit": "count", "better": "lower"},
             {"metric": "other", "role": "b", "pattern": "value=(?<value>[0-9]+)", "unit": "count", "better": "lower"}]}
END
    commit 150
    gate --baseline git:first --candidate git:HEAD --candidate-role b --threshold other=10% \
        --format json --archive a
    expect_status 1
    [ "$(report '[(m["metric"], m["candidate_median"]) for m in r["profiles"][0]["metrics"] if m["metric"] in ("value", "other")]')" = \
        "[('value', 100), ('other', 150)]" ]
    # the same in a variant's file
    git show first:prog.sh >../old && git show HEAD:prog.sh >../new && chmod +x ../old ../new
    echo "{\"variant\": \"mixed\", \"roles\": {\"a\": {\"program\": \"$PWD/../new\"}}}" >mixed.json
    abba run --no-lock t/p --thresholds none --threshold value=10% --format json \
        --baseline ../old --candidate mixed.json
    expect_status 1
    [ "$(report '[(m["metric"], m["candidate_median"]) for m in r["profiles"][0]["metrics"] if m["metric"] in ("value", "other")]')" = \
        "[('value', 150), ('other', 100)]" ]
    gate --baseline git:first --candidate git:HEAD --candidate-role c
    expect_status 2
    expect_err "runner 't' has no role 'c'"
}

@test "a control shows what another build of the baseline's own source does, and judges nothing" {
    # shellcheck disable=SC2016
    printf 'all: out/prog\nout/prog: prog.sh\n\tmkdir -p out && sed "s/=100/=$${V:-100}/" $< >$@ && chmod +x $@\n' >Makefile
    commit 100
    git tag base
    echo '# nothing' >>Makefile
    git commit -q -a -m nothing
    abba run --no-lock t/p --thresholds none --threshold value=10% --build make \
        --product out/prog --baseline git:base --candidate git:HEAD \
        --control 'env V=130 make' --archive a --format json
    expect_status 0
    [ "$(report '[(m["candidate"], m["verdict"], m["threshold"]) for m in r["profiles"][0]["metrics"] if m["metric"] == "value"]')" = \
        "[('candidate', 'passed', 0.1), ('control', 'not_judged', None)]" ]
    abba report a
    expect_out "the baseline's own source, built otherwise, changes value by"
    expect_out "layout alone moves this figure by"
    abba verify a
    expect_status 0
    abba run --no-lock t/p --product out/prog --baseline git:base --candidate git:HEAD --control make
    expect_status 2
    expect_err "'--control' needs '--build'"
}

# SIGTERM to abba while it builds: exit status 143, and neither the build nor a folder of it is left.
signal_while_building() { # RECIPE COMMAND-THAT-RUNS
    printf 'all:\n\t%s\n' "$1" >Makefile
    git commit -q -a -m slow
    "$ABBA" run --no-lock t/p --build make --product out/prog --baseline git:HEAD \
        --candidate git:first --no-merge-base -q >out.txt 2>err.txt &
    pid=$!
    wait_for build_started
    kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" = 143 ]
    wait_for no_process "$2"
    nothing_left
}

@test "a signal ends a build, and nothing is left behind" {
    signal_while_building 'touch started && sleep 300.125' 'sleep 300.125'
}

@test "a build that will not hear of a signal is killed" {
    signal_while_building 'trap "" TERM; touch started; sleep 300.225; sleep 300.225' 'sleep 300.225'
}
