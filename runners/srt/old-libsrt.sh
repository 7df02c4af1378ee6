#!/bin/sh
# Builds two old releases of libsrt, 1.4.2 and 1.4.4, to compare newer ones with. Their sources come
# with two Rust crates, libsrt-sys 1.4.13 and srt-sys 0.1.0, which cargo fetches and checks.
#
# usage: runners/srt/old-libsrt.sh FOLDER
#   afterwards FOLDER/1.4.2 and FOLDER/1.4.4 are prefixes: --library FOLDER/1.4.2
# Needed: cargo, cmake, a C++ compiler, libssl-dev. About half a minute on two processors.
set -eu
[ $# = 1 ] || { sed -n '2,/^set/{s/^# \{0,1\}//p}' "$0" >&2 && exit 2; }
for tool in cargo cmake c++; do
    command -v "$tool" >/dev/null || { echo "$0: $tool is not installed" >&2 && exit 2; }
done
mkdir -p "$1"
folder=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$work"
cat >Cargo.toml <<'TOML'
[package]
name = "old-libsrt"
version = "0.0.0"
edition = "2021"
[lib]
path = "empty.rs"
[dependencies]
libsrt-sys = "=1.4.13"
srt-sys = "=0.1.0"
TOML
: >empty.rs
cargo vendor -q vendor >/dev/null

build() { # VERSION SOURCES
    # 1.4.2 relies on headers that included <limits> when it was written.
    cmake -S "$2" -B "build-$1" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS='-include limits' \
        -DENABLE_APPS=OFF -DENABLE_STATIC=OFF -DENABLE_CXX11=ON -DCMAKE_INSTALL_PREFIX="$folder/$1" >log
    cmake --build "build-$1" -j"$(nproc)" >>log 2>&1 || { cat log >&2 && exit 1; }
    cmake --install "build-$1" >/dev/null
    echo "$folder/$1"
}
build 1.4.2 vendor/libsrt-sys/libsrt
build 1.4.4 vendor/srt-sys/vendor/srt-1.4.4
