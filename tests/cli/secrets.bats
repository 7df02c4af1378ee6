#!/usr/bin/env bats
# Secrets never enter an archive or a report: not from commands, settings, the environment, or what
# programs print.

setup() {
    load common
    setup_folder
    cat >tell <<'END'
#!/bin/sh
echo "arguments $*"
env
echo "token is $API_TOKEN" >&2
exit "${CODE:-0}"
END
    chmod +x tell
}

no_secret() { # TEXT...
    local text
    for text in "$@"; do
        if grep -rF -e "$text" a >&2; then
            fail "in the archive: $text"
        fi
        expect_no "$text"
    done
}

@test "passwords and tokens of commands and settings stay out" {
    compare -n 6 --archive a --env API_TOKEN=first-secret-value \
        "./tell --password second-secret-value --key=ok" \
        "./tell --url https://me:third-secret-value@example.org/?sig=x --auth-token=fourth-secret-value"
    expect_status 0
    no_secret first-secret-value second-secret-value third-secret-value fourth-secret-value
    grep -q '"API_TOKEN": "\*\*\*"' a/series.json
    grep -q 'https://\*\*\*@example.org/' a/series.json
    grep -q -e '--key=ok' a/series.json
    expect_out "--password ***"
    # the programs had them
    grep -q 'arguments --password SECRET --key=ok' a/raw/000001-command.stdout
    grep -q 'token is SECRET' a/raw/000001-command.stderr
    abba verify a
    expect_status 0
}

@test "they stay out with --identify and in messages of failures, too" {
    compare -n 6 --archive a --identify --env API_TOKEN=first-secret-value --env CODE=1 ./tell "./tell x"
    expect_status 3
    no_secret first-secret-value
}

@test "secrets of the environment are replaced where a program prints them" {
    GITHUB_TOKEN=fifth-secret-value DB_PASSWORD=sixth-secret-value \
        compare -n 6 --archive a ./tell "./tell x"
    expect_status 0
    no_secret fifth-secret-value sixth-secret-value
    grep -q 'GITHUB_TOKEN=SECRET' a/raw/000001-command.stdout
}

@test "of the environment the archive tells what an allowlist names" {
    HARMLESS=seventh OMP_NUM_THREADS=3 LD_LIBRARY_PATH=$HOME/lib \
        NODE_OPTIONS="--title x --api-key=eighth-secret-value" \
        compare -n 6 --archive a true true
    expect_status 0
    jq -e '.machine.environment | has("HARMLESS") | not' a/series.json
    jq -e '.machine.environment | .OMP_NUM_THREADS == "3" and has("PATH")' a/series.json
    jq -e '.machine.environment.LD_LIBRARY_PATH == "HOME/lib"' a/series.json
    no_secret seventh eighth-secret-value
}

@test "secrets that differ make no difference that is hidden: it is run" {
    # shellcheck disable=SC2016
    make_runner '{"metric": "value", "pattern": "value=(?<value>[0-9]+)", "unit": "count", "better": "lower"}' 'echo value=1'
    abba run --no-lock t/p --baseline old=./program --candidate new=./program --archive a -n 6 \
        --baseline-env API_TOKEN=one-secret-value --candidate-env API_TOKEN=two-secret-value \
        --threshold value=5%
    expect_status 0
    [ "$(wc -l <a/samples.jsonl)" -ge 12 ]
    no_secret one-secret-value two-secret-value
    abba verify a
    expect_status 0
}

@test "the machine's limits and settings are recorded" {
    compare -n 6 --archive a true true
    jq -e '.machine.settings | has("kernel_build") and has("cpu_flags") and has("microcode") and
        has("container") and has("cgroup_cpu_max") and has("cgroup_memory_max")' a/series.json
    if [ -e /sys/devices/system/cpu/vulnerabilities/meltdown ]; then
        jq -e '.machine.settings | .mitigation_meltdown != null' a/series.json
    fi
}

@test "a series whose secrets are not in its archive is not resumed without them" {
    make_runner '{"metric": "value", "pattern": "value=(?<value>[0-9]+)", "unit": "count", "better": "lower"}' 'echo value=1'
    abba run --no-lock t/p --baseline old=./program --candidate new=./program --archive a -n 6 \
        --candidate-env API_TOKEN=two-secret-value
    rm a/SHA256SUMS
    sed -i '$d' a/samples.jsonl
    abba resume --no-lock a
    expect_status 2
    expect_err "was given a secret, and archives hold none"
}
