#!/bin/bash
# `abba report` on an archive of 10,000 runs x 40 metrics, every metric judged, from start to end;
# beside it, the CPU seconds of reading, judging and encoding inside one process.
#
# Then the highest resident set of report and verification for a long archive, none of whose figures
# is a count: the most that they take.
#
# usage: tests/bench/report.sh        environment: RUNS (10000), METRICS (40), ROUNDS (5),
#                                     LONG (300000; 0: none)
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

[ "${LONG:-300000}" -gt 0 ] || exit 0
rm -rf "$scratch/archive"
"$bench/judge" "$scratch/archive" "${LONG:-300000}" 15
for verb in report verify; do
    used "$scratch/$verb-long" "$abba" "$verb" "$scratch/archive"
    aim "abba $verb, ${LONG:-300000} runs x 15 metrics" \
        "$(compute "$(column 3 "$scratch/$verb-long") / 1024" %.1f)" MiB at-most 64
done
