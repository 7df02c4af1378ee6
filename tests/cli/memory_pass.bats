#!/usr/bin/env bats
# Memory passes: runs of their own that count what each variant asks its heap for. Programs of known
# allocation, from their calls to the archive; the figures of one pass are never those of the other.

load common

# shellcheck disable=SC2154 # bats sets status, output; common.bash sets err
setup() {
    setup_folder
    known=$ABBA_BUILD/cost/preload/known plugin=$ABBA_BUILD/cost/preload/plugin
    mkdir -p runners/known profiles/known
    # Messages are what the load says: the program prints nothing.
    cat >runners/known/runner.json <<'END'
{"runner": "known",
 "roles": {"peer": {"command": ["{program}", "{what}", "{threads}", "{count}", "{size}"]}},
 "load": {"what": {"type": "string", "default": "plain"},
          "threads": {"type": "integer", "min": 1, "max": 64, "default": 2},
          "count": {"type": "integer", "min": 1, "default": 100},
          "size": {"type": "integer", "min": 1, "default": 48}},
 "metrics": []}
END
    cat >profiles/known/plain.json <<'END'
{"profile": "known/plain", "runner": "known"}
END
}

# A program that prints messages, and does so many rounds.
messenger() { # FILE MESSAGES ROUNDS WHAT
    printf '#!/bin/sh\necho messages=%s seconds=0.5\nexec %s %s 1 %s 48\n' "$2" "$known" "$4" "$3" >"$1"
    chmod +x "$1"
}

# Values of the samples of one profile: "VARIANT VALUE" a line, or its status and reason.
figures() { # ARCHIVE PROFILE METRIC
    python3 - "$@" <<'END'
import json, sys
archive, profile, metric = sys.argv[1:]
for line in open(archive + "/samples.jsonl"):
    s = json.loads(line)
    if s["profile"] == profile:
        m = s["metrics"].get(metric)
        print(s["variant"], "absent" if m is None else m["value"] if m["status"] == "ok" else f'{m["status"]}: {m["reason"]}')
END
}

rounds_bytes() { echo $(($1 * (11 * $2 + 64))); }

@test "known allocations arrive in the archive exactly, within the window and in threads" {
    abba run --no-lock known/plain -b "$known" --aa -n 2 --confirm 0 --memory-pass --archive a
    [ "$(figures a known/plain,pass=memory heap_bytes | sort -u)" = \
        "$(printf 'baseline %s\ncandidate %s' "$(rounds_bytes 200 48)" "$(rounds_bytes 200 48)")" ]
    [ "$(figures a known/plain,pass=memory heap_calls | sort -u)" = \
        "$(printf 'baseline %s\ncandidate %s' 1600 1600)" ]
    # four pairs unless somebody says otherwise
    [ "$(figures a known/plain,pass=memory heap_calls | wc -l)" = 8 ]
    # what was counted is kept as it was told
    grep -q "^window=1 calls=1600 bytes=$(rounds_bytes 200 48) frees=1400$" a/raw/000005-peer.heap
    abba verify a
    expect_status 0
}

@test "every kind of known program arrives exactly: windows, ended threads, forks, dlopen, what fails" {
    local words rounds more
    while read -r rounds more words; do
        rm -rf a
        compare -n 1 "$known $words" "$known $words" --memory-pairs 1 --archive a
        expect_status 0
        [ "$(figures a compare,pass=memory heap_bytes | awk '{ print $2 }' | sort -u)" = \
            "$(($(rounds_bytes "$rounds" 40) + more * 40))" ] || fail "bytes of $words"
        [ "$(figures a compare,pass=memory heap_calls | awk '{ print $2 }' | sort -u)" = \
            "$((rounds * 8 + more))" ] || fail "calls of $words"
    done <<END
60 0 windows 1 10 40
400 0 ends 4 100 40
200 0 fork 2 100 40
200 100 plugin 2 100 40 $plugin
20 0 refused 2 10 40
20 0 close 2 10 40
30 0 none 1 30 40
END
}

