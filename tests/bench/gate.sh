#!/bin/bash
# The gate over the repositories of tests/gate: whether commits that cost 20 % are flagged, and found
# by bisection; and pull requests that change nothing, how many of which are red or undecided for
# nothing. Each of those is a commit of its own that is built anew (a constant in a source differs).
#
#   GATES ("flow record")  flow: the flow protocol by a quick profile that comes with abba, 2 s runs at
#                          a given rate in a private network, default thresholds; record: a library by
#                          its own profile of 0.2 s
#   PULLS (50), FIRST (1)  how many change nothing, of which number the first is
#   CULPRITS (1)           0: no look at commits that cost something
#   PROFILES               others than flow/quick-1x-50M-clean, for flow
#   OPTIONS                more options of abba run, such as --no-lock
#   WITH                   a command in front of each abba run, such as nice
. "$(dirname "$0")/common.bash"
# shellcheck source=tests/gate/repository.bash
. tests/gate/repository.bash

pulls=${PULLS:-50} first=${FIRST:-1} top=$PWD abba=$(realpath "$abba")
# shellcheck disable=SC2154
export HOME=$scratch/home XDG_CACHE_HOME=$scratch/cache

make_flow() {
    gate_flow_repository "$top"
    source=flow/checksum.c
    run=("${profiles[@]}" --product build/program) limits=default cpu=cpu_per_gbit
}

make_record() {
    gate_repository "$top/tests/gate"
    source=record.c
    run=(record/quick-read --product bench) limits=gate cpu=cpu_time
}

# What was judged, a figure a line's part, from a report in JSON.
figures() {
    python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
print("; ".join("%s %+.1f %% [%+.1f, %+.1f] of %d pairs: %s" % (
    m["metric"], 100 * m["median_change"], 100 * m["interval"][0], 100 * m["interval"][1],
    p["complete_pairs"], m["verdict"])
    for p in report["profiles"] for m in p["metrics"] if m["threshold"] is not None and m["interval"]))' "$1"
}

pull() { # NUMBER
    local status=0 begun=$SECONDS
    git checkout -q -B pull clean
    echo "const char pull_request[] = \"$1\";" >>"$source"
    git commit -q -a -m "pull $1"
    # shellcheck disable=SC2086
    ${WITH-} "$abba" run -q ${OPTIONS-} "${run[@]}" --thresholds $limits --build make --baseline git:clean \
        --candidate git:pull --format json -o "$scratch/report.json" || status=$?
    count[$status]=$((${count[$status]:-0} + 1))
    echo "  pull $1: exit $status after $((SECONDS - begun)) s, load $(cut -d' ' -f1 /proc/loadavg): $(figures "$scratch/report.json")"
}

# What costs 20 % of a metric, as a pull request and among all commits.
culprit() { # TAG METRIC
    local status=0 begun=$SECONDS found
    # shellcheck disable=SC2086
    ${WITH-} "$abba" run -q ${OPTIONS-} "${run[@]}" --thresholds $limits --build make --baseline "git:$1~1" \
        --candidate "git:$1" --format json -o "$scratch/report.json" || status=$?
    echo "  $1: exit $status after $((SECONDS - begun)) s: $(figures "$scratch/report.json")"
    begun=$SECONDS
    # shellcheck disable=SC2086
    found=$(${WITH-} "$abba" bisect v1 main -q ${OPTIONS-} "${run[@]}" --thresholds none \
        --threshold "$2=10%" --build make --archive "$scratch/bisect-$1" | sed -n 's/^culprit *//p') || true
    [ "$found" = "$(git rev-parse "$1")" ] && found="found" || found="not found: '$found'"
    echo "  $1: by bisection $found, after $((SECONDS - begun)) s"
    rm -rf "$scratch/bisect-$1"
}

gate() { # flow|record
    local begun
    local -A count=([0]=0 [1]=0 [3]=0 [4]=0)
    mkdir "$scratch/$1" && cd "$scratch/$1" || exit 2
    "make_$1"
    echo "$1: ${run[*]}"
    [ "${CULPRITS:-1}" = 0 ] || { culprit rss peak_rss && culprit cpu "$cpu"; }
    [ "$pulls" != 0 ] || return 0
    begun=$SECONDS
    for ((i = first; i < first + pulls; i++)); do pull "$i"; done
    echo "$1: $pulls pull requests that change nothing, in $((SECONDS - begun)) s:" \
        "passed ${count[0]}, regressed ${count[1]}, inconclusive ${count[4]}, incomplete ${count[3]}"
    aim "$1: regressed without a change" "${count[1]}" "of $pulls" at-most 0
    aim "$1: undecided without a change" "$((count[3] + count[4]))" "of $pulls" at-most "$((pulls / 10))"
}

read -ra profiles <<<"${PROFILES:-flow/quick-1x-50M-clean}"
busy
for name in ${GATES:-flow record}; do gate "$name"; done
