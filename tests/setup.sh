#!/bin/sh
# Installs what the build and the tests need and this machine lacks: one apt-get install, with sudo
# where the caller is not root. Says nothing when everything is there, and then needs no network.
#
# usage: tests/setup.sh [--check] build|demo|test|lint|deb|fuzz|bench|netem|pmu|s3|rtc|rtc-c|rtc-go|rtc-node|rtc-jvm|rtc-rust
#   --check   only say what is missing
# Exit status: 0 all is there now; 2 something is missing and could not be installed.
#
# Each line of a table below: the Debian package, how to see that it is there, and what to look for.
# Libraries are looked for by pkg-config's names: several packages may provide one.
set -u

build_needs='
gcc                   command cc
make                  command make
pkg-config            command pkg-config
libc6-dev             header  stdio.h
libc6-dev             static  libc.a
libpfm4-dev           header  perfmon/pfmlib_perf_event.h
libpcre2-dev          pc      libpcre2-8
libcjson-dev          pc      libcjson
libcurl4-openssl-dev  pc      libcurl
libexpat1-dev         pc      expat
libmnl-dev            pc      libmnl
libssl-dev            pc      libcrypto
libarchive-dev        pc      libarchive
libdw-dev             pc      libdw
libelf-dev            pc      libelf
'
test_needs='
libcmocka-dev         pc      cmocka
libsrt-openssl-dev    pc      srt
libsrt1.5-gnutls      shared  libsrt-gnutls.so.1.5
libxxhash-dev         pc      libxxhash
srt-tools             command srt-live-transmit
bats                  command bats
git                   command git
procps                command ps
jq                    command jq
util-linux            command unshare
iperf3                command iperf3
iputils-ping          command ping
iproute2              command ip
pigz                  command pigz
zstd                  command zstd
gzip                  command gzip
openssl               command openssl
openssh-client        command ssh-keygen
python3               command python3
python3-jsonschema    python  jsonschema
python3-botocore      python  botocore
python3-yaml          python  yaml
nginx                 command nginx
'
lint_needs='
clang-format          command clang-format
clang-tidy            command clang-tidy
shellcheck            command shellcheck
'
s3_needs='
golang          command  go
'
rtc_c_needs='
libusrsctp-dev        pc      usrsctp
'
rtc_go_needs='
golang                command go
'
rtc_node_needs='
npm                   command npm
'
rtc_jvm_needs='
default-jdk-headless  command javac
maven                 command mvn
libpulse0             shared  libpulse.so.0
'
rtc_rust_needs='
cargo                 command cargo
'
deb_needs='
dpkg-dev              command dpkg-shlibdeps
lintian               command lintian
xz-utils              command xz
'
fuzz_needs='
clang                 command clang
llvm                  command llvm-symbolizer
'
bench_needs='
hyperfine             command hyperfine
linux-perf            command perf
'
netem_needs='
qemu-system-x86       command qemu-system-x86_64
iproute2              dist    normal.dist
cpio                  command cpio
xz-utils              command xz
'
pmu_needs='
qemu-system-arm          command qemu-system-aarch64
gcc-aarch64-linux-gnu    command aarch64-linux-gnu-gcc
libc6-dev-arm64-cross    file    /usr/aarch64-linux-gnu/lib/libc.a
cpio                     command cpio
python3                  command python3
'

