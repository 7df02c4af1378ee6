#!/bin/bash
# The three ways of the flow runner to move datagrams, side by side: medians over alternated rounds
# of throughput and CPU seconds per delivered Gbit, and their ratios to one by one.
#
# usage: tests/bench/flow.sh        environment: ROUNDS (5), DURATION (500ms), LOADS (all)
set -eu
cd "$(dirname "$0")/../.."
flow=${ABBA_BUILD:-build}/runners/flow/flow
rounds=${ROUNDS:-5} duration=${DURATION:-500ms}
scratch=$(mktemp -d)
receiver=
trap '[ -z "$receiver" ] || kill "$receiver" 2>/dev/null || true; rm -rf "$scratch"' EXIT

# Name, receiver's and sender's arguments, as profiles/flow has them.
loads() {
    cat <<'LOADS'
pingpong||--mode pingpong --message 1KiB
10x-flood||--streams 10 --message 16KiB
10x-1K||--streams 10 --message 1KiB
1x-1K||--message 1KiB
1x-16K||--message 16KiB
backpressure|--consume 200Mbit/s|--streams 10 --message 16KiB --window 1MiB
LOADS
}

# Runs one transfer; prints "Mbit/s CPU-s/Gbit".
transfer() { # IO RECEIVER-ARGUMENTS SENDER-ARGUMENTS
    local TIMEFORMAT='%U %S' line
    rm -f "$scratch/ready"
    mkfifo "$scratch/ready"
    {
        time {
            # shellcheck disable=SC2086
            "$flow" receive $2 --io "$1" >"$scratch/ready" &
            receiver=$!
            exec 7<"$scratch/ready"
            read -r line <&7
            # shellcheck disable=SC2086
            "$flow" send --to "127.0.0.1:${line#ready port=}" $3 --duration "$duration" \
                --io "$1" >/dev/null 7<&-
            cat <&7 >"$scratch/received"
            exec 7<&-
            wait "$receiver"
            receiver=
        }
    } 2>"$scratch/cpu"
    awk -F= 'FNR == NR { split($0, cpu, " "); next } { v[$1] = $2 }
        END { gbit = v["delivered_bytes"] * 8e-9
              printf "%.1f %.4f\n", gbit * 1e3 / v["delivery_time"], (cpu[1] + cpu[2]) / gbit }' \
        "$scratch/cpu" "$scratch/received"
}

median() { # COLUMN FILE
    awk -v c="$1" '{ print $c }' "$2" | sort -g |
        awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

printf '%-14s %-7s %12s %8s %14s %8s\n' load io 'Mbit/s' ratio 'CPU-s/Gbit' ratio
loads | while IFS='|' read -r name receive send; do
    case " ${LOADS:-$name} " in *" $name "*) ;; *) continue ;; esac
    rm -f "$scratch"/*.figures
    for ((i = 0; i < rounds; i++)); do
        order="single batch gso"
        if ((i % 2)); then order="gso batch single"; fi
        for io in $order; do
            transfer "$io" "$receive" "$send" >>"$scratch/$io.figures" </dev/null
        done
    done
    for io in single batch gso; do
        echo "$name $io $(median 1 "$scratch/$io.figures") $(median 2 "$scratch/$io.figures")"
    done | awk '$2 == "single" { rate = $3; cpu = $4 }
        { printf "%-14s %-7s %12.1f %8.2f %14.3f %8.2f\n", $1, $2, $3, $3 / rate, $4, $4 / cpu }'
done
