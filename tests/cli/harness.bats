#!/usr/bin/env bats
# The tools that the other tests and the checks stand on.

setup() {
    cd "$ABBA_SOURCE" || return 1
}

# Runs run.sh in a source tree whose one unit test program is the script on standard input.
tree_with_program() {
    tree=$BATS_TEST_TMPDIR/tree
    mkdir -p "$tree/tests/unit" "$tree/programs"
    cp tests/run.sh "$tree/tests"
    : >"$tree/tests/unit/test_it.c"
    { echo '#!/bin/sh' && cat; } >"$tree/programs/test_it"
    chmod +x "$tree/programs/test_it"
    export ABBA_BUILD=$tree/build TEST_PROGRAMS=$tree/programs
    run "$tree/tests/run.sh"
}

@test "run.sh ends with the counts and exits 0 when all pass" {
    tree_with_program <<<'printf "1..2\nok 1 - a\nok 2 - b\n"'
    [ "$status" = 0 ]
    [ "${lines[-1]}" = "2 passed, 0 failed" ]
}

@test "run.sh counts skipped tests apart and names them" {
    tree_with_program <<<'printf "1..2\nok 1 - a\nnot ok 2 # SKIP no PMU\n"'
    [ "$status" = 0 ]
    [ "${lines[-1]}" = "1 passed, 0 failed, 1 skipped" ]
    [[ "$output" == *"no PMU"* ]]
}

@test "run.sh counts a failed test and shows why" {
    tree_with_program <<<'printf "1..2\nok 1 - a\nnot ok 2 - b\n# 1 != 2\n"; exit 1'
    [ "$status" = 1 ]
    [ "${lines[-1]}" = "1 passed, 1 failed" ]
    [[ "$output" == *"FAILED: unit/it: b"* ]]
    [[ "$output" == *"1 != 2"* ]]
}

@test "run.sh counts what a crashed program no longer ran as failed" {
    tree_with_program <<<'printf "1..3\nok 1 - a\n"; kill -SEGV $$'
    [ "$status" = 1 ]
    [ "${lines[-1]}" = "1 passed, 2 failed" ]
}

@test "run.sh takes a plan after its tests, and several groups" {
    tree_with_program <<<'printf "ok 1 - a\nok 2 - b\n1..2\n"'
    [ "${lines[-1]}" = "2 passed, 0 failed" ]
    tree_with_program <<<'printf "ok 1 - a\n1..2\n"'
    [ "${lines[-1]}" = "1 passed, 1 failed" ]
    tree_with_program <<<'printf "1..1\nok 1 - a\n1..2\nok 1 - b\nok 2 - c\n"'
    [ "${lines[-1]}" = "3 passed, 0 failed" ]
}

@test "run.sh counts a program that ends badly after its last test as failed" {
    tree_with_program <<<'printf "1..1\nok 1 - a\n"; exit 23'
    [ "$status" = 1 ]
    [ "${lines[-1]}" = "1 passed, 1 failed" ]
}

@test "run.sh fails where a program runs no test, or no test is found" {
    tree_with_program <<<'exit 0'
    [ "$status" = 1 ]
    [ "${lines[-1]}" = "0 passed, 1 failed" ]
    run "$tree/tests/run.sh" unit/other
    [ "$status" = 1 ]
    [ "${lines[-1]}" = "0 passed, 0 failed" ]
}

@test "layers.sh names file and line of an include that runs up or across" {
    mkdir -p "$BATS_TEST_TMPDIR"/src/{base,net,run,judge}
    cd "$BATS_TEST_TMPDIR"
    printf '\n#include "run/run.h"\n' >src/base/a.c
    printf '#include "net/net.h"\n' >src/run/b.h
    printf '#include "archive/reader.h"\n#include "archive/writer.h"\n' >src/judge/c.c
    run "$ABBA_SOURCE/tests/layers.sh" src
    [ "$status" = 1 ]
    [[ "$output" == *"src/base/a.c:2: "* ]]
    [[ "$output" == *"src/run/b.h:1: "* ]]
    [[ "$output" == *"src/judge/c.c:2: "* ]]
    [[ "$output" != *"src/judge/c.c:1: "* ]]
}

@test "layers.sh refuses a library in a header, and in two sources" {
    mkdir -p "$BATS_TEST_TMPDIR"/src/{base,net}
    cd "$BATS_TEST_TMPDIR"
    printf '#include <stdio.h>\n#include <pcre2.h>\n' >src/base/a.c
    printf '#include <stdio.h>\n#include <pcre2.h>\n' >src/net/b.c
    printf '#include <cjson/cJSON.h>\n' >src/net/c.h
    run "$ABBA_SOURCE/tests/layers.sh" src
    [ "$status" = 1 ]
    [[ "$output" == *"src/net/b.c:2: <pcre2.h>: its home is"* ]]
    [[ "$output" == *"src/net/c.h:1: "* ]]
    [[ "$output" != *stdio* ]]
}

@test "layers.sh names what the map of the house leaves out" {
    mkdir -p "$BATS_TEST_TMPDIR"/src/{base,net}
    cd "$BATS_TEST_TMPDIR"
    cat >src/ARCHITECTURE.md <<'END'
**base**: nothing.
`a` what it is

**net**: more.
`b` other

`c` is in no room
END
    for file in base/a.c base/a_part.c base/b.c net/b.h net/c.c; do echo >"src/$file"; done
    run "$ABBA_SOURCE/tests/layers.sh" src
    [ "$status" = 1 ]
    [[ "$output" == *'"c" in the paragraph of net'* ]] || { echo "$output"; false; }
    [[ "$output" == *' 2 breaches' ]]
    [[ "$output" == *'"b" in the paragraph of base'* ]]
}

@test "the source tree keeps its layers" {
    run tests/layers.sh
    echo "$output"
    [ "$status" = 0 ]
}

# A folder of commands in which only a few can be found.
few_commands() {
    bin=$BATS_TEST_TMPDIR/bin
    mkdir -p "$bin"
    for tool in sh awk tr sed env id dirname make; do
        ln -s "$(command -v "$tool")" "$bin/$tool"
    done
}

@test "setup.sh says what is missing and stops with 2 where there is no apt-get" {
    few_commands
    run env PATH="$bin" tests/setup.sh lint
    [ "$status" = 2 ]
    [[ "$output" == *"missing: gcc "*"shellcheck"* ]]
    [[ "$output" == *"no apt-get here"* ]]
}

@test "setup.sh installs all that is missing in one apt-get install" {
    few_commands
    printf '#!/bin/sh\nprintf "apt-get %%s\\n" "$*" >>"%s"\n' "$BATS_TEST_TMPDIR/calls" >"$bin/apt-get"
    printf '#!/bin/sh\nexec "$@"\n' >"$bin/sudo"
    chmod +x "$bin/apt-get" "$bin/sudo"
    run env PATH="$bin" tests/setup.sh lint
    [ "$status" = 2 ] # the stand-in installs nothing
    [[ "$output" == *"still missing: "*"shellcheck"* ]]
    [ "$(grep -c ' install ' "$BATS_TEST_TMPDIR/calls")" = 1 ]
    grep ' install .*gcc.*shellcheck' "$BATS_TEST_TMPDIR/calls"
}

@test "setup.sh is silent and calls nothing when all is there" {
    tests/setup.sh --check test || skip "this machine lacks something"
    run tests/setup.sh test
    [ "$status" = 0 ]
    [ -z "$output" ]
}
