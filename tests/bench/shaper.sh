#!/bin/bash
# The user back end: what it costs beside a bare loop, what it passes, how late it is. 1316-byte
# datagrams through private networks of its own.
#
# usage: tests/bench/shaper.sh        environment: ROUNDS (5), SECONDS_EACH (3)
# shellcheck source=tests/bench/common.bash
. "$(dirname "$0")/common.bash"
busy
cost_of="$bench/shaper_cost"
rounds=${ROUNDS:-5} each=${SECONDS_EACH:-3}

# Turn by turn, so that both meet the machine's moods.
for ((i = 0; i < rounds; i++)); do
    bare=$("$cost_of" bare) shaped=$("$cost_of" shaped 20) at_once=$("$cost_of" shaped 0)
    echo "$bare $shaped $at_once" >>"$scratch/loop"
    compute "$shaped / $bare" '%.3f\n' >>"$scratch/ratio"
    "$cost_of" capacity >>"$scratch/capacity"
done
printf 'a packet: bare loop %s ns, shaped by 20 ms %s ns, passed at once %s ns\n' \
    "$(column 1 "$scratch/loop" | median)" "$(column 2 "$scratch/loop" | median)" \
    "$(column 3 "$scratch/loop" | median)"
aim "CPU a packet / bare loop" "$(median <"$scratch/ratio")" "" at-most 1.15
aim "capacity on one CPU" "$(median <"$scratch/capacity")" packets/s at-least 200000

# line RATE read|ignore: sent received unplanned link_drops late_p50 late_p99 late_max cpu_us
line() {
    "$cost_of" line "$1" "$each" 20 "$2" | tee "$scratch/line" | awk -v rate="$1" -v each="$each" '{
        printf "%d packets/s asked, %.0f sent: %d received, late p50 %.0f p99 %.0f max %.0f us, " \
            "CPU %.1f us a packet\n", rate, $1 / each, $2, $5, $6, $7, $8 }'
}
field() { awk -v n="$1" '{ print $n }' "$scratch/line"; }
no_drops() {
    aim "unplanned drops at $1 packets/s" "$(($(field 3) + $(field 4)))" packets at-most 0
}
line 20000 read
aim "lateness p50 at 20,000 packets/s" "$(field 5)" us at-most 80
aim "lateness p99 at 20,000 packets/s" "$(field 6)" us at-most 250
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    cp "$cost_of" "$scratch/shaper_cost" && chmod 755 "$scratch" "$scratch/shaper_cost"
    setpriv --reuid 65534 --regid 65534 --clear-groups "$scratch/shaper_cost" line 20000 "$each" 20 read |
        awk '{ printf "as a normal user: late p50 %.0f p99 %.0f max %.0f us\n", $5, $6, $7 }' ||
        echo "as a normal user: not possible here"
fi
# Only a source that keeps its pace shows that so many pass.
offered() { # RATE
    aim "offered, of $1 packets/s asked" "$(compute "$(field 1) / $each" '%.0f')" packets/s \
        at-least $(($1 * 99 / 100))
}
line 100000 read
offered 100000
no_drops 100000
line 200000 ignore
offered 200000
no_drops 200000

for way in loopback shaped; do
    for ((i = 0; i < rounds; i++)); do "$cost_of" rtt "$way"; done >"$scratch/$way"
    printf 'round trip, %-8s: p50 %s us, p99 %s us\n' "$way" \
        "$(column 1 "$scratch/$way" | median)" "$(column 2 "$scratch/$way" | median)"
done
