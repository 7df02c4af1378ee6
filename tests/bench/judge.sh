#!/bin/bash
# Reading and judging an archive of 10,000 runs x 40 metrics, every metric judged: CPU seconds of
# the steps inside one process, then `abba report` on the same archive, where there is an abba.
# The aim is one second for the whole.
#
# usage: tests/bench/judge.sh        environment: RUNS (10000), METRICS (40), ROUNDS (3)
set -eu
cd "$(dirname "$0")/../.."
bench=${BENCH:-build/release/bench} abba=${ABBA:-build/abba}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for ((i = 1; i <= ${ROUNDS:-3}; i++)); do
    "$bench/judge" "$scratch/$i" "${RUNS:-10000}" "${METRICS:-40}"
done
if [ -x "$abba" ]; then
    TIMEFORMAT='abba report: %R s, of them %U s user and %S s system'
    for ((i = 1; i <= ${ROUNDS:-3}; i++)); do
        time "$abba" report "$scratch/1" >/dev/null || true
    done
fi
