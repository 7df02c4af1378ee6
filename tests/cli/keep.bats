#!/usr/bin/env bats
# Programs kept in the archive, and archives that are run again where theirs are gone.

setup() {
    load common
    setup_folder
    command -v cc >/dev/null || skip "no compiler"
    echo 'int f(void) { return 1; }' >lib.c
    cat >main.c <<'END'
int f(void);
int usleep(unsigned);
int printf(const char *, ...);
int main(void) { usleep(20000); printf("size=%d\n", f() * 10000); return 0; }
END
    cc -shared -fPIC -Wl,-soname,libf.so -o libf.so lib.c
    cc -o one main.c -L. -lf -Wl,-rpath,"$PWD"
    cp one two
}

keep() { # ARCHIVE [COMMAND...]
    local folder=$1
    shift
    compare -q -n 12 --keep-programs --archive "$folder" "${@:-./one}" ./two
    expect_status 0
    [ "$(find "$folder/programs" -type f | wc -l)" -ge 2 ]
    grep -q libf.so "$folder/loaded.json" || skip "the program was too short to be seen"
}

# Another library of the same name.
change_library() {
    echo 'int f(void) { return 2; }' >lib.c
    cc -shared -fPIC -Wl,-soname,libf.so -o libf.so lib.c
}

# What the programs of an archive printed, each line once.
printed() {
    cat "$1"/raw/*.stdout | sort -u
}

@test "--keep-programs keeps what ran by content: programs, libraries, loader, input and abba" {
    echo text >input
    compare -q -n 12 --keep-programs --input input --archive a ./one ./two
    for file in one input "$ABBA"; do
        cmp "$file" "a/programs/$(sha256sum <"$file" | cut -d' ' -f1)"
    done
    (cd a/programs && for f in *; do [ "$f" = "$(sha256sum <"$f" | cut -d' ' -f1)" ]; done)
    (cd a && sha256sum -c --quiet SHA256SUMS)
    abba verify a
    expect_status 0
    python3 - <<'END'
import json, os
for f in json.load(open("a/loaded.json"))["files"]:
    assert not f["sha256"] or os.path.exists("a/programs/" + f["sha256"]), f["path"]
END
}

@test "programs that are gone are taken from the archive, with the same plan" {
    keep a
    rm one two
    abba rerun --no-lock a --archive b
    expect_status 0
    expect_out "program 'one' of 'baseline' is the archive's copy"
    [ "$(grep plan_sha256 a/series.json)" = "$(grep plan_sha256 b/series.json)" ]
    abba verify b
    expect_status 0
    nothing_left
}

@test "libraries that differ are taken from the archive by LD_LIBRARY_PATH" {
    keep a
    change_library
    [ "$(./one)" = size=20000 ]
    abba rerun --no-lock a --archive b
    expect_status 0
    expect_out "by LD_LIBRARY_PATH"
    [ "$(printed b)" = size=10000 ]
    nothing_left
}

@test "a loader that differs is taken from the archive, too, and it is said" {
    loader=$(python3 -c '
import json, sys
print([f["path"] for f in json.load(open("a/loaded.json"))["files"]
       if (f["soname"] or "").startswith("ld-")][0])' 2>/dev/null || echo /lib64/ld-linux-x86-64.so.2)
    [ -e "$loader" ] || skip "a loader of another name"
    cp "$loader" ld.so
    chmod +x ld.so
    cc -o three main.c -L. -lf -Wl,-rpath,"$PWD" -Wl,--dynamic-linker="$PWD/ld.so"
    keep a ./three
    printf x >>ld.so
    change_library
    abba rerun --no-lock a --archive b
    expect_status 0
    expect_out "started"
    expect_out "through that"
    [ "$(printed b)" = size=10000 ]
    nothing_left
}

@test "an archive without kept programs names what is missing" {
    compare -q -n 4 --archive a ./one ./two
    rm one
    abba rerun --no-lock a --archive b
    expect_status 2
    expect_err one
    [ ! -e b ]
}

@test "a kept program that was altered is damage" {
    keep a
    kept=a/programs/$(sha256sum <one | cut -d' ' -f1)
    rm one
    printf x >>"$kept"
    abba verify a
    expect_status 5
    abba rerun --no-lock a --archive b
    expect_status 5
    # also where the list was made to fit
    (cd a && find . -type f ! -name SHA256SUMS | sed 's,^\./,,' | LC_ALL=C sort |
        xargs sha256sum) >sums
    mv sums a/SHA256SUMS
    abba verify a
    expect_status 5
    expect_err "is not the file that its name says"
    [ ! -e b ]
}

@test "a pack carries kept programs" {
    keep a
    abba pack a -o a.tar.zst
    expect_status 0
    mkdir elsewhere
    abba unpack a.tar.zst elsewhere/a
    expect_status 0
    cd elsewhere
    rm ../one ../two ../libf.so
    abba rerun --no-lock a --archive b
    expect_status 0
    [ "$(printed b)" = size=10000 ]
}

@test "a series that keeps programs and was killed keeps them when it is resumed" {
    "$ABBA" compare --no-lock -q -n 40 --keep-programs --archive a ./one ./two >/dev/null 2>&1 \
        </dev/null &
    pid=$!
    wait_for test -s a/samples.jsonl
    kill -KILL "$pid"
    wait "$pid" || true
    abba resume --no-lock -q a
    expect_status 0
    cmp one "a/programs/$(sha256sum <one | cut -d' ' -f1)"
    abba verify a
    expect_status 0
}

@test "--keep-programs without an archive is a usage error" {
    compare --keep-programs -n 2 true true
    expect_status 2
    expect_err "--keep-programs"
}
