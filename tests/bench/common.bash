# What the benchmarks share: where things are, medians, and a line that says how an aim was met.
# A benchmark prints and never fails on a figure; it fails when something cannot be run.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
# shellcheck disable=SC2034
bench=${BENCH:-build/release/bench} abba=${ABBA:-build/abba} cost=${ABBA_BUILD:-build}/cost
scratch=$(mktemp -d /tmp/abba-bench-XXXXXX)
cleanup() { rm -rf "$scratch"; }
trap cleanup EXIT

# Median of the numbers on standard input; "-" of none.
median() {
    sort -g | awk '{ v[NR] = $1 }
        END { print NR == 0 ? "-" : NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# Column N of a file of `used`: 1 seconds, 2 CPU seconds, 3 KiB.
column() { # N FILE
    awk -v n="$1" '{ print $n }' "$2"
}

compute() { # EXPRESSION FORMAT
    awk "BEGIN { printf \"$2\", $1 }" </dev/null
}

# aim NAME VALUE UNIT at-most|at-least LIMIT
aim() {
    awk -v name="$1" -v value="$2" -v unit="$3" -v way="$4" -v limit="$5" 'BEGIN {
        reached = way == "at-most" ? value + 0 <= limit + 0 : value + 0 >= limit + 0
        sub("-", " ", way)
        printf "%-46s %10s %-9s aim: %s %s: %s\n", name, value, unit, way, limit,
            reached ? "reached" : "NOT reached" }' </dev/null
}

# Runs a command with its output thrown away, and appends what it used to a file. The status of an
# abba that could not judge or was not asked to is no failure of the benchmark.
used() { # FILE COMMAND...
    local status=0
    "$bench/used" "$@" >/dev/null 2>"$scratch/stderr" || status=$?
    case $status in
    0 | 1 | 4) ;;
    *)
        echo "failed ($status): ${*:2}" >&2
        cat "$scratch/stderr" >&2
        return 1
        ;;
    esac
}

# How busy the machine is: figures of a busy one are not for the record.
busy() {
    read -r load _ </proc/loadavg
    echo "machine: $(nproc) CPUs, Linux $(uname -r), load $load"
}