@test "no figure of a memory pass is of time, and no timed run has the library" {
    compare -n 2 "$known none 1 10 48" "$known none 1 20 48" --memory-pass --archive a
    expect_status 0
    python3 - <<'END'
import json
for line in open("a/samples.jsonl"):
    s = json.loads(line)
    memory = s["profile"] == "compare,pass=memory"
    for name, m in s["metrics"].items():
        assert not name.startswith("heap_") or memory, name
        if memory and not name.startswith("heap_"):
            assert m["status"] == "not_counted" and m["value"] is None and "memory pass" in m["reason"], (name, m)
    assert memory or s["metrics"]["wall_time"]["status"] == "ok"
    assert any(f["path"].endswith(".heap") for r in s["roles"].values() for f in r["files"]) == memory
loaded = json.load(open("a/loaded.json"))
library = {i for i, f in enumerate(loaded["files"]) if f["path"].endswith("libabba-heap.so")}
for role in loaded["roles"]:
    if not role["profile"].endswith("pass=memory"):
        assert not library & set(role["files"]), role
    elif role["files"]:
        assert library <= set(role["files"]), role
END
    expect_out "compare,pass=memory  4 pairs"
    # the table of the pass has its figures and no others
    [ "$(printf '%s' "$output" | sed -n '/^compare,pass=memory/,$p' | grep -cE ' (wall|cpu)_time |peak_rss')" = 0 ]
    expect_out "heap_bytes"
    expect_out "heap_calls count malloc"
    expect_no "not measured: wall_time"
}

@test "whole processes count where no window is marked, and of those that programs start" {
    cat >both <<END
#!/bin/sh
$known none 1 10 48
$known none 1 5 48
END
    chmod +x both
    compare -n 2 ./both "$known none 1 10 48" --memory-pass --archive a
    # the shell asks for something itself
    local shell
    shell=$(($(figures a compare,pass=memory heap_calls | awk '/baseline/ { print $2; exit }') - 15 * 8))
    [ "$shell" -ge 0 ] && [ "$shell" -lt 1000 ]
    [ "$(figures a compare,pass=memory heap_calls | grep candidate | sort -u)" = "candidate 80" ]
    [ "$(cat a/raw/*.heap | grep -c '^process=.* program=known calls=40 ')" = 4 ]
}

@test "per message, judged by its own limit with few pairs, and said what it counts" {
    cat >runners/known/runner.json <<'END'
{"runner": "known", "roles": {"peer": {"command": ["{program}"]}},
 "metrics": [
  {"metric": "delivered_messages", "pattern": "^messages=(?<value>\\d+)"},
  {"metric": "delivery_time", "pattern": "seconds=(?<value>[\\d.]+)$", "unit": "s"},
  {"metric": "heap_bytes", "stream": "heap", "pattern": "^window=\\d+ calls=\\d+ bytes=(?<value>\\d+)", "unit": "B", "match": "all", "sacrifice": 1},
  {"metric": "heap_calls", "stream": "heap", "pattern": "^window=\\d+ calls=(?<value>\\d+)", "match": "all", "sacrifice": 1}],
 "checks": [{"ratio": ["delivered_messages", "delivery_time"], "equals": "messages_per_second", "within": "1%"}]}
END
    messenger old 100 20 windows
    messenger new 100 22 windows
    # windows of 20, 40 and 60 rounds: the first one is sacrificed
    abba run --no-lock known/plain -b old=./old -c new=./new -n 2 --confirm 0 --archive a \
        --memory-pass --threshold heap_bytes_per_message=5% --format json
    expect_status 1
    [ "$(figures a known/plain,pass=memory heap_bytes_per_message | sort -u)" = "$(printf 'new 325.6\nold 296')" ] # 55 and 50 rounds of 592 B
    [ "$(figures a known/plain,pass=memory heap_calls_per_message | sort -u)" = "$(printf 'new 4.4\nold 4')" ]
    [ "$(figures a known/plain heap_bytes | sort -u)" = "$(printf 'new absent\nold absent')" ]
    [ "$(report '[(p["profile"], m["verdict"], m["grade"]) for p in r["profiles"] for m in p["metrics"] if m["metric"] == "heap_bytes_per_message"]')" = \
        "[('known/plain,pass=memory', 'regressed', 'unsure')]" ]
    # the range of four pairs, at its own level
    [ "$(report '[p["level"] if "level" in p else p["metrics"][0]["level"] for p in r["profiles"]][1]')" = 0.9375 ]
    abba run --no-lock known/plain -b old=./old -c new=./new -n 2 --confirm 0 --memory-pairs 3 \
        --thresholds none --threshold heap_bytes_per_message=15%
    expect_status 0
    expect_out "the bounds of 3 pairs are the range of their changes"
}

