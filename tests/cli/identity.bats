#!/usr/bin/env bats
# What really ran is in the archive: programs, libraries, helpers, with checksums and build ids.

setup() {
    load common
    setup_folder
    cost=$ABBA_BUILD/cost
}

# A library of ours and a program that loads it from the folder that $1 names.
make_library() { # FOLDER TEXT
    mkdir -p "$1"
    echo "const char *word(void); const char *word(void) { return \"$2\"; }" >word.c
    cat >main.c <<'END'
#include <stdio.h>
#include <time.h>
const char *word(void);
int main(void)
{
    struct timespec t = {0, 60000000};
    puts(word());
    nanosleep(&t, NULL);
    return 0;
}
END
    cc -g -O1 -shared -fPIC -Wl,-soname,libword.so.1 -Wl,--build-id -o "$1/libword.so.1.2" word.c
    ln -sf libword.so.1.2 "$1/libword.so.1"
    cc -g -O1 -Wl,--build-id -o "$1/say" main.c "$1/libword.so.1.2" -Wl,-rpath,"${3:-$PWD/$1}"
}

# One value of loaded.json of archive a, by a Python expression on `l`.
loaded() {
    python3 -c "import json; l=json.load(open('a/loaded.json')); print($1)"
}

# The file of the list whose path ends so.
file() { # END EXPRESSION
    loaded "[$2 for f in l['files'] if f['path'].endswith('$1')][0]"
}

@test "a program's libraries are recorded as they were loaded" {
    make_library one alpha
    compare -n 6 --archive a one/say one/say
    expect_status 0
    [ "$(file /libword.so.1.2 "f['sha256']")" = "$(sha256sum <one/libword.so.1.2 | cut -d' ' -f1)" ]
    [ "$(file /libword.so.1.2 "f['size']")" = "$(stat -c %s one/libword.so.1.2)" ]
    [ "$(file /libword.so.1.2 "f['soname']")" = libword.so.1 ]
    file /libword.so.1.2 "' '.join(f['compilers'])" | grep -q -e -O1
    file /libword.so.1.2 "f['build_id']" | grep -Eq '^[0-9a-f]{40}$'
    [ "$(file /one/say "f['sha256']")" = "$(sha256sum <one/say | cut -d' ' -f1)" ]
    file /libc.so.6 "f['sha256']"
    [ "$(loaded "[len(r['files']) >= 3 and r['reason'] is None for r in l['roles']]")" = "[True, True]" ]
    [ "$(loaded "l['tool']['sha256']")" = "$(sha256sum <"$ABBA" | cut -d' ' -f1)" ]
    abba verify a
    expect_status 0
}

@test "processes that a program starts are recorded" {
    compare -n 6 --archive a "sh -c '$cost/touch 4 60'" "sh -c '$cost/touch 4 60'" ||
        true
    file /touch "f['path']"
    file /dash "f['path']" || file /bash "f['path']" || file /busybox "f['path']"
}

@test "the shortest program's libraries are recorded, by a traced run that is none of the series" {
    libc=$(ldd /bin/true | sed -n 's/.*=> \(.*libc\.so[^ ]*\) .*/\1/p')
    cat >count.sh <<'END'
#!/bin/sh
echo run >>runs
exec true
END
    chmod +x count.sh
    compare -n 5 --archive a ./count.sh false -f
    expect_status 0
    [ "$(loaded "[r['traced'] and r['reason'] is None for r in l['roles']]")" = "[True, True]" ]
    [ "$(file /libc.so.6 "f['sha256']")" = "$(sha256sum <"$libc" | cut -d' ' -f1)" ]
    file /libc.so.6 "f['build_id']" | grep -Eq '^[0-9a-f]{40}$'
    for program in /true /false; do
        [ "$(file "$program" "f['sha256']")" = "$(sha256sum <"$(type -P "${program#/}")" | cut -d' ' -f1)" ]
    done
    [ "$(wc -l <a/samples.jsonl)" = 10 ]
    [ "$(wc -l <runs)" = 6 ]
    abba verify a
    expect_status 0
}

@test "where no archive is kept nothing is run once more" {
    printf '#!/bin/sh\necho run >>runs\n' >count.sh
    chmod +x count.sh
    compare -n 3 ./count.sh ./count.sh
    [ "$(wc -l <runs)" = 6 ]
}

@test "programs of more than 50 ms are not run once more" {
    printf '#!/bin/sh\necho run >>runs\nexec sleep 0.1\n' >nap.sh
    chmod +x nap.sh
    compare -n 2 --archive a ./nap.sh ./nap.sh
    [ "$(wc -l <runs)" = 4 ]
    [ "$(loaded "[r['traced'] for r in l['roles']]")" = "[False, False]" ]
}

