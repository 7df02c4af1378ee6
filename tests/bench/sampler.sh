#!/bin/bash
# What watching a run adds to an empty 5 ms timer loop, in points of one CPU, with pid namespaces
# and with the subreaper.
#
# usage: tests/bench/sampler.sh        environment: ROUNDS (5), SECONDS_EACH (2)
# shellcheck source=tests/bench/common.bash
. "$(dirname "$0")/common.bash"
busy

"$bench/sampler_cost" "${ROUNDS:-5}" "${SECONDS_EACH:-2}" | tee "$scratch/figures"
for way in 'pid namespace' subreaper; do
    aim "sampler, $way" "$(awk -v way="$way" 'index($0, way) == 1 { print $NF }' \
        "$scratch/figures")" points at-most 1.2
done
