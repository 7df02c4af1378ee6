#!/usr/bin/env bats
# Help, manual page and completion agree with what is parsed.

setup() {
    load common
    setup_folder
    commands=$("$ABBA" --help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p')
}

@test "--help and help say the same, for abba and every sub-command" {
    [ "$("$ABBA" --help)" = "$("$ABBA" help)" ]
    [ -n "$commands" ]
    for c in $commands; do
        abba "$c" --help
        expect_status 0
        expect_out "Usage: abba $c"
        expect_out "Exit status"
        [ "$output" = "$("$ABBA" help "$c")" ]
    done
}

@test "every option that help shows is understood" {
    for c in $commands; do
        "$ABBA" "$c" --help | sed -n '/^Examples/q; s/^  *\(-[A-Za-z], \)*\(--[a-z-]*\).*/\2/p' >options
        [ -s options ]
        while read -r option; do
            abba "$c" "$option" --help
            expect_no "unknown option"
        done <options
    done
}

@test "the version is told in three ways" {
    [[ "$("$ABBA" --version)" == "abba "* ]]
    [ "$("$ABBA" version)" = "$("$ABBA" --version)" ]
    [ "$("$ABBA" -V)" = "$("$ABBA" --version)" ]
}

@test "the manual page has no fault and every option" {
    "$ABBA" manual >abba.1
    for option in pairs threshold bisect require digest candidate-env; do
        grep -qF -- "\\-\\-${option//-/\\-}" abba.1 || fail "no $option"
    done
    for word in change spread bound sees alarms noisy pairing; do
        sed -n '/^.SH READING/,/^.SH EXIT/p' abba.1 | grep -q "^\.B.*$word" || fail "no $word"
    done
    command -v groff >/dev/null || command -v mandoc >/dev/null || skip "no groff, no mandoc"
    if command -v groff >/dev/null; then
        [ -z "$(groff -man -Tascii -ww abba.1 2>&1 >/dev/null)" ]
    fi
}

@test "bash completes sub-commands, options, choices and profiles" {
    "$ABBA" completion bash >completion.bash
    bash -n completion.bash
    complete_words() {
        bash -c 'source ./completion.bash; shift 0
            abba() { '"$ABBA"' "$@"; }
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _abba; printf "%s\n" "${COMPREPLY[@]}"' x "$@"
    }
    complete_words abba comp | grep -qx compare
    complete_words abba compare --pa | grep -qx -- --pairs
    complete_words abba compare --color al | grep -qx always
    complete_words abba run flow/ping | grep -qx flow/pingpong
    complete_words abba compare --threshold wall | grep -qx wall_time
    complete_words abba list pro | grep -qx profiles
    complete_words abba list --na | grep -qx -- --names
    complete_words abba completion "" | grep -qx bash
}

@test "help calls repeatable what may be repeated" {
    abba run --help
    text=$(tr -s ' \n' ' ' <<<"$output")
    [[ "$text" != *"variant's JSON file; may be given several times"* ]]
    [[ "$text" == *"compared with it; may be given several times"* ]]
}

@test "help for what does not exist offers the nearest" {
    abba help comapre
    expect_status 2
    expect_err "did you mean 'compare'?"
}
