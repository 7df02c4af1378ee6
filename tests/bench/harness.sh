#!/bin/bash
# What a run of /bin/true costs: a bare loop of fork, exec and wait; abba with counters, pipes,
# sampler and archive; hyperfine -N, which measures times only; perf stat -r. In turn, ROUNDS times
# RUNS runs; medians of the microseconds a run, whole commands from start to end.
#
# usage: harness.sh [ROUNDS [RUNS]]
# Aims: abba at most 1.15 x bare; at least 0.9 x the runs a second of hyperfine, 1.9 x of perf stat.
set -u
rounds=${1:-7} runs=${2:-1000} # RUNS: even, half of them for each side
: "${ABBA_BUILD:=$PWD/build}" "${ABBA:=$ABBA_BUILD/abba}" "${BENCH:=$ABBA_BUILD/release/bench}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

now() { date +%s%N; }

# In a session of its own each, as abba's programs are: the kernel shares CPUs out among sessions.
bare() { setsid -w "$BENCH/bare_loop" "$runs" /bin/true >/dev/null; }
abba() {
    setsid -w "$ABBA" compare -q -n $((runs / 2)) --no-lock --archive "$work/archive" /bin/true /bin/true \
        >/dev/null 2>&1
}
hyperfine() { setsid -w /usr/bin/hyperfine -N --warmup 0 --runs "$runs" /bin/true >/dev/null 2>&1; }
perf_stat() { setsid -w perf stat -r "$runs" /bin/true >/dev/null 2>&1; }

kinds="bare abba"
if [ -x /usr/bin/hyperfine ]; then kinds="$kinds hyperfine"; else echo "note: no hyperfine here"; fi
if command -v perf >/dev/null; then kinds="$kinds perf_stat"; else echo "note: no perf here"; fi

for ((i = 0; i < rounds; i++)); do
    for kind in $kinds; do
        rm -rf "$work/archive"
        begin=$(now)
        "$kind" || { echo "harness.sh: $kind failed" >&2; exit 1; }
        echo $((($(now) - begin) / 1000)) >>"$work/$kind"
    done
done

median() { sort -n "$work/$1" | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
bare_us=$(median bare)
abba_us=$(median abba)
for kind in $kinds; do
    awk -v kind="$kind" -v us="$(median "$kind")" -v runs="$runs" -v bare="$bare_us" -v abba="$abba_us" 'BEGIN {
        printf "%-10s %8.1f us a run %8.0f runs/s   %5.3f x bare   abba makes %5.3f x as many runs\n",
            kind, us / runs, 1e6 * runs / us, us / bare, us / abba }'
done
