#!/bin/bash
# Starts three small machines whose kernels have sch_netem and looks at what abba knows of it:
#   qemu             Debian's 6.12 kernel, emulated, with a clock that counts instructions: netem's
#                    decisions and due times against fate's, from one seed, bit for bit
#   qemu again       the whole of abba on that kernel, as a person uses it
#   user-mode-linux  Debian's 6.1 kernel, which ignores the seed: parameters, shares, counters
# The first runs beside the other two: each takes one processor.
# Kernels come from Debian by name, into build/netem-cache; nothing is installed for them.
#
# usage: tests/netem/run.sh GUEST ABBA BUILD-FOLDER
# environment: T=exact, T=whole or T=statistics for one; ONLY=WORD for the exact models with that word in their name
# Prints lines as TAP has them, then "N passed, N failed".
set -u
guest=$1 abba=$2 build=$3
cache=$build/netem-cache
# Seconds that one machine may take; alone on its processor it takes a sixth.
bound=${NETEM_BOUND:-900}
passed=0 failed=0
self=$(realpath "$0")
mkdir -p "$cache" || exit 2
cd "$(dirname "$0")/../.." || exit 2

die() {
    echo "not ok - $*"
    echo "$passed passed, $((failed + 1)) failed"
    exit 1
}

# ---- kernels -------------------------------------------------------------------------------------

cloud='^linux-image-6\.12\.[0-9]+\+deb[0-9]+-cloud-amd64$'

newest() { # REGEX; prints the newest package of that name
    apt-cache pkgnames linux-image-6.12 | grep -E "$1" | sort -V | tail -n 1
}

# Package lists, where there are none or none that know both kernels.
refresh() {
    [ -z "$(newest "$cloud")" ] || [ -z "$(apt-cache pkgnames user-mode-linux)" ] || return 0
    echo "# apt-get update: the package lists do not know the kernels"
    if [ "$(id -u)" = 0 ]; then apt-get -qq update; else sudo -n apt-get -qq update; fi
}

# Unpacks a package into its own folder of the cache, once.
unpack() { # PACKAGE; prints the folder
    local to=$cache/$1
    if [ ! -e "$to/.whole" ]; then
        rm -rf "$to" && mkdir -p "$to" || return
        (cd "$to" && apt-get download "$1" >"$cache/download.log" 2>&1 && dpkg -x ./*.deb . &&
            rm -f ./*.deb && touch .whole) || return
    fi
    echo "$to"
}

# ---- a root for the guest ------------------------------------------------------------------------

# A program, and its libraries at the places where it looks for them.
add_program() { # ROOT PROGRAM NAME
    local library
    cp "$2" "$1/$3" || return
    ldd "$2" | grep -oE '/[^ ]+' | while read -r library; do
        [ -e "$1$library" ] || { mkdir -p "$1${library%/*}" && cp -L "$library" "$1$library"; } || return
    done
}

make_root() { # FOLDER MODULE...
    local root=$1 n=0 file
    shift
    rm -rf "$root"
    mkdir -p "$root"/{dev,proc,sys,tmp,modules,tables} || return
    add_program "$root" "$guest" init || return
    for file in /usr/lib/tc /usr/lib/*-linux-gnu*/tc /usr/lib64/tc /usr/share/tc; do
        [ ! -e "$file/normal.dist" ] || cp "$file"/*.dist "$root/tables/" || return
    done
    for file; do
        case $file in
        *.xz) xz -dc "$file" >"$root/modules/$n.ko" || return ;;
        *) cp "$file" "$root/modules/$n.ko" || return ;;
        esac
        n=$((n + 1))
    done
}

# Passes the guest's lines on and counts them; the guest's plan says how many there must be.
count() { # NAME
    local line planned=-1 seen=0 said=()
    while IFS= read -r line; do
        line=${line%$'\r'}
        case $line in
        'ok '*)
            passed=$((passed + 1)) seen=$((seen + 1))
            line="ok $((passed + failed)) - ${line#* - }" # one count over both machines
            ;;
        'not ok '*)
            failed=$((failed + 1)) seen=$((seen + 1))
            line="not ok $((passed + failed)) - ${line#* - }"
            ;;
        1..*)
            planned=${line#1..}
            continue
            ;;
        '#'*) ;;
        *)
            said+=("$line") # the kernel's and the emulator's own
            continue
            ;;
        esac
        echo "$line"
    done
    [ "$seen" = "$planned" ] && [ "$seen" != 0 ] && return
    printf '# %s\n' "${said[@]}"
    echo "not ok - $1: the machine ended early, or never began"
    failed=$((failed + 1))
}

# ---- machines ------------------------------------------------------------------------------------

# Debian's 6.12 kernel, into `kernel`.
fetch_cloud() {
    local package
    package=$(newest "$cloud")
    [ -n "$package" ] || die "apt knows no linux-image-6.12.*-cloud-amd64 on this system"
    kernel=$(unpack "$package") || die "cannot get $package: $(tail -n 1 "$cache/download.log")"
}

# Each instruction takes 2 ns there, whatever the host does meanwhile.
emulate() { # NAME ROOT WORD-OF-ITS-COMMAND-LINE...
    local name=$1 root=$2
    shift 2
    (cd "$root" && find . | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$root.cpio.gz" ||
        die "cannot pack $root"
    echo "# qemu: ${kernel##*/}"
    count "$name" < <(timeout --foreground -k 5 "$bound" qemu-system-x86_64 -accel tcg -cpu max -icount \
        shift=1,sleep=off -m 768 -smp 1 -nic none -nographic -no-reboot \
        -kernel "$kernel"/boot/vmlinuz-* -initrd "$root.cpio.gz" -append \
        "console=ttyS0 quiet panic=-1 mitigations=off nokaslr audit=0 apparmor=0 no_timer_check tsc=reliable TC_LIB_DIR=/tables $*" \
        </dev/null 2>&1 | sed -u 's/^.*\x1b[^#on1]*//')
}

