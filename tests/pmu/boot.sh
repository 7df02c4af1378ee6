#!/bin/bash
# Hardware counters on a real kernel: boots Debian's arm64 kernel under QEMU, whose processor has a
# PMU that counts cycles and instructions exactly (-icount: an instruction every 2 ns), and runs abba
# there as root and as a normal user. Not part of `make test`: it needs Debian's arm64 packages,
# which go below the build folder and leave this machine's own packages alone.
#
# usage: tests/pmu/boot.sh     ABBA_BUILD: the build folder (build)
#   PMU_TIMEOUT   seconds for the emulated machine (600)
#   PMU_UNITS     unit tests to run there too ("counters drain noise")
# Exit status: 0 passed, or skipped with the reason; 1 a test failed; 2 it could not be set up.
# Hybrid processors (several PMUs) are not proved here: QEMU emulates none.
set -u
cd "$(dirname "$0")/../.." || exit 2
top=$PWD
build=$(realpath -m "${ABBA_BUILD:-build}")/pmu
: "${PMU_TIMEOUT:=600}" "${PMU_UNITS=counters drain noise}"
triplet=aarch64-linux-gnu
libraries="libpfm4-dev libpcre2-dev libcjson-dev libcurl4-openssl-dev libmnl-dev libssl-dev
    libarchive-dev libcmocka-dev"

