#!/bin/bash
# Pull requests that change nothing, through the gate of tests/gate: how many are red or undecided
# for nothing. Each is a commit of its own that is built anew (a constant in the library differs).
#
#   PULLS (50)     how many
#   OPTIONS        more options of abba run, such as --no-lock
. "$(dirname "$0")/common.bash"
# shellcheck source=tests/gate/repository.bash
. tests/gate/repository.bash

pulls=${PULLS:-50} source=$PWD/tests/gate abba=$(realpath "$abba")
# shellcheck disable=SC2154
export HOME=$scratch/home XDG_CACHE_HOME=$scratch/cache
mkdir "$scratch/repository" && cd "$scratch/repository" || exit 2
gate_repository "$source"

declare -A count=([0]=0 [1]=0 [3]=0 [4]=0)
begun=$SECONDS
for ((i = 1; i <= pulls; i++)); do
    git checkout -q -B pull clean
    sed -i "s/^#define HEAD 8.*/&\nconst char record_version[] = \"pull $i\";/" record.c
    git commit -q -a -m "pull $i"
    status=0
    # shellcheck disable=SC2086
    "$abba" run -q ${OPTIONS-} record/quick-read --thresholds gate --build make --product bench \
        --baseline git:clean --candidate git:pull -o "$scratch/report" || status=$?
    count[$status]=$((${count[$status]:-0} + 1))
done
echo "pull requests that change nothing: $pulls, in $((SECONDS - begun)) s, load now $(cut -d' ' -f1 /proc/loadavg)"
echo "  passed ${count[0]}, regressed ${count[1]}, inconclusive ${count[4]}, incomplete ${count[3]}"
aim "regressed without a change" "${count[1]}" "of $pulls" at-most 0
aim "inconclusive without a change" "${count[4]}" "of $pulls" at-most "$((pulls / 10))"
