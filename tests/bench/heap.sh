#!/bin/bash
# What the library that counts a program's allocations (libabba-heap.so) costs it: a program that does
# little but allocate, with it and without, in turns, with one thread and with two.
#
# usage: tests/bench/heap.sh        environment: ROUNDS (15), REPLACEMENTS (4000000)
# shellcheck source=tests/bench/common.bash
. "$(dirname "$0")/common.bash"
busy
rounds=${ROUNDS:-15} replacements=${REPLACEMENTS:-4000000}
library=${ABBA_BUILD:-build}/libabba-heap.so
library=$(readlink -f "$library")
mkdir "$scratch/records"

# Seconds of one run, and one more line of FILE.
plain() { # FILE ARGUMENT...
    "$bench/heap_load" "${@:2}" >>"$1"
}
counted() {
    LD_PRELOAD=$library ABBA_HEAP=$scratch/records "$bench/heap_load" "${@:2}" >>"$1"
    rm -f "$scratch"/records/*
}

compare() { # NAME LIMIT ARGUMENT...
    local i a b
    rm -f "$scratch"/[ab]
    for ((i = 0; i < rounds; i++)); do
        if ((i % 2)); then
            counted "$scratch/b" "${@:3}"
            plain "$scratch/a" "${@:3}"
        else
            plain "$scratch/a" "${@:3}"
            counted "$scratch/b" "${@:3}"
        fi
    done
    # The median of the ratios of neighbours: a machine's speed drifts.
    a=$(paste "$scratch/a" "$scratch/b" | awk '{ print $2 / $1 }' | median)
    b=$(paste "$scratch/a" "$scratch/b" | awk '{ print $2 / $1 }' | sort -g |
        awk '{ v[NR] = $1 } END { printf "%.2f to %.2f", v[1], v[NR] }')
    echo "$1: $(median <"$scratch/a") s without, $(median <"$scratch/b") s with; ratios $b"
    aim "$1" "$a" x at-most "$2"
}

compare 'blocks of many sizes, one thread' 1.6 mixed 1 "$replacements"
compare 'blocks of many sizes, two threads' 1.6 mixed 2 "$replacements"
compare 'one small block again and again' 1.6 tight 1 "$((4 * replacements))"
