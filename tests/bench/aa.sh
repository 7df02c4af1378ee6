#!/bin/bash
# False alarms, live: series of one CPU-bound command against itself beside a neighbour that spins,
# judged by the rule and the numbers of the default thresholds, put on wall and CPU time.
#
# usage: tests/bench/aa.sh        environment: SERIES (20), SPIN_MS (100), NEIGHBOURS (1)
# shellcheck source=tests/bench/common.bash
. "$(dirname "$0")/common.bash"
series=${SERIES:-20} spin_ms=${SPIN_MS:-100}
neighbours=()
end_neighbours() {
    for pid in "${neighbours[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
    cleanup
}
trap end_neighbours EXIT
for ((i = 0; i < ${NEIGHBOURS:-1}; i++)); do
    "$cost/spin" 100000000 >/dev/null &
    neighbours+=($!)
done
busy

cat >"$scratch/live.json" <<'JSON'
{ "thresholds": "live", "rule": "bounded", "pairs": 8, "confirm": 16,
  "limits": { "wall_time": {"worse": "10%"}, "cpu_time": {"worse": "15%"},
              "peak_rss": {"worse": "15%"} } }
JSON
# One line a metric: profile's stage, metric, verdict, median change, sd of the paired changes.
# An inconclusive series and one with a false alarm are both figures here, not failures.
for ((i = 1; i <= series; i++)); do
    status=0
    "$abba" compare -q --aa --no-lock --seed "$i" --thresholds "$scratch/live.json" \
        --format json -o "$scratch/$i.json" "$cost/spin $spin_ms" || status=$?
    python3 - "$i" "$status" "$scratch/$i.json" <<'PYTHON' | tee -a "$scratch/verdicts"
import json, sys
report = json.load(open(sys.argv[3]))
for p in report["profiles"]:
    row = [f"{m['metric']} {m['median_change'] * 100:+.2f}% {m['verdict']}"
           for m in p["metrics"] if m["threshold"] is not None]
    print(f"series {sys.argv[1]}: {report['verdict']} ({p['stage']}): " + ", ".join(row))
PYTHON
done
for verdict in passed inconclusive incomplete invalid; do
    count=$(grep -c "^series [0-9]*: $verdict" "$scratch/verdicts" || true)
    printf '%-14s %s of %s\n' "$verdict" "$count" "$series"
done
for metric in wall_time cpu_time peak_rss; do
    printf '%-14s %s times found regressed\n' $metric \
        "$(grep -c "$metric [-+0-9.%]* regressed" "$scratch/verdicts" || true)"
done
aim 'regressions' "$(grep -c '^series [0-9]*: regressed' "$scratch/verdicts" || true)" \
    series at-most 0