@test "a profile asks for its memory pass, or is one; by its name it runs alone" {
    cat >profiles/known/plain.json <<'END'
{"profile": "known/plain", "runner": "known", "memory_pass": 2}
END
    cat >profiles/known/only.json <<'END'
{"profile": "known/only", "runner": "known", "pass": "memory", "pairs": 1}
END
    abba run --no-lock 'known/*' -b "$known" --aa -n 1 --confirm 0 --plan --format json
    [ "$(report '[(p["profile"], p.get("pass"), p.get("pairs")) for p in r["profiles"]]')" = \
        "[('known/only', 'memory', 1), ('known/plain', None, 1), ('known/plain,pass=memory', 'memory', 2)]" ]
    [ "$(report 'r["heap_library_sha256"]')" = "$(sha256sum <"$ABBA_BUILD/libabba-heap.so" | cut -d' ' -f1)" ]
    abba run --no-lock known/plain,pass=memory -b "$known" --aa --archive a
    [ "$(figures a known/plain,pass=memory heap_calls | wc -l)" = 4 ]
    [ "$(wc -l <a/samples.jsonl)" = 4 ]
    abba run --no-lock known/plain -b "$known" --aa --plan
    expect_out "these runs give no times"
    # without one the plan has no word of it
    abba run --no-lock srt/quick-32x-320M -b "$known" --aa --plan --format json
    expect_no heap_library
}

@test "columns that count heaps of different kinds are told, and get no mark" {
    mkdir -p runners/managed
    cat >runners/known/runner.json <<'END'
{"runner": "known", "roles": {"peer": {"command": ["{program}"]}}, "metrics": []}
END
    cat >runners/managed/runner.json <<'END'
{"runner": "managed", "roles": {"peer": {"command": ["{program}"]}},
 "metrics": [{"metric": "heap_bytes", "pattern": "^heap=(?<value>\\d+)", "unit": "B", "counts": "the heap of a machine"}]}
END
    printf '#!/bin/sh\nexec %s none 1 10 48\n' "$known" >native && chmod +x native
    printf '#!/bin/sh\necho heap=592\n' >managed && chmod +x managed
    echo '{"variant": "managed", "runner": "managed", "program": "./managed"}' >managed.json
    abba run --no-lock known/plain,pass=memory -b native=./native -c ./managed.json --thresholds none --memory-pairs 2 --archive a
    expect_out "'native': heap_bytes, heap_calls count malloc"
    expect_out "'managed': heap_bytes counts the heap of a machine"
    expect_out "heap_bytes: the two columns count heaps of different kinds"
    expect_no "⚡"
    [ "$(figures a known/plain,pass=memory heap_bytes | awk '/managed/ { print $2 }')" = "$(printf '592\n592')" ]
    # bytes by the machine's word, calls by nobody's
    [ "$(figures a known/plain,pass=memory heap_calls | awk '/managed/' | sort -u)" = \
        "managed unsupported: the runner's own counter has no such figure" ]
    # and a run that gives times has none of it
    abba run --no-lock known/plain -b native=./native -c ./managed.json --thresholds none -n 1 --confirm 0 --archive b
    [ "$(figures b known/plain heap_bytes | sort -u)" = "$(printf 'managed absent\nnative absent')" ]
}

