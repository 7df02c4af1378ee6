#!/bin/sh
# A gate in front of a merge: measures the commit at hand against what it is based on, and tells.
#
#   gate.sh measure   builds both, runs the profiles, leaves gate/ behind; needs no token
#   gate.sh post      tells the pull request what gate/ holds; needs a token, runs nothing of it
#
# One job may do both. What is measured stands in these variables; change the defaults here, or set
# them in the CI. Exit status of measure: 0 passed, 1 regressed, 2 configuration, 3 incomplete,
# 4 inconclusive (no reason to be red); of post: 0 once it was told, 2 where it could not be.
set -u
: "${GATE_PROFILES:=flow/quick-*}"      # separated by blanks; abba list profiles
: "${GATE_THRESHOLDS:=default}"         # abba list thresholds
: "${GATE_BUILD:=make -j2}"             # split into words, no shell
: "${GATE_PRODUCT:=build/program}"      # the program that the build makes
: "${GATE_BASELINE:=origin/main}"       # the branch that is merged into
: "${GATE_CANDIDATE:=HEAD}"
: "${GATE_BUDGET:=10min}"               # what cannot end in time is not begun
: "${GATE_FOLDER:=gate}"                # archive.tar.zst, report.txt, report.md, junit.xml
archive=$GATE_FOLDER/archive

measure() {
    mkdir -p "$GATE_FOLDER" || exit 2
    rm -rf "$archive" "$archive.tar.zst" "$GATE_FOLDER"/report.* "$GATE_FOLDER/junit.xml"
    set -f # profiles are patterns of abba's, not of the shell
    # shellcheck disable=SC2086
    abba run $GATE_PROFILES --thresholds "$GATE_THRESHOLDS" --budget "$GATE_BUDGET" \
        --build "$GATE_BUILD" --product "$GATE_PRODUCT" \
        --baseline "git:$GATE_BASELINE" --candidate "git:$GATE_CANDIDATE" \
        --archive "$archive" -o "$GATE_FOLDER/report.txt"
    status=$?
    set +f
    [ ! -e "$GATE_FOLDER/report.txt" ] || cat "$GATE_FOLDER/report.txt"
    if [ -e "$archive/SHA256SUMS" ]; then
        abba report "$archive" -q --format markdown -o "$GATE_FOLDER/report.md"
        abba report "$archive" -q --format junit -o "$GATE_FOLDER/junit.xml"
        abba pack "$archive" -q -o "$archive.tar.zst"
    fi
    exit $status
}

# The pack comes from a job that is not trusted: unpack takes files only, notify verifies them.
post() {
    if [ -e "$archive.tar.zst" ]; then
        rm -rf "$archive"
        abba unpack -q "$archive.tar.zst" "$archive"
    fi
    abba notify --require-notify "$archive"
    [ $? != 2 ] || exit 2
}

case ${1-} in
measure) measure ;;
post) post ;;
*)
    echo "usage: gate.sh measure|post" >&2
    exit 2
    ;;
esac
