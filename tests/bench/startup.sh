#!/bin/bash
# How long abba takes to start and end: --version, and a whole small comparison with its plan,
# archive, verdict and table.
#
# usage: tests/bench/startup.sh        environment: ROUNDS (51)
# shellcheck source=tests/bench/common.bash
. "$(dirname "$0")/common.bash"
rounds=${ROUNDS:-51}
busy

for ((i = 0; i < rounds; i++)); do
    used "$scratch/version" "$abba" --version
    used "$scratch/plan" "$abba" compare --plan -q -n 6 /bin/true '/bin/true '
    used "$scratch/compare" "$abba" compare -q --no-lock -n 6 /bin/true '/bin/true '
    used "$scratch/bare" "$bench/bare_loop" 12 /bin/true
done

ms() { # FILE COLUMN
    compute "1e3 * $(column "$2" "$scratch/$1" | median)" %.1f
}
printf '%-46s %10s %10s\n' 'medians' ms 'CPU ms'
for what in version plan compare bare; do
    case $what in
    version) name='abba --version' ;;
    plan) name='abba compare --plan true true' ;;
    compare) name='abba compare -n 6 true true' ;;
    bare) name='12 runs of true in a bare loop' ;;
    esac
    printf '%-46s %10s %10s\n' "$name" "$(ms $what 1)" "$(ms $what 2)"
done
aim 'abba --version, start to end' "$(ms version 1)" ms at-most 20