@test "a program that cannot be counted is unsupported with the reason, and never zero" {
    compare -n 2 "$ABBA_BUILD/cost/touch 10" "$ABBA_BUILD/cost/touch 20" --memory-pass --archive a
    expect_status 0
    [ "$(figures a compare,pass=memory heap_bytes | sort -u | head -1)" = \
        "baseline unsupported: it is a static program: nothing can be preloaded" ]
    expect_out "not measured: heap_bytes, heap_calls (unsupported: it is a static program"
    command -v cc >/dev/null || skip "there is no compiler"
    echo 'int main(void) { return 0; }' >none.c
    cc -fsanitize=address -o watched none.c 2>/dev/null || skip "there is no sanitizer"
    compare -n 2 ./watched "$known none 1 10 48" --memory-pass --archive b
    expect_status 0
    [ "$(figures b compare,pass=memory heap_bytes | sort -u | head -1)" = \
        "baseline unsupported: a sanitizer watches its heap, and has to be the first to do so" ]
    cat >own.c <<'END'
#include <stddef.h>
static char room[1 << 16];
static size_t used;
void *malloc(size_t n) { return room + (used += n); }
void free(void *p) { (void)p; }
int main(void) { return malloc(10) == NULL; }
END
    cc -fno-builtin -o own own.c
    compare -n 2 ./own "$known none 1 10 48" --memory-pass --archive c
    [ "$(figures c compare,pass=memory heap_bytes | sort -u | head -1)" = \
        "baseline unsupported: the program has an allocator of its own before the library's" ]
}

@test "a program with another one's rights is unsupported" {
    [ "$(id -u)" = 0 ] || skip "needs root to give a file away"
    cp "$known" others
    chown 65534 others && chmod 4755 others
    [ "$(stat -c %a others)" = 4755 ] && ! findmnt -no OPTIONS -T . | grep -qw nosuid || skip "no such files here"
    chmod 755 . ..
    compare -n 2 "./others none 1 10 48" "$known none 1 10 48" --memory-pass --archive a
    expect_status 0
    [[ "$(figures a compare,pass=memory heap_calls | sort -u | head -1)" = "baseline unsupported: it gets other rights"* ]]
}

@test "windows that are not what they seem give no figure" {
    local what
    for what in twice 'a window was begun while one was open' stray 'a window was ended while none was open' \
        exit 'a window was open when the process ended'; do
        case $what in
        twice | stray | exit)
            rm -rf a
            compare -n 2 "$known $what 1 10 48" "$known plain 1 10 48" --memory-pass --archive a
            expect_status 0
            ;;
        *)
            [ "$(figures a compare,pass=memory heap_bytes | sort -u)" = \
                "$(printf 'baseline invalid: %s\ncandidate %s' "$what" "$(rounds_bytes 10 48)")" ]
            ;;
        esac
    done
}