@test "where nothing may be traced, that is the reason" {
    # a sanitizer looks for leaks by ptrace
    ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 "$cost/filter" 1 ptrace -- "$ABBA" compare -q --no-lock -n 2 --archive a \
        "$cost/die exit 0" "$cost/die exit 0"
    [ "$(loaded "[r['traced'] for r in l['roles']]")" = "[False, False]" ]
    # a tick may have seen it all the same
    loaded "[r for r in l['roles'] if not r['files'] and
             r['reason'] != 'it ended before it could be looked at, and it cannot be traced: Operation not permitted']" |
        grep -qx '\[\]'
    abba verify a
    expect_status 0
}

@test "a library that changes during the series makes it invalid" {
    make_library one alpha
    make_library two beta
    compare -n 30 --archive a --threshold wall_time=50% one/say one/say &
    # once the library is known
    wait_for grep -qs libword a/loaded.json
    mv two/libword.so.1.2 one/libword.so.1.2
    status=0
    wait $! || status=$?
    abba report a
    expect_status 3
    expect_out "invalid"
    grep -q "libword.so.1.2' changed during the series" a/samples.jsonl
}

@test "so does one of a program that is too short to be seen by ticks" {
    mkdir one two
    for word in alpha beta; do
        folder=one && [ $word = alpha ] || folder=two
        echo "const char *word(void); const char *word(void) { return \"$word\"; }" >word.c
        cc -shared -fPIC -Wl,-soname,libshort.so -o $folder/libshort.so word.c
    done
    echo 'const char *word(void); int main(void) { return !word(); }' >main.c
    cc -o short main.c one/libshort.so -Wl,-rpath,"$PWD/one"
    compare -n 2000 --archive a --threshold wall_time=50% ./short ./short &
    wait_for grep -qs libshort a/loaded.json
    mv two/libshort.so one/libshort.so
    wait $! || true
    abba report a
    expect_status 3
    grep -q "libshort.so' changed during the series" a/samples.jsonl
    [ "$(loaded "[r['traced'] for r in l['roles']]")" = "[True, True]" ]
}

@test "the home folder is not in the record, unless it is asked for" {
    mkdir -p "$HOME"
    make_library "home/lib" alpha
    compare -n 6 --archive a home/lib/say home/lib/say
    expect_status 0
    file /libword.so.1.2 "f['path']" | grep -q '^HOME/lib'
    rm -r a
    compare -n 6 --archive a --identify home/lib/say home/lib/say
    file /libword.so.1.2 "f['path']" | grep -q "^$HOME/lib"
}

@test "a program made in memory has a reason instead of a checksum" {
    command -v python3 >/dev/null || skip "no python3"
    cat >memory.py <<'END'
import os, shutil, sys
fd = os.memfd_create("made")
with open("/bin/sleep", "rb") as f, os.fdopen(fd, "wb", closefd=False) as out:
    shutil.copyfileobj(f, out)
os.execv(f"/proc/self/fd/{fd}", ["made", "0.1"])
END
    compare -n 6 --archive a "$(command -v python3) memory.py" "$(command -v python3) memory.py"
    file "/memfd:made (deleted)" "f['reason']" | grep -q "no path"
    abba verify a
    expect_status 0
}

# A runner of one role whose program is given.
runner_of() { # TEXT-METRIC-IN-OUTPUT
    make_runner '{"metric": "value", "pattern": "value=(?<value>[0-9]+)", "unit": "count", "better": "lower"}'
}

verdict_of_copies() {
    rm -rf a
    abba run --no-lock t/p --baseline old="$1" --candidate new="$2" --archive a -n 6 --threshold value=5%
    python3 -c "import json; print(json.load(open('a/report.json'))['verdict'])"
}

@test "the same program in two places is identical, unless its libraries lie beside it" {
    runner_of
    make_library one "value=1" # found by an absolute path
    mkdir copy && cp one/say copy/say
    [ "$(verdict_of_copies one/say copy/say)" = identical ]
    make_library three "value=1" "\$ORIGIN"
    make_library four "value=2" "\$ORIGIN"
    cp three/say four/say
    cmp three/say four/say
    [ "$(verdict_of_copies three/say four/say)" = regressed ]
    [ "$(verdict_of_copies three/say three/say)" = identical ]
    abba verify a
    expect_status 0
}

@test "the same script in two places is run: it may look beside itself" {
    runner_of
    mkdir five six
    echo 'value=1' >five/figure
    echo 'value=2' >six/figure
    for folder in five six; do
        # shellcheck disable=SC2016 # the script's own words
        printf '#!/bin/sh\ncat "$(dirname "$0")/figure"\n' >$folder/say
        chmod +x $folder/say
    done
    [ "$(verdict_of_copies five/say six/say)" = regressed ]
    [ "$(verdict_of_copies five/say five/say)" = identical ]
}
