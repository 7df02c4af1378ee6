#!/usr/bin/env bats
# Real archives that are kept with the sources: each yields its report again, byte for byte, however
# abba was compiled and whatever the processor can do.

setup() {
    load common
    setup_folder
    samples=$BATS_TEST_DIRNAME/../../archive/sample
}

# The report of every sample by the program $1 is the one that it holds.
same_reports() {
    local folder count=0

    for folder in "$samples"/*/; do
        "$1" report "$folder" --format json >report.json || [ $? -le 4 ]
        cmp report.json "$folder/report.json"
        count=$((count + 1))
    done
    [ "$count" -gt 0 ]
}

@test "samples are whole, for abba and for sha256sum" {
    local folder count=0

    for folder in "$samples"/*/; do
        abba verify "$folder"
        expect_status 0
        (cd "$folder" && sha256sum --quiet -c SHA256SUMS)
        count=$((count + 1))
    done
    [ "$count" -gt 0 ]
}

@test "samples yield their reports again" {
    same_reports "$ABBA"
}

@test "samples yield their reports again without FMA and AVX2" {
    GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2 same_reports "$ABBA"
    # glibc before 2.33 has other names for the same
    GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA_Usable,-AVX2_Usable same_reports "$ABBA"
}

@test "samples yield their reports again from an abba that clang compiled" {
    command -v clang >/dev/null || skip "clang is not installed"
    [ "$ABBA_KIND" = release ] || skip "once is enough"
    make -s -C "$BATS_TEST_DIRNAME/../.." -j2 CC=clang BUILD="$ABBA_BUILD/clang" \
        "$ABBA_BUILD/clang/abba" >make.log 2>&1 || { cat make.log >&2; false; }
    same_reports "$ABBA_BUILD/clang/abba"
}