@test "a crash within a window fails the run, and what was counted is kept" {
    compare -n 2 "$known plain 1 10 48" "$known kill 1 10 48" --memory-pass --archive a
    expect_status 3
    [ "$(figures a compare,pass=memory heap_bytes | sort -u | tail -1)" = \
        "candidate invalid: a window was open when the process ended" ]
    grep -q '^fault=a window was open' a/raw/*.heap
}

@test "closed descriptors, and a role that is stopped by a signal, cost nothing" {
    cat >runners/known/runner.json <<'END'
{"runner": "known",
 "roles": {"server": {"command": ["/bin/sh", "-c", "{program} none 1 10 48; echo ready; while :; do sleep 1; done"],
                      "ready": {"stdout": "^ready$"}, "stop": "SIGTERM"},
           "client": {"command": ["{program}", "close", "1", "10", "48"], "after": ["server"]}}}
END
    abba run --no-lock known/plain,pass=memory -b "$known" --aa --archive a
    [ "$(figures a known/plain,pass=memory heap_bytes | sort -u)" = \
        "$(printf 'baseline %s\ncandidate %s' "$(rounds_bytes 10 48)" "$(rounds_bytes 10 48)")" ]
    grep -q "program=known calls=80 bytes=$(rounds_bytes 10 48) " a/raw/000001-server.heap
}

@test "a variant's own preloads stay" {
    compare -n 2 "$known none 1 10 48" "$known none 1 10 48" --candidate-env LD_PRELOAD="$plugin" \
        --memory-pass --archive a
    expect_status 0
    [ "$(figures a compare,pass=memory heap_bytes | sort -u)" = \
        "$(printf 'baseline %s\ncandidate %s' "$(rounds_bytes 10 48)" "$(($(rounds_bytes 10 48) + 1000000))")" ]
}

@test "an allocator that a variant preloads does the work, and is counted" {
    local other
    other=$(ldconfig -p 2>/dev/null | awk '/libjemalloc\.so/ { print $NF; exit }')
    [ -n "$other" ] || skip "there is no jemalloc"
    compare -n 2 "$known plain 2 10 48" "$known plain 2 10 48" --candidate-env LD_PRELOAD="$other" \
        --memory-pass --archive b
    [ "$(figures b compare,pass=memory heap_bytes | awk '{ print $2 }' | sort -u)" = "$(rounds_bytes 20 48)" ]
}

@test "several candidates, warm-ups that fix the pairs, confirming stages: the pass comes after them" {
    compare -d 200 "$known none 1 10 48" "$known none 1 20 48" "$known none 1 40 48" --memory-pairs 1 --archive a
    expect_status 0
    [ "$(figures a compare,pass=memory heap_calls | sort)" = \
        "$(printf 'baseline 80\ncandidate 160\ncandidate2 320')" ] ||
        [ "$(figures a compare,pass=memory heap_calls | awk '{ print $2 }' | sort -n | tr '\n' ' ')" = "80 160 320 " ]
    [ "$(tail -3 a/samples.jsonl | grep -c 'pass=memory')" = 3 ]
    abba verify a
    expect_status 0
}

@test "the library by hand is refused in runs that give times, and so is a limit that nothing yields" {
    abba run --no-lock known/plain -b "$known" --aa --env LD_PRELOAD="$ABBA_BUILD/libabba-heap.so"
    expect_status 2
    expect_err "LD_PRELOAD names 'libabba-heap.so', and these runs are to give times"
    expect_err "hint: --memory-pass has it in runs of its own"
    compare -n 2 "$known none" "$known none" --threshold heap_calls=5%
    expect_status 2
    expect_err "hint: --memory-pass has runs that count it"
    compare "$known none" "$known none" --memory-pairs 0
    expect_status 2
    expect_err "option '--memory-pairs': found '0', allowed is a whole number from 1 to 10000"
}

# An abba of its own, whose library can be another one.
own_abba() {
    mkdir own
    cp "$ABBA" own/abba
    cp "$ABBA_BUILD/libabba-heap.so" own/
    ABBA=$PWD/own/abba
}

@test "resume and rerun want the library that counted, or take the archive's copy" {
    own_abba
    compare -n 2 "$known none 1 10 48" "$known none 1 20 48" --memory-pass --archive a --keep-programs
    expect_status 0
    compare -n 2 "$known none 1 10 48" "$known none 1 20 48" --memory-pass --archive b
    [ -e "a/programs/$(sha256sum <own/libabba-heap.so | cut -d' ' -f1)" ]
    # half of it
    cp -r a half && rm half/SHA256SUMS half/report.json
    sed -i '9,$d' half/samples.jsonl
    # A byte behind the end changes nothing but the checksum.
    echo >>own/libabba-heap.so
    abba resume half
    expect_status 2
    expect_err "libabba-heap.so' is not the one that counted"
    abba rerun b
    expect_status 2
    expect_err "library"
    abba rerun a --no-lock --archive again
    expect_status 0
    expect_err "the library that counts allocations is the archive's copy"
    [ "$(figures again compare,pass=memory heap_calls | sort -u)" = "$(printf 'baseline 80\ncandidate 160')" ]
    cp "$ABBA_BUILD/libabba-heap.so" own/
    abba resume half --no-lock
    expect_status 0
    [ "$(figures half compare,pass=memory heap_calls | sort -u)" = "$(printf 'baseline 80\ncandidate 160')" ]
    abba verify half
    expect_status 0
}

@test "a library that cannot be had or preloaded is an error before the first run" {
    own_abba
    rm own/libabba-heap.so
    mkdir 'a b' && cp "$ABBA" "$ABBA_BUILD/libabba-heap.so" 'a b'
    ABBA="$PWD/a b/abba"
    compare -n 2 true true --memory-pass
    expect_status 2
    expect_err "cannot be preloaded: the path holds a space"
}

@test "reports of all formats have the pass" {
    local format
    compare -n 2 "$known none 1 10 48" "$known none 1 20 48" --memory-pass --archive a --format markdown
    expect_out "compare,pass=memory"
    expect_out "heap_calls"
    for format in text json junit csv; do
        abba report a --format "$format"
        expect_status 0
        expect_out "pass=memory"
    done
}