skip() {
    echo "skipped: $*"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
fail() {
    echo "pmu: $*" >&2
    exit 2
}

# ---- Debian's arm64 packages, below the build folder -------------------------------------------
# apt with its own state, no installed packages and another architecture: the sources are this
# machine's, those of Debian alone.
foreign_apt() { # apt-get|apt-cache ARGUMENTS...
    local tool=$1
    shift
    APT_CONFIG=$build/apt/apt.conf "$tool" -qq "$@"
}

prepare_apt() {
    mkdir -p "$build/apt/lists/partial" "$build/apt/archives/partial" || return 1
    : >"$build/apt/status"
    # shellcheck disable=SC2016
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
        'Created-By: Packages' 'Origin: Debian' | sort -u >"$build/apt/sources.list"
    [ -s "$build/apt/sources.list" ] || return 1
    cat >"$build/apt/apt.conf" <<EOF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Debug::NoLocking "true";
Dir::Cache "$build/apt";
Dir::Cache::archives "$build/apt/archives";
Dir::Etc::sourcelist "$build/apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State "$build/apt";
Dir::State::status "$build/apt/status";
EOF
    foreign_apt apt-get update
}

fetch() {
    local kernel names
    kernel=$(foreign_apt apt-cache depends linux-image-cloud-arm64 | awk '/Depends:/ { print $2; exit }')
    # shellcheck disable=SC2086
    names=$(foreign_apt apt-get install -s $libraries | awk '/^Inst / { print $2 }' |
        grep -vE '^(libc6-dev|linux-libc-dev|libc-dev-bin|.*-doc)$')
    if [ -z "$kernel" ] || [ -z "$names" ]; then return 1; fi
    rm -rf "$build/debs" "$build/sysroot"
    mkdir -p "$build/debs" "$build/sysroot"
    # shellcheck disable=SC2086
    (cd "$build/debs" && foreign_apt apt-get download $names busybox-static "$kernel") || return 1
    # Libraries' headers and libc's do not mix: libc is the cross compiler's, at run time Debian's.
    for deb in "$build"/debs/*.deb; do dpkg-deb -x "$deb" "$build/sysroot" || return 1; done
    rm -rf "$build/debs"
    touch "$build/sysroot/.complete"
}

# ---- abba for arm64 ------------------------------------------------------------------------------
cross_make() {
    local lib=$build/sysroot/usr/lib/$triplet
    PKG_CONFIG_LIBDIR=$lib/pkgconfig:$build/sysroot/usr/share/pkgconfig \
        PKG_CONFIG_SYSROOT_DIR=$build/sysroot \
        make -j"$(nproc)" BUILD="$build/arm64" KIND=release CC=$triplet-gcc AR=$triplet-ar \
        CPPFLAGS="-isystem $build/sysroot/usr/include -isystem $build/sysroot/usr/include/$triplet" \
        LDFLAGS="-L$lib -Wl,-rpath-link=$lib -Wl,-rpath-link=$build/sysroot/lib/$triplet" "$@"
}

cross_build() {
    local cost=(tests/cost/*.c) units=() flags=(-std=gnu11 -O2 -Wall -Wextra -Wshadow -Wconversion -Werror)
    cost=("${cost[@]/#tests/$build\/arm64}")
    for unit in $PMU_UNITS; do units+=("$build/arm64/release/tests/test_$unit"); done
    cross_make all "${cost[@]%.c}" "${units[@]}" >"$build/make.log" 2>&1 || return 1
    $triplet-gcc "${flags[@]}" -static -nostdlib -fno-stack-protector -o "$build/count" tests/pmu/count.c &&
        $triplet-gcc "${flags[@]}" -D_GNU_SOURCE -static -o "$build/hog" tests/pmu/hog.c
}

# ---- the machine's first file system ---------------------------------------------------------------
needed() { $triplet-readelf -d "$@" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }

add_libraries() { # PROGRAM...
    local todo name file
    todo=$(needed "$@")
    while [ -n "$todo" ]; do
        name=${todo%%$'\n'*}
        todo=$(tail -n +2 <<<"$todo")
        [ ! -e "$root/lib/$name" ] || continue
        for file in "$build/sysroot"/{usr/,}lib/{$triplet/,}"$name"; do
            [ ! -e "$file" ] || break
        done
        cp -L "$file" "$root/lib/" || return 1
        todo=$(needed "$file")${todo:+$'\n'$todo}
    done
    cp -L "$build/sysroot/lib/ld-linux-aarch64.so.1" "$root/lib/"
}

make_root() {
    root=$build/root
    rm -rf "$root"
    mkdir -p "$root"/{bin,lib,proc,sys,dev,tmp,etc,home/user} "$root"/usr/local/{bin,share/abba} \
        "$root/src/build/tests"
    cp "$(find "$build/sysroot" -path '*bin/busybox')" "$root/bin/busybox" &&
        cp tests/pmu/init "$root/init" && chmod 755 "$root/init" &&
        cp "$build/arm64/abba" "$build/count" "$build/hog" "$root/usr/local/bin/" &&
        cp -r runners profiles thresholds "$root/usr/local/share/abba/" &&
        cp -r "$build/arm64/cost" "$root/src/build/" || return 1
    printf 'root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n' >"$root/etc/passwd"
    for unit in $PMU_UNITS; do
        $triplet-strip -o "$root/src/build/tests/test_$unit" "$build/arm64/release/tests/test_$unit" || return 1
    done
    # shellcheck disable=SC2046
    add_libraries "$root/usr/local/bin/abba" $(find "$root/src/build/tests" -name 'test_*') || return 1
    (cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet) >"$build/initrd"
}

boot() {
    # An emulated machine that stops answering is ended by its time limit, and the tests fail.
    timeout "$PMU_TIMEOUT" qemu-system-aarch64 -M virt -cpu max -m 768 -smp 1 -accel tcg \
        -icount shift=1,sleep=off -nic none -nographic -no-reboot \
        -kernel "$(find "$build/sysroot/boot" -name 'vmlinuz-*' | sort | tail -n 1)" \
        -initrd "$build/initrd" -append 'console=ttyAMA0 quiet panic=-1 rdinit=/init' \
        </dev/null >"$build/console.log" 2>&1
}

command -v apt-get >/dev/null 2>&1 || skip "Debian's arm64 packages are needed, and there is no apt-get"
tests/setup.sh pmu || fail "the emulator or the cross compiler could not be installed"
mkdir -p "$build" || exit 2
if [ ! -e "$build/sysroot/.complete" ]; then
    echo "pmu: fetching Debian's arm64 kernel and libraries"
    prepare_apt || skip "this machine's package sources have no Debian for arm64"
    fetch || fail "Debian's arm64 packages could not be fetched"
fi
echo "pmu: building for arm64"
cross_build || { tail -n 20 "$build/make.log"; fail "the build for arm64 failed: $build/make.log"; }
make_root || fail "the machine's file system could not be made"
echo "pmu: booting (at most $PMU_TIMEOUT s)"
begun=$SECONDS
boot
echo "pmu: ran $((SECONDS - begun)) s; its console: ${build#"$top"/}/console.log"
echo "not proved here: hybrid processors, caches and branches (QEMU emulates neither)"
python3 tests/pmu/check "$build/console.log" "$(realpath -m "${ABBA:-$build/../abba}")" |
    if [ "${VERBOSE:-0}" = 1 ]; then cat; else grep -vE '^(ok |1\.\.)'; fi
exit "${PIPESTATUS[0]}"