exact() {
    local kernel root=$build/netem-exact
    fetch_cloud
    make_root "$root" "$kernel"/lib/modules/*/kernel/drivers/net/veth.ko.xz \
        "$kernel"/lib/modules/*/kernel/net/sched/sch_netem.ko.xz || die "cannot make $root"
    emulate qemu "$root" ipv6.disable=1 MODE=exact ${ONLY:+"ONLY=$ONLY"}
}

whole() {
    local kernel root=$build/netem-whole file modules=()
    fetch_cloud
    for file in drivers/net/veth net/sched/{sch_netem,sch_ingress,cls_u32,act_mirred}; do
        modules+=("$kernel"/lib/modules/*/kernel/"$file".ko.xz)
    done
    if ! { make_root "$root" "${modules[@]}" && add_program "$root" "$abba" abba &&
        add_program "$root" "${abba%/*}/runners/flow/flow" flow && mkdir "$root/data" &&
        cp -r runners profiles thresholds "$root/data/"; }; then
        die "cannot make $root"
    fi
    emulate "the whole" "$root" MODE=whole
}

statistics() {
    local uml root=$build/netem-statistics file modules=()
    uml=$(unpack user-mode-linux) || die "cannot get user-mode-linux: $(tail -n 1 "$cache/download.log")"
    for file in lib/crc-ccitt net/ipv6/ipv6 net/sched/sch_netem drivers/net/veth; do
        modules+=("$uml"/usr/lib/uml/modules/*/kernel/"$file".ko)
    done
    make_root "$root" "${modules[@]}" || die "cannot make $root"
    echo "# user-mode-linux"
    count user-mode-linux < <(TMPDIR=/tmp timeout -k 5 "$bound" "$uml/usr/bin/linux.uml" mem=768M \
        rootfstype=hostfs rootflags="$(realpath "$root")" ro init=/init con=null con0=null,fd:1 ssl=null \
        quiet MODE=statistics TC_LIB_DIR=/tables </dev/null 2>&1)
}

# The longest one beside the others, in a session of its own; what it says comes after theirs.
all() {
    local kernel beside held=$build/netem-exact.tap
    fetch_cloud # for both
    T=exact setsid "$self" "$guest" "$abba" "$build" >"$held" 2>&1 &
    beside=$!
    # shellcheck disable=SC2064 # that process, whatever the name holds later
    trap "kill -- -$beside 2>/dev/null" EXIT
    whole
    statistics
    wait "$beside"
    trap - EXIT
    # Its own count is the plan that count() wants.
    count exact < <(awk '/^[0-9]+ passed, [0-9]+ failed$/ { print "1.." $1 + $3; next } 1' "$held")
}

begun=$SECONDS
[ -e "$cache/user-mode-linux/.whole" ] || refresh || true # what is missing is said by name
case ${T-} in
'') all ;;
exact | whole | statistics) "$T" ;;
*) die "no test '$T': exact, whole, statistics" ;;
esac
echo "# $((SECONDS - begun)) s"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
