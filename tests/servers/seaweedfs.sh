#!/bin/bash
# Builds SeaweedFS, an S3 store that checks signatures, from its Go module to FILE: many minutes, some
# gigabytes of memory. tests/cli/seaweedfs.bats uses it where it is there.
#
# usage: tests/servers/seaweedfs.sh FILE
# Exit status: 0 it is there now; 1 it could not be built; 2 there is no Go.
set -u
version=v0.0.0-20261109003541-7506e5f91cd6
[ $# = 1 ] || { echo "usage: $0 FILE" >&2 && exit 2; }
file=$(realpath -m "$1")
[ ! -x "$file" ] || exit 0
command -v go >/dev/null || { echo "seaweedfs: no Go here" >&2 && exit 2; }

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# A module of its own: its go.mod replaces others, which 'go install' refuses.
go mod init test >/dev/null 2>&1 &&
    go get github.com/seaweedfs/seaweedfs/weed@$version &&
    go build -ldflags '-s -w' -o weed github.com/seaweedfs/seaweedfs/weed &&
    mkdir -p "$(dirname "$file")" && mv weed "$file"
