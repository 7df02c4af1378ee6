#!/bin/bash
# What abba adds to a run of a program that does nothing, beside others: `abba compare` of
# /bin/true with itself (counters, pipes, sampler, archive on), a bare loop of fork, exec and wait,
# `hyperfine -N` and `perf stat -r`. All take turns in every round, in a rotated order.
#
# "Whole" is the time from start to end over the number of runs; "a run" leaves start and end out:
# the difference of a long and a short invocation of the same tool, over the difference in runs.
#
# usage: tests/bench/harness.sh        environment: ROUNDS (15), PAIRS (500)
# shellcheck source=tests/bench/common.bash
. "$(dirname "$0")/common.bash"
rounds=${ROUNDS:-15} pairs=${PAIRS:-500} few=6
tools=(bare abba hyperfine perf)
busy

# Two commands, so that nobody may take them for one.
loop() { # TOOL PAIRS FILE
    case $1 in
    bare) used "$3" "$bench/bare_loop" $((2 * $2)) /bin/true ;;
    abba)
        rm -rf "$scratch/archive"
        used "$3" "$abba" compare -q --no-lock -n "$2" --archive "$scratch/archive" \
            /bin/true '/bin/true '
        ;;
    hyperfine) used "$3" hyperfine -N --style none -r "$2" /bin/true '/bin/true ' ;;
    perf) used "$3" perf stat -r $((2 * $2)) /bin/true ;;
    esac
}

for ((i = 0; i < rounds; i++)); do
    for ((j = 0; j < ${#tools[@]}; j++)); do
        tool=${tools[(i + j) % ${#tools[@]}]}
        loop "$tool" $few "$scratch/$tool.few"
        loop "$tool" "$pairs" "$scratch/$tool.many"
    done
done

# Microseconds a run: whole, and without start and end.
whole() { awk -v n=$((2 * pairs)) '{ print $1 * 1e6 / n }' "$scratch/$1.many" | median; }
a_run() {
    paste "$scratch/$1.few" "$scratch/$1.many" |
        awk -v n=$((2 * (pairs - few))) '{ print ($4 - $1) * 1e6 / n }' | median
}

# Ratios are medians of the rounds' ratios: a busy moment strikes all tools of its round.
ratio() { # TOOL OTHER: seconds of TOOL over seconds of OTHER, a run
    paste "$scratch/$1".{few,many} "$scratch/$2".{few,many} |
        awk '{ print ($4 - $1) / ($10 - $7) }' | median
}
ratio_whole() { paste "$scratch/$1.many" "$scratch/$2.many" | awk '{ print $1 / $4 }' | median; }

printf '%-12s %12s %12s %12s %14s\n' '' 'us a run' 'whole, us' 'runs/s, whole' "$((2 * few)) runs, ms"
for tool in "${tools[@]}"; do
    printf '%-12s %12.1f %12.1f %12.0f %14.1f\n' "$tool" "$(a_run "$tool")" "$(whole "$tool")" \
        "$(compute "1e6 / $(whole "$tool")" %g)" \
        "$(compute "1e3 * $(column 1 "$scratch/$tool.few" | median)" %g)"
done
for how in ratio ratio_whole; do
    [ $how = ratio ] && what='a run' || what='whole'
    aim "$what: abba / bare loop, time" "$(compute "$($how abba bare)" %.3f)" x at-most 1.15
    aim "$what: abba / hyperfine -N, runs a second" "$(compute "$($how hyperfine abba)" %.3f)" x \
        at-least 0.9
    aim "$what: abba / perf stat -r, runs a second" "$(compute "$($how perf abba)" %.3f)" x \
        at-least 1.9
done