there() { # kind, what
    case $1 in
    # Servers lie where a normal user's PATH does not look.
    command) command -v "$2" >/dev/null 2>&1 || first_of /usr/sbin/"$2" /sbin/"$2" ;;
    file) [ -e "$2" ] ;;
    pc) pkg-config --exists "$2" 2>/dev/null ;;
    header) first_of /usr/include/"$2" /usr/include/*-linux-gnu*/"$2" /usr/local/include/"$2" ;;
    shared) first_of /usr/lib/*-linux-gnu*/"$2" /usr/lib/"$2" /usr/lib64/"$2" /usr/local/lib/"$2" ;;
    static) first_of /usr/lib/*-linux-gnu*/"$2" /usr/lib/"$2" /usr/lib64/"$2" ;;
    dist) first_of /usr/lib/tc/"$2" /usr/lib/*-linux-gnu*/tc/"$2" /usr/lib64/tc/"$2" /usr/share/tc/"$2" ;;
    python)
        first_of /usr/lib/python3/dist-packages/"$2" /usr/local/lib/python3*/*-packages/"$2" ||
            python3 -c "import $2" 2>/dev/null
        ;;
    esac
}

first_of() {
    for f; do
        [ ! -e "$f" ] || return 0
    done
    return 1
}

missing_of() { # table; prints packages, one a line
    # One pkg-config call answers for all of them where nothing is missing.
    modules=$(printf '%s\n' "$1" | awk '$2 == "pc" { print $3 }')
    # shellcheck disable=SC2086
    pkg-config --exists $modules 2>/dev/null && all_pc=1 || all_pc=0
    printf '%s\n' "$1" | while read -r package kind what; do
        case $kind in
        '') continue ;;
        pc) [ "$all_pc" = 0 ] || continue ;;
        esac
        there "$kind" "$what" || printf '%s\n' "$package"
    done | awk '!seen[$0]++'
}

oneline() { tr '\n' ' ' | sed 's/ *$//'; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"
}

# A server among the packages is for tests that start it themselves: it is not started here.
policy=/usr/sbin/policy-rc.d
forbid_services() {
    [ ! -e $policy ] && printf '#!/bin/sh\nexit 101\n' | as_root tee $policy >/dev/null &&
        as_root chmod 755 $policy
}

install_packages() { # packages...
    if ! first_of /var/lib/apt/lists/*_Packages*; then
        echo "setup: apt-get update (the package lists are empty)" >&2
        apt update >&2 || return 1
        apt install -y --no-install-recommends "$@" >&2
        return
    fi
    apt install -y --no-install-recommends "$@" >&2 && return 0
    echo "setup: trying again with fresh package lists" >&2
    apt update >&2 && apt install -y --no-install-recommends "$@" >&2
}

check_only=0
if [ "${1-}" = --check ]; then
    check_only=1
    shift
fi
case ${1-} in
build | demo) needs=$build_needs ;;
test) needs=$build_needs$test_needs ;;
lint) needs=$build_needs$lint_needs ;;
deb) needs=$build_needs$deb_needs ;;
fuzz) needs=$build_needs$fuzz_needs ;;
bench) needs=$build_needs$bench_needs ;;
netem) needs=$build_needs$netem_needs ;;
pmu) needs=$build_needs$pmu_needs ;;
s3) needs=$s3_needs ;;
rtc) needs=$build_needs$rtc_c_needs$rtc_go_needs$rtc_node_needs$rtc_rust_needs ;;
rtc-c) needs=$build_needs$rtc_c_needs ;;
rtc-go) needs=$build_needs$rtc_go_needs ;;
rtc-node) needs=$build_needs$rtc_node_needs ;;
rtc-jvm) needs=$build_needs$rtc_jvm_needs ;;
rtc-rust) needs=$build_needs$rtc_rust_needs ;;
*)
    echo "usage: tests/setup.sh [--check] build|demo|test|lint|deb|fuzz|bench|netem|pmu|s3|rtc|rtc-*" >&2
    exit 2
    ;;
esac

missing=$(missing_of "$needs" | oneline)
[ -n "$missing" ] || exit 0
echo "setup: missing: $missing" >&2
[ $check_only = 0 ] || exit 2
if ! command -v apt-get >/dev/null 2>&1; then
    echo "setup: no apt-get here; install what these Debian packages hold, then try again" >&2
    exit 2
fi
if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null 2>&1; then
    echo "setup: not root, and no sudo; as root: apt-get install --no-install-recommends $missing" >&2
    exit 2
fi
echo "setup: installing: $missing" >&2
forbid_services && forbidden=1 || forbidden=0
# shellcheck disable=SC2086
install_packages $missing
status=$?
[ "$forbidden" = 0 ] || as_root rm -f $policy
left=$(missing_of "$needs" | oneline)
[ -n "$left" ] || exit 0
echo "setup: still missing: $left (apt-get ended with status $status)" >&2
echo "  hint: as root: apt-get update && apt-get install --no-install-recommends $left" >&2
exit 2
