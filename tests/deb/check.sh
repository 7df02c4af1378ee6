#!/bin/bash
# The Debian package is clean by lintian, and what is in it works from wherever it is unpacked; so
# does what `make install` puts below a prefix. Called by `make test-deb`.
#
# usage: tests/deb/check.sh DEB PREFIX SOURCE
#   PREFIX: where `make install PREFIX=` went; SOURCE: the tree, of which nothing may be used
set -eu
deb=$1 prefix=$2 source=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset ABBA_PATH
export HOME=$scratch/home LC_ALL=C.UTF-8

say() { echo "deb: $*"; }
die() {
    echo "deb: FAILED: $*" >&2
    exit 1
}

# What a person does first, with the program below FOLDER, somewhere else and without the source.
works() { # FOLDER
    local abba=$1/bin/abba file status
    mkdir -p "$scratch/work" && cd "$scratch/work"
    "$abba" --version | grep -q '^abba ' || die "--version"
    "$abba" list profiles | grep -q '^ *flow/quick-' || die "no profiles below $1"
    "$abba" list thresholds | grep -q default || die "no thresholds below $1"
    for file in runners/srt/runner.json runners/srt/variants runners/srt/series schema/report.schema.json; do
        [ -e "$1/share/abba/$file" ] || die "no $file"
    done
    for file in zygote runners/flow/flow libabba-heap.so; do
        [ -e "$1/libexec/abba/$file" ] || die "no libexec/abba/$file"
    done
    rm -rf a
    status=0
    "$abba" run --no-lock -q flow/try-count -b single -c batch -n 6 --confirm 0 --archive a >out || status=$?
    case $status in 0 | 1 | 4) ;; *) cat out >&2 && die "run ended with status $status" ;; esac
    "$abba" verify -q a || die "verify"
    grep -q "$source" a/series.json && die "the archive names $source"
    rm -rf m
    "$abba" compare --no-lock -q -n 1 --memory-pairs 1 'ls /' 'ls /' --archive m >out || die "memory pass"
    grep -q '"heap_bytes":{"value":[1-9]' m/samples.jsonl || die "memory pass counts nothing"
    "$abba" notify --dry-run --service github --repository me/it \
        --commit aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa a >out || true
    grep -q '^<!-- abba: abba -->$' out || die "notify"
    bash -c '. "$1"; complete -p abba >/dev/null' sh "$1/share/bash-completion/completions/abba" ||
        die "completion"
    sh -n "$1/share/doc/abba/examples/ci/gate.sh" || die "examples"
}

lintian --allow-root --fail-on error,warning --info "$deb" || die "lintian"
say "lintian has nothing to say"

dpkg-deb -x "$deb" "$scratch/unpacked"
[ "$(dpkg-deb -f "$deb" Package)" = abba ] || die "fields"
dpkg-deb -f "$deb" Depends | grep -q 'libcurl' || die "Depends: $(dpkg-deb -f "$deb" Depends)"
works "$scratch/unpacked/usr"
gzip -dc "$scratch/unpacked/usr/share/man/man1/abba.1.gz" | grep -q '^\.TH' || die "manual page"
if grep -rqF "$source" "$scratch/unpacked"; then
    die "the package names the folder that it was built in: $(grep -rlF "$source" "$scratch/unpacked")"
fi
say "unpacked somewhere, it runs, and names no folder of its build"

works "$prefix"
mv "$prefix" "$scratch/moved"
works "$scratch/moved"
say "installed below a prefix, it runs there, and elsewhere when it was moved"
