#!/usr/bin/env bats
# Running an archive's plan again, and whether its verdicts come out again.

setup() {
    load common
    setup_folder
}

# A runner whose figure is what the file `figure` of each variant says: what comes out is known.
make_archive() { # OLD NEW [OPTION...]
    make_runner '{"metric": "size", "pattern": "^size=(?<value>[0-9]+)$", "unit": "B", "better": "lower"}' \
        "echo \"size=\$(cat figure-\$1)\""
    echo "$1" >figure-a
    echo "$2" >figure-b
    echo '{"thresholds": "size", "rule": "bounded", "pairs": 6,
           "limits": {"size": {"worse": "5%"}}}' >size.json
    shift 2
    abba run --no-lock -q t/p --baseline old=./program --baseline-arg a --candidate new=./program \
        --candidate-arg b --thresholds ./size.json --archive a "$@"
}

# Makes SHA256SUMS fit again after something was altered.
sum_again() { # ARCHIVE
    (cd "$1" && find . -type f ! -name SHA256SUMS | sed 's,^\./,,' | LC_ALL=C sort |
        xargs sha256sum) >sums
    mv sums "$1/SHA256SUMS"
}

@test "the same programs reproduce every verdict: exit 0 and an archive of the same plan" {
    make_archive 10000 11000
    expect_status 1
    abba rerun --no-lock a --archive b
    expect_status 0
    [[ "$output" == "reproduced  1 of 1 judged verdicts agree; bounds overlap"* ]] || fail "words"
    expect_out "programs, libraries and input are those of the archive"
    expect_out "the same, as far as the archive describes it"
    abba verify b
    expect_status 0
    plan=$(grep plan_sha256 a/series.json)
    [ "$plan" = "$(grep plan_sha256 b/series.json)" ]
    [ "$(grep -o '"seed":[^,]*' a/series.json)" = "$(grep -o '"seed":[^,]*' b/series.json)" ]
}

@test "another verdict is not reproduced: exit 1" {
    make_archive 10000 11000
    echo 10000 >figure-b
    abba rerun --no-lock a --archive b
    expect_status 1
    [[ "$output" == "not reproduced  0 of 1 judged verdicts agree"* ]] || fail "words"
    expect_out "differs"
}

@test "the same verdict with bounds elsewhere is not reproduced" {
    make_archive 10000 12000
    echo 15000 >figure-b
    abba rerun --no-lock a --archive b
    expect_status 1
    expect_out "1 of 1 judged verdicts agree; the bounds of 1 do not overlap"
    expect_out "bounds apart"
}

@test "a series that fails now cannot tell: exit 3" {
    make_archive 10000 11000
    rm figure-b
    abba rerun --no-lock a --archive b
    expect_status 3
    [[ "$output" == "cannot tell"* ]] || fail "words"
}

@test "where nothing was judged there is nothing to reproduce: exit 0, and it is said" {
    compare -q -n 6 --archive a true true
    abba rerun --no-lock a --archive b
    expect_status 0
    expect_out "nothing was judged"
}

@test "programs and input that differ are named, and are run only with --allow-different" {
    make_archive 10000 11000
    echo '# more' >>program
    abba rerun --no-lock a --archive b
    expect_status 2
    expect_err "program"
    expect_err "--allow-different"
    [ ! -e b ]
    abba rerun --no-lock a --archive b --allow-different
    expect_status 0
    expect_out "reproduced"
    expect_out "has SHA-256"
    [ "$(grep plan_sha256 a/series.json)" != "$(grep plan_sha256 b/series.json)" ]
    abba verify b
    expect_status 0
    rm program
    abba rerun --no-lock a --archive c --allow-different
    expect_status 2
    [ ! -e c ]
    echo one >input
    compare -q -n 2 --archive d --input input cat cat
    echo two >input
    abba rerun --no-lock d --archive e
    expect_status 2
    expect_err "input"
}

@test "a library that differs is named" {
    echo 'int f(void) { return 0; }' >lib.c
    echo 'int f(void); int usleep(unsigned); int main(void) { usleep(20000); return f(); }' >main.c
    cc -shared -fPIC -o libf.so lib.c
    cc -o one main.c -L. -lf -Wl,-rpath,"$PWD"
    compare -q -n 12 --archive a ./one true
    grep -q libf.so a/loaded.json || skip "the program was too short to be seen"
    echo 'int g(void) { return 1; }' >>lib.c
    cc -shared -fPIC -o libf.so lib.c
    abba rerun --no-lock a --archive b
    expect_status 2
    expect_err "libf.so"
}

@test "on another machine changes are compared, never absolute figures" {
    make_archive 10000 11000
    sed -i 's/"kernel": "Linux /"kernel": "Linux 0/' a/series.json
    sum_again a
    # What a machine measures is not what another one does; the change is.
    echo 777770 >figure-a
    echo 855547 >figure-b
    abba rerun --no-lock a --archive b
    expect_status 0
    expect_out "reproduced"
    expect_out "kernel was"
    expect_out "never absolute figures"
    expect_no "778kB"
    expect_no "baseline then"
}

@test "another back end of the network is refused" {
    abba doctor --require network
    [ "$status" = 0 ] || skip "no private networks here"
    compare -q -n 2 --archive a --impair "delay 1ms" true true
    skip_if_too_busy_for_a_network
    expect_status 0
    abba rerun --no-lock a --archive b
    skip_if_too_busy_for_a_network
    expect_status 0
    # Neither back end may be had where the archive's is not: here the kernel's.
    abba doctor --require netem
    if [ "$status" != 0 ]; then
        sed -i 's/"backend":"user"/"backend":"kernel"/g' a/samples.jsonl
        sum_again a
        abba rerun --no-lock a --archive c
        expect_status 2
        expect_err "back end 'kernel', which is not to be had here"
        [ ! -e c ]
    fi
}

@test "what is no whole archive is refused" {
    abba rerun nowhere
    expect_status 5
    make_archive 10000 11000
    rm a/SHA256SUMS
    abba rerun a
    expect_status 3
    expect_err "abba resume finishes it"
    echo >>a/series.json
    sum_again a
    sed -i '1s/^./0/' a/SHA256SUMS
    abba rerun a
    expect_status 5
    abba rerun
    expect_status 2
}

@test "an archive that is there already is refused before anything runs" {
    make_archive 10000 11000
    abba rerun --no-lock a --archive a
    expect_status 2
    expect_err "exists already"
}

@test "rerun --plan checks and prints, and runs nothing" {
    make_archive 10000 11000
    abba rerun a --plan
    expect_status 0
    expect_out "plan "
    [ ! -e archive ]
}
