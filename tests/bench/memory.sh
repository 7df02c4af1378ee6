#!/bin/bash
# abba's own highest resident set: through many runs, through a child that writes a lot, and when
# the archive is read again.
#
# usage: tests/bench/memory.sh        environment: PAIRS (5000), MIB (1024)
# shellcheck source=tests/bench/common.bash
. "$(dirname "$0")/common.bash"
pairs=${PAIRS:-5000} mib=${MIB:-1024}
limit=32
busy

peak() { # NAME COMMAND...
    rm -f "$scratch/figures"
    used "$scratch/figures" "${@:2}"
    aim "$1" "$(compute "$(column 3 "$scratch/figures") / 1024" %.1f)" MiB at-most $limit
}

peak "$((2 * pairs)) runs of /bin/true" "$abba" compare -q --no-lock -n "$pairs" \
    --archive "$scratch/true" /bin/true '/bin/true '
peak "  its report" "$abba" report "$scratch/true"
peak "  its verification" "$abba" verify "$scratch/true"
# A child's own memory would count: flood's is far below.
peak "12 runs that write $mib MiB in lines" "$abba" compare -q --no-lock -n 6 \
    --archive "$scratch/lines" "$cost/flood $((mib << 20)) lines" \
    "$cost/flood $((mib << 20)) lines stderr"
peak "12 runs that write one line of $mib MiB" "$abba" compare -q --no-lock -n 6 \
    --archive "$scratch/line" "$cost/flood $((mib << 20)) line" \
    "$cost/flood $((mib << 20)) line stderr"
