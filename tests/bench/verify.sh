#!/bin/bash
# How fast an archive is verified, and in how much memory: against `openssl dgst -sha256` of the same
# bytes. Rounds alternate; the median of the paired ratios counts.
#
# usage: tests/bench/verify.sh        environment: MIB (1024), ROUNDS (5)
# shellcheck source=tests/bench/common.bash
. "$(dirname "$0")/common.bash"
mib=${MIB:-1024} rounds=${ROUNDS:-5}
busy

# 4 MiB a pair: standard output of one, standard error of the other
"$abba" compare -q --no-lock -n "$((mib / 4))" --archive "$scratch/big" \
    "$cost/flood $((2 << 20)) line" "$cost/flood $((2 << 20)) line stderr" >/dev/null
find "$scratch/big" -type f -print0 | xargs -0 cat >"$scratch/all"
rm -f "$scratch/verify" "$scratch/openssl"
for ((i = 0; i < rounds; i++)); do
    used "$scratch/verify" "$abba" verify -q "$scratch/big"
    used "$scratch/openssl" openssl dgst -sha256 "$scratch/all"
done
ratio() { # COLUMN
    paste "$scratch/openssl" "$scratch/verify" |
        awk -v a="$1" -v b="$(($1 + 3))" '{ print $a / $b }' | sort -n |
        awk '{ x[NR] = $1 } END { printf "%.2f", x[int((NR + 1) / 2)] }'
}
aim "verify against openssl dgst, wall time, $mib MiB" "$(ratio 1)" x at-least 0.80
aim "  CPU time" "$(ratio 2)" x at-least 0.80
aim "  memory of verify" "$(compute "$(column 3 "$scratch/verify" | median) / 1024" %.1f)" MiB at-most 64
