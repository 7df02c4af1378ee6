#!/bin/bash
# What the srt runner itself adds to what it measures: its pacing, its checking of every payload;
# and how often the quick profiles' A/A series raise a false alarm at the lab's thresholds.
#
# usage: tests/bench/srt.sh       environment: SERIES (20), FIRST (1), PAIRS (10), DURATION (10s),
#   PROFILES (srt/quick-1x-50M-clean srt/quick-32x-320M-clean srt/quick-32x-2G-clean)
# Each series also measures one of the other quick profiles, in turn.
# shellcheck source=tests/bench/common.bash
. "$(dirname "$0")/common.bash"
srt=${ABBA_BUILD:-build}/runners/srt/srt
if [ ! -x "$srt" ]; then
    echo "no libsrt headers: the runner srt is not built"
    exit 0
fi
busy
value() { # NAME FILE
    sed -n "s/^$1=//p" "$2"
}

"$srt" cost --rate 50Mbit/s --duration "${DURATION:-10s}" >"$scratch/cost"
pacing=$(value pacing_cpu_time "$scratch/cost") time=$(value pacing_time "$scratch/cost")
aim 'pacing at 50 Mbit/s, share of a CPU' "$(compute "$pacing / $time * 100" %.2f)" % at-most 2
echo "  the same sleeps with nothing between them: $(compute "$(value bare_sleeps_cpu_time "$scratch/cost") / $time * 100" %.2f) %"
echo "  making a payload: $(value make_ns "$scratch/cost") ns; checking it: $(value check_ns "$scratch/cost") ns"

# The checking of a payload against all CPU time that the run spends on one, and on against off.
share_of_checking() { # PROFILE
    "$abba" run -q --no-lock "$1" -n "${PAIRS:-10}" --confirm 0 --archive "$scratch/verify" \
        --baseline off=openssl --baseline-arg --verify --baseline-arg off --candidate on=openssl \
        --format json -o "$scratch/verify.json" || [ $? -le 4 ]
    python3 - "$scratch/verify.json" "$(value check_ns "$scratch/cost")" <<'PYTHON'
import json, sys
for p in json.load(open(sys.argv[1]))["profiles"]:
    for m in p["metrics"]:
        if m["metric"] == "cpu_per_message" and m["median_change"] is not None:
            low, high = m["interval"] or (float("nan"),) * 2
            print(f"  {p['profile']}: checking on against off: cpu_per_message {m['median_change'] * 100:+.1f}% "
                  f"[{low * 100:+.1f}, {high * 100:+.1f}]")
            print(f"share {float(sys.argv[2]) / 1e3 / m['baseline_median'] * 100:.2f}")
PYTHON
    rm -rf "$scratch/verify"
}
for profile in srt/quick-1x-50M-clean srt/quick-32x-2G-clean; do
    share_of_checking $profile >"$scratch/share"
    grep -v ^share "$scratch/share" || true
    aim "checking, $profile" "$(sed -n 's/^share //p' "$scratch/share")" '% of CPU' at-most 5
done

series=${SERIES:-20}
profiles=${PROFILES:-srt/quick-1x-50M-clean srt/quick-32x-320M-clean srt/quick-32x-2G-clean}
others=()
for file in "$(dirname "$0")"/../../profiles/srt/quick-*.json; do
    name=srt/$(basename "$file" .json)
    [[ " $profiles " == *" $name "* || $name == *-gcm-* ]] || others+=("$name")
done
for ((i = ${FIRST:-1}; i < ${FIRST:-1} + series; i++)); do
    # shellcheck disable=SC2086
    "$abba" run -q --no-lock --aa $profiles "${others[(i - 1) % ${#others[@]}]}" --seed "$i" \
        --baseline openssl --thresholds srt-lab --archive "$scratch/aa" \
        --format json -o "$scratch/aa.json" || [ $? -le 4 ]
    python3 - "$i" "$scratch/aa.json" <<'PYTHON' | tee -a "$scratch/verdicts"
import json, sys
for p in json.load(open(sys.argv[2]))["profiles"]:
    row = [f"{m['metric']} {m['median_change'] * 100:+.1f}% {m['verdict']}" if m["median_change"] is not None
           else f"{m['metric']} {m['verdict']}" for m in p["metrics"] if m["threshold"] is not None]
    print(f"series {sys.argv[1]}: {p['profile']}: " + ", ".join(row))
PYTHON
    rm -rf "$scratch/aa"
done
flagged() { # METRIC
    grep -c "$1 [-+0-9.%]* regressed" "$scratch/verdicts" || true
}
verdicts=$(wc -l <"$scratch/verdicts")
aim "A/A: throughput, $verdicts verdicts" "$(flagged throughput)" alarms at-most 0
aim "A/A: peak_rss, $verdicts verdicts" "$(flagged peak_rss)" alarms at-most 0
echo "A/A: cpu_per_gbit: $(flagged cpu_per_gbit) of $verdicts verdicts regressed"
echo "A/A: incomplete: $(grep -c incomplete "$scratch/verdicts" || true) of $verdicts"
busy
