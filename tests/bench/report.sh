#!/bin/bash
# `abba report` on an archive of 10,000 runs x 40 metrics, every metric judged, from start to end;
# beside it, the CPU seconds of reading, judging and encoding inside one process.
#
# usage: tests/bench/report.sh        environment: RUNS (10000), METRICS (40), ROUNDS (5)
# shellcheck source=tests/bench/common.bash
. "$(dirname "$0")/common.bash"
runs=${RUNS:-10000} metrics=${METRICS:-40}
busy

for ((i = 0; i < ${ROUNDS:-5}; i++)); do
    rm -rf "$scratch/archive"
    "$bench/judge" "$scratch/archive" "$runs" "$metrics"
    used "$scratch/report" "$abba" report "$scratch/archive"
done
printf 'abba report: CPU %.3f s, highest resident set %.1f MiB\n' \
    "$(column 2 "$scratch/report" | median)" \
    "$(compute "$(column 3 "$scratch/report" | median) / 1024" %g)"
aim "abba report, $runs runs x $metrics metrics" "$(column 1 "$scratch/report" | median)" s \
    at-most 1
