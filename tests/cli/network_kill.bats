#!/usr/bin/env bats
# abba killed at random points of a series with private networks: nothing is left, and the network of
# its host is as it was. The host is one of the test's own, in namespaces where nobody else changes
# anything and every process can be seen.

setup() {
    load common
    setup_folder
    "$ABBA" doctor --require network >/dev/null 2>doctor.txt || skip "$(head -1 doctor.txt)"
    folder=$(mktemp -d /tmp/abba-kill-XXXXXX)
    chmod 777 "$folder"
    write_host_script
}

teardown() {
    [ -z "${folder-}" ] || rm -rf "$folder"
}

# What runs as the first process of the host: `host KILLS [COMMAND-BEFORE-ABBA...]`.
write_host_script() {
    cat >"$folder/host" <<'END'
#!/bin/bash
set -u
cd "${0%/*}" || exit
kills=$1
shift
export HOME=$PWD TMPDIR=$PWD
fail() { echo "$*"; exit 1; }

# A host with something to lose.
ip link set lo up && ip link add left type veth peer name right &&
    ip link set left addrgenmode none up && ip link set right addrgenmode none up && ip addr add 192.0.2.1/24 dev left && ip -6 addr add 2001:db8::1/64 dev left nodad &&
    ip route add 198.51.100.0/24 via 192.0.2.2 && ip rule add from 192.0.2.1 table 100 &&
    ip route add default via 192.0.2.2 table 100 || fail "no host"

# Counters, lifetimes and the kernel's own news of neighbours go on by themselves.
look() {
    {
        ip -d link && ip addr && ip rule && ip -6 rule && ip route show table all &&
            ip -6 route show table all && tc -d qdisc && tc -d filter show dev lo && ip netns
        echo "mounts" && cat /proc/self/mountinfo
        echo "namespaces" && readlink /proc/[0-9]*/ns/* 2>/dev/null | sort -u
        echo "settings" && grep -rs . /proc/sys/net | grep -Ev 'conntrack|/entries=|random' | LC_ALL=C sort
    } 2>&1 | sed 's/valid_lft.*//; s/expires [0-9]*sec//; s/age [0-9.]*//'
}

# Until this shell is the only process. Builtins alone: a program would be another.
settle() {
    local p tries=600 left=(some)
    while [ ${#left[@]} -gt 0 ]; do
        [ $((--tries)) -gt 0 ] || fail "left: $(ps -e -o pid,ppid,args)"
        left=()
        for p in /proc/[0-9]*; do
            [ "$p" = "/proc/$$" ] || [ ! -d "$p" ] || left+=("$p")
        done
        read -r -t 0.02 -u "$never" || true
    done
}

mkfifo never && exec {never}<>never # nothing ever comes from it: a sleep that is no process
read -r -t 0.2 -u "$never"          # the addresses' own set-up
look >before
grep -q 198.51.100.0 before || fail "the host cannot be looked at: $(head -5 before)"
half=0
for ((i = 0; i < kills; i++)); do
    profile=flow/try-light
    [ $((i % 2)) = 0 ] || profile=flow/try-pair
    rm -rf "a$i"
    "$@" "$ABBA" run --no-lock -q --aa --baseline flow "$profile" -n 500 --archive "$PWD/a$i" \
        >log 2>&1 </dev/null &
    pid=$!
    # Half of them from the first instant on, half while runs are made.
    for ((tries = 1000; i / 2 % 2 && tries; tries--)); do
        [ ! -s "a$i/samples.jsonl" ] || break
        read -r -t 0.02 -u "$never" || true
    done
    read -r -t "0.$((RANDOM % 8))$((RANDOM % 10))" -u "$never" || true
    [ ! -s "a$i/samples.jsonl" ] || half=$((half + 1))
    kill -KILL "$pid" || fail "it ended by itself: $(cat log)"
    wait "$pid" 2>/dev/null
    settle
done
look >after
diff before after || fail "the host has changed"
[ "$half" -gt 0 ] || fail "no run was made"
echo "killed $kills times, $half of them after the first run"
END
    chmod 755 "$folder/host"
}

host() { # KILLS UNSHARE-OPTION... [-- COMMAND-BEFORE-ABBA...]
    local kills=$1 options=()
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    [ $# = 0 ] || shift
    status=0
    # shellcheck disable=SC2034 # fail() of common.bash shows it
    err=
    output=$(ABBA=$ABBA unshare "${options[@]}" --pid --net --mount --fork --mount-proc --kill-child \
        "$folder/host" "$kills" "$@" 2>&1) || status=$?
    expect_status 0
    expect_out "killed $kills times"
    echo "# $output" >&3
}

@test "root's abba, killed 30 times at random points, leaves the host's network and /proc as they were" {
    [ "$(id -u)" = 0 ] || skip "not root"
    host 30
}

@test "a normal user's abba, killed 20 times at random points, leaves them as they were" {
    if [ "$(id -u)" = 0 ]; then
        as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
        "${as_user[@]}" "$ABBA" doctor --require network >/dev/null 2>&1 ||
            skip "another user can have no network here, or not see the build"
        host 20 -- "${as_user[@]}"
    else
        host 20 --map-root-user
    fi
}
