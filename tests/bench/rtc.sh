#!/bin/bash
# What the harness of usrsctp itself adds to what it measures: samples of the CPU clock, each put to
# the code that took it. Its own code stamps, checks and counts messages and asks the clock; pacing is
# what its sender does while there is no room; packets are the calls that read and write its sockets.
#
# usage: tests/bench/rtc.sh       environment: MESSAGES (100000), REPEATS (6), FREQUENCY (1999)
# shellcheck source=tests/bench/common.bash
. "$(dirname "$0")/common.bash"
harness=${ABBA_BUILD:-build}/runners/usrsctp/usrsctp
if [ ! -x "$harness" ]; then
    echo "the harness is not built (make runners-rtc T=usrsctp)"
    exit 0
fi
busy

# A sample belongs to the first frame of its program: what the kernel does, it does for that one. The
# names of waiting are libc's: __sched_yield, sem_post, sem_timedwait and what that waits by.
shares() { # OPTIONS... ; prints "NAME PERCENT" a line
    perf record -q -e cpu-clock -F "${FREQUENCY:-1999}" -g -o "$scratch/perf" "$harness" "$@" \
        >"$scratch/out" 2>"$scratch/stderr" || { cat "$scratch/stderr" >&2; return 1; }
    grep -q '^payload=intact$' "$scratch/out"
    perf script -i "$scratch/perf" -F ip,sym,dso 2>/dev/null | awk '
        NF == 0 { if (frames) { all++; n[who]++ } frames = 0; next }
        { dso = $NF; frames++ }
        frames == 1 { who = "kernel"; found = 0 }
        found || dso ~ /kernel|\[unknown\]/ { next }
        {
            found = 1
            if ($0 ~ /sched_yield|sem_post|sem_.*wait|futex_abstimed_wait|nanosleep/) who = "pacing"
            else if (dso ~ /\/usrsctp\)$/ || dso ~ /vdso/) who = "own"
            else if ($2 ~ /^(__)?(libc_)?(recv|send|poll)/ || $2 ~ /^__(GI_)?__?(poll|recv|send)/) who = "packets"
            else who = "stack"
        }
        END {
            if (frames) { all++; n[who]++ }
            split("own pacing packets stack kernel", names)
            for (i = 1; i <= 5; i++) printf "%s %.2f\n", names[i], all ? n[names[i]] * 100 / all : 0
            print "samples " all
        }'
}

share() { # NAME
    sed -n "s/^$1 //p" "$scratch/shares"
}

tell() { # TITLE OPTIONS...
    shares "${@:2}" >"$scratch/shares"
    echo "$1: own code $(share own) %, pacing $(share pacing) %, packets $(share packets) %," \
        "usrsctp and its heap $(share stack) %, unnamed $(share kernel) % of $(share samples) samples"
    aim "$1: own code" "$(share own)" '% of CPU' at-most 5
}

message=(message --messages "${MESSAGES:-100000}" --repeats "${REPEATS:-6}")
tell 'messages, pacing yield' "${message[@]}" --pacing yield
tell 'messages, pacing wait' "${message[@]}" --pacing wait
aim 'messages, pacing wait: own code and pacing' "$(compute "$(share own) + $(share pacing)" %.2f)" '% of CPU' at-most 5
tell 'flow' flow --pairs 10 --size 1024
aim 'flow: own code and waiting' "$(compute "$(share own) + $(share pacing)" %.2f)" '% of CPU' at-most 5
busy
