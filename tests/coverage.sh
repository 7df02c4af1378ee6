#!/bin/bash
# Sums gcov's figures room by room.
# usage: tests/coverage.sh OBJECT_FOLDER
set -u
cd "$(dirname "$0")/.." || exit 2
objects=$1
mapfile -t notes < <(find "$objects" -name '*.gcno' -not -path '*/tests/*' | LC_ALL=C sort)
[ ${#notes[@]} != 0 ] || { echo "coverage: nothing was built with it" >&2 && exit 1; }

# "File 'src/base/buf.c'" and then "Lines executed:97.50% of 120"; headers come once a user.
LC_ALL=C gcov -n "${notes[@]}" 2>/dev/null | awk '
/^File / { file = $2; gsub(/\x27/, "", file); next }
/^Lines executed:/ && file ~ /^src\/.*\.c$/ {
    share = $0; sub(/^Lines executed:/, "", share); sub(/%.*/, "", share)
    if (!(file in lines)) { lines[file] = $NF; hit[file] = share * $NF / 100 }
    file = ""
}
END {
    for (f in lines) {
        room = f; sub(/^src\//, "", room); sub(/\/.*/, "", room)
        total[room] += lines[f]; reached[room] += hit[f]
        all += lines[f]; all_hit += hit[f]
        printf "    %-32s %6.1f %% of %5d lines\n", f, lines[f] ? 100 * hit[f] / lines[f] : 100, lines[f] | "LC_ALL=C sort"
    }
    close("LC_ALL=C sort")
    for (r in total) printf "%-12s %6.1f %% of %5d lines\n", r, 100 * reached[r] / total[r], total[r] | "LC_ALL=C sort"
    close("LC_ALL=C sort")
    printf "%-12s %6.1f %% of %5d lines\n", "all", all ? 100 * all_hit / all : 0, all
}'
