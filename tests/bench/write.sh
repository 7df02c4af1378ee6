#!/bin/bash
# What it takes to write one sample: its line, and the raw files that most runs have. Samples of a
# real series are taken; fdatasync, which comes at most once a second, stands beside it.
#
# usage: tests/bench/write.sh        environment: RUNS (3000)
# shellcheck source=tests/bench/common.bash
. "$(dirname "$0")/common.bash"
busy

"$abba" compare -q --no-lock -n 20 --archive "$scratch/real" /bin/true '/bin/true ' >/dev/null
"$bench/write_cost" "$scratch/real" "$scratch/again" "${RUNS:-3000}" | tee "$scratch/figures"
awk 'NR == 1 { us = $(NF - 1); sub(/ +[0-9.]+ us$/, ""); print us "|" $0 }' "$scratch/figures" |
    while IFS='|' read -r us name; do
        aim "$name" "$us" us at-most 50
    done
