#!/usr/bin/env bats
# Harnesses of data-channel stacks: how they are built, real ones through to the archive, and what
# becomes of stacks that misbehave. `make runners-rtc` builds them; what is not built is skipped.

load common

# shellcheck disable=SC2154 # bats sets status
setup() {
    real_home=$HOME # with the packages that were fetched
    setup_folder
}

skip_without() { # RUNNER
    [ -x "$ABBA_BUILD/runners/$1/$1" ] || skip "runner '$1' is not built (make runners-rtc)"
}

# One small repeat of each shape, through abba: the payload is intact and figures agree.
try_stack() { # RUNNER
    local profile
    skip_without "$1"
    for profile in rtc/quick-message rtc/quick-flow; do
        abba run --no-lock "$profile" --baseline "$1" --aa -n 1 --confirm 0 --archive "$profile"
        expect_status 4 # one pair gives no bounds
        # What the program says of its CPU time is what was seen from outside.
        python3 - "$profile/samples.jsonl" <<'END'
import json, sys
for line in open(sys.argv[1]):
    sample = json.loads(line)
    m = {k: v["value"] for k, v in sample["metrics"].items()}
    assert sample["status"] == "ok", sample["error"]
    assert m["delivered_messages"] > 0
    assert abs(m["inner_cpu_time"] - m["cpu_time"]) <= 0.03 * m["cpu_time"] + 0.02, m
END
    done
}

@test "what V8 is said to have allocated is what was allocated" {
    command -v node >/dev/null || skip "there is no node"
    cp "$ABBA_SOURCE/runners/common/node/meter.mjs" .
    cat >known.mjs <<'END'
import { v8Begin, v8End } from "./meter.mjs";
const kept = [];
v8Begin();
// 20,000 arrays of 1,000 doubles: 160 MB, most of them garbage at once.
for (let i = 0; i < 20000; i++) kept[i % 100] = new Array(1000).fill(i + 0.5);
console.log(v8End());
END
    [ "$(node known.mjs)" = undefined ] # no memory pass, no figure
    run env ABBA_HEAP="$PWD" node known.mjs
    expect_status 0
    # pointers or doubles, and a head each; what else the engine allocates is little
    [ "$output" -ge 160000000 ] && [ "$output" -le 180000000 ]
}

# A memory pass of both shapes: figures a message, and no times.
try_memory() { # RUNNER VARIANT METRIC...
    local shape
    [ -x "$ABBA_BUILD/runners/$1/$1" ] || skip "runner '$1' is not built (make runners-rtc)"
    for shape in message flow; do
        abba run --no-lock "rtc/quick-$shape,pass=memory" --baseline "$2" --aa --memory-pairs 1 --archive "$shape"
        python3 - "$shape/samples.jsonl" "${@:3}" <<'END'
import json, sys
for line in open(sys.argv[1]):
    sample = json.loads(line)
    assert sample["status"] == "ok", sample["error"]
    for name, m in sample["metrics"].items():
        if name in sys.argv[2:]:
            assert m["value"] > 0, (name, m)
        else:
            assert m["value"] is None, (name, m)
    assert set(sys.argv[2:]) <= set(sample["metrics"])
END
    done
}

heap="heap_bytes heap_calls heap_bytes_per_message heap_calls_per_message"
@test "usrsctp: its memory pass" {
    # shellcheck disable=SC2086
    try_memory usrsctp usrsctp/usrsctp $heap
}
@test "pion: its memory pass, by Go's own counter" {
    # shellcheck disable=SC2086
    try_memory pion pion/pion $heap
}
@test "libdatachannel: its memory pass, and V8's own heap" {
    # shellcheck disable=SC2086
    try_memory libdatachannel libdatachannel/libdatachannel-0.33.4 $heap v8_heap_bytes v8_heap_bytes_per_message
}

@test "usrsctp: both shapes, through to the archive" {
    try_stack usrsctp
}
@test "pion: both shapes, through to the archive" {
    try_stack pion
}
@test "libdatachannel: both shapes, through to the archive" {
    try_stack libdatachannel
}
@test "libwebrtc: both shapes, through to the archive" {
    try_stack libwebrtc
}
@test "libwebrtc from Java: both shapes, through to the archive" {
    try_stack libwebrtc-jvm
}
@test "webrtc-rs: both shapes, through to the archive" {
    try_stack webrtc-rs
}
@test "webrtc: both shapes, through to the archive" {
    try_stack webrtc
}
@test "rtc: both shapes, through to the archive" {
    try_stack rtc
}
@test "rustrtc: both shapes, through to the archive" {
    try_stack rustrtc
}

@test "webrtc-rs: messages that its stack cannot receive are left out" {
    local profile=rtc/quick-message
    skip_without webrtc-rs
    jq '.profile = "big" | .load.size = "64KiB"' "$ABBA_SOURCE/profiles/$profile.json" >big.json
    abba run --no-lock ./big.json $profile --baseline webrtc-rs --aa --plan
    expect_status 0
    expect_err "profile 'big' is left out, unsupported: variant 'webrtc-rs': 65536 B: the stack receives at most 65535"
    abba run --no-lock --unsupported fail ./big.json --baseline webrtc-rs --aa --plan
    expect_status 2
}

@test "the parts that Rust harnesses share keep what their tests say" {
    [ -d "$ABBA_BUILD/cargo/release" ] || skip "no Rust harness is built (make runners-rtc)"
    cd "$ABBA_SOURCE/runners"
    HOME=$real_home run cargo test --workspace --lib --release --locked --offline --target-dir "$ABBA_BUILD/cargo"
    [ "$status" = 0 ]
    [[ "$output" == *" passed; 0 failed"* ]]
}

@test "a sender that sleeps while there is no room is woken, also where one message is under way" {
    local tried=0
    for name in usrsctp pion libwebrtc-jvm webrtc-rs webrtc rtc rustrtc; do
        program=$ABBA_BUILD/runners/$name/$name
        [ -x "$program" ] || continue
        tried=1
        "$program" message --pacing wait --messages 2000 --warmup 100 >out
        grep -qx 'pacing=wait' out
        [ "$(grep -c '^result repeat=. messages=2000 sent=2000 lost=0 bytes=2000000 ' out)" = 3 ]
        grep -qx 'payload=intact' out
        "$program" message --pacing wait --in-flight 1 --messages 100 --warmup 10 >out
        [ "$(grep -c '^result repeat=. messages=100 ' out)" = 3 ]
        run "$program" message --pacing sleep
        [ "$status" = 2 ]
    done
    [ $tried = 1 ] || skip "no harness is built (make runners-rtc)"
}

# ---- what is not there -------------------------------------------------------------------------

# A folder of all programs but some, as the only one of PATH.
path_without() { # NAMES...
    local folder file
    mkdir bin
    for folder in ${PATH//:/ }; do
        [[ $folder != */ccache ]] || continue # its links find no compiler from here
        for file in "$folder"/*; do
            [ ! -x "$file" ] || [ -e "bin/${file##*/}" ] || ln -s "$file" bin/
        done
    done
    for file; do rm -f "bin/$file"; done
}

# A program of bin/ that only says its version. What bin/ holds are links: nothing is written through one.
say_version() { # NAME VERSION
    rm -f "bin/$1"
    printf '#!/bin/sh\necho "%s"\n' "$2" >"bin/$1"
    chmod +x "bin/$1"
}

# What `make runners-rtc` does after the set-up, which would install what is missing.
build_harnesses() { # SETTINGS...
    status=0
    output=$(PATH=$PWD/bin make -C "$ABBA_SOURCE" -k BUILD="$PWD/b" WERROR=0 build-runners-rtc "$@" \
        2>stderr.txt) || status=$?
    err=$(<stderr.txt)
}

@test "a harness whose toolchain is missing is left out with one note, and the rest is built" {
    [ "$ABBA_KIND" = release ] || skip "it is about make, whatever abba is built for"
    path_without go npm cargo javac
    build_harnesses
    expect_status 0
    for name in pion libdatachannel libwebrtc libwebrtc-jvm webrtc-rs webrtc rtc rustrtc; do
        [ "$(grep -c "note: runner '$name' left out: there is no \(go\|npm\|javac\|cargo\) here" <<<"$output")" = 1 ] ||
            fail "no note of $name"
        [ ! -e "b/runners/$name/$name" ]
    done
    if pkg-config --exists usrsctp; then
        b/runners/usrsctp/usrsctp --help
    else
        expect_out "note: runner 'usrsctp' left out: pkg-config finds no usrsctp"
    fi
    PKG_CONFIG_LIBDIR=$PWD build_harnesses RTC_ASKED="usrsctp pion"
    expect_status 2 # these two were asked for
    expect_out "note: runner 'usrsctp' left out: pkg-config finds no usrsctp"
    expect_out "note: runner 'pion' left out: there is no go here"
    expect_no libwebrtc
    say_version go go1.19.8
    build_harnesses RTC_ASKED=pion
    expect_status 2
    expect_out "note: runner 'pion' left out: it needs Go 1."
    expect_out "and here is go1.19.8"
    say_version rustc "rustc 1.85.0"
    say_version cargo "cargo 1.85.0"
    build_harnesses RTC_ASKED=rustrtc
    expect_status 2
    expect_out "note: runner 'rustrtc' left out: it needs Rust 1.88 and here is rustc 1.85.0"
}

@test "a harness that nobody knows is refused, and those that are known are named" {
    run make -C "$ABBA_SOURCE" runners-rtc T="pion poin"
    [ "$status" = 2 ]
    [[ "$output" == *"no such harness: poin; there are:"*" usrsctp"* ]]
}

@test "a harness that is not built: the message says how it is" {
    make_runner '{"metric": "value", "pattern": "=(?<value>1)", "unit": "count", "better": "lower"}'
    sed -i 's/"runner": "t",/& "program": "t-is-not-here", "built_by": "make runners-rtc T=t",/' \
        runners/t/runner.json
    mkdir runners/t/variants
    echo '{"variant": "own", "runner": "t"}' >runners/t/variants/own.json
    abba run --no-lock t/p --baseline own --aa
    expect_status 2
    expect_err "program 't-is-not-here' is not in PATH"
    expect_err "hint: \`make runners-rtc T=t\` builds it, in the source tree"
    abba run --no-lock t/p --baseline ./nowhere --aa # the variant's own program: nobody knows
    expect_status 2
    expect_no "make runners-rtc"
}

# ---- stacks that misbehave ---------------------------------------------------------------------

# A stack that speaks the harnesses' lines and takes their options; the last word is its fault.
make_stack() {
    cat >stack <<'END'
#!/bin/sh
for fault; do :; done
result() { # REPEAT RATE
    echo "result repeat=$1 messages=2000 sent=2000 lost=0 bytes=2000000 seconds=0.050000" \
        "messages_per_second=$2 cpu_seconds=0.040000 effective_cores=0.800 cpu_us_per_message=20.000"
}
printf 'stack=fake 1\ndelivery=ordered\npacing=yield\n'
if [ "$fault" = unconnected ]; then
    echo 'fake: not connected within 15 s' >&2
    exit 1
fi
echo ready
result 1 40000.0
[ "$fault" != crashing ] || kill -SEGV $$
result 2 40000.0
if [ "$fault" = lying ]; then result 3 41000.0; else result 3 40000.0; fi
printf 'total wall=0.200000 cpu=0.150000\npayload=intact\n'
[ "$fault" != hanging ] || exec tail -f "$PWD/stack"
END
    chmod +x stack
}

# Two pairs, in which the candidate has the fault: its runs, the second and the third of the series,
# say why; those before and after are fine.
try_fault() { # FAULT STATUS WHY [OPTIONS...]
    local fault=$1 want=$2 why=$3
    shift 3
    make_stack
    abba run --no-lock rtc/quick-message --baseline good=./stack --candidate bad=./stack \
        --candidate-arg "$fault" -n 2 --confirm 0 --pause 0s --archive kept "$@"
    expect_status 3
    expect_out "$why"
    python3 - "$want" "$why" <<'END'
import json, sys
runs = [json.loads(line) for line in open("kept/samples.jsonl")]
assert [r["variant"] for r in runs] == ["good", "bad", "bad", "good"]
for r in runs:
    if r["variant"] == "good":
        assert r["status"] == "ok", r
        assert r["metrics"]["messages_per_second"]["value"] == 40000
        continue
    assert r["status"] == sys.argv[1], r["status"]
    assert sys.argv[2] in r["error"], r["error"]
END
    abba report kept --format json
    [ "$(report "[p['complete_pairs'] for p in r['profiles']]")" = '[0]' ]
    abba verify kept
    expect_status 0
}

@test "a stack that hangs in teardown: the run has timed out, the series goes on" {
    try_fault hanging timeout "timed out" --timeout 4s
    no_process "tail -f $PWD/stack"
}

@test "a stack that never connects: the run has failed, the series goes on" {
    try_fault unconnected failed "exited with status 1"
    grep -q 'not connected within 15 s' kept/raw/*-peers.stderr
}

@test "a stack that crashes in its second repeat: the run has failed, the series goes on" {
    try_fault crashing failed "SIGSEGV"
}

@test "a rate that contradicts count and seconds: the run is invalid, the series goes on" {
    try_fault lying invalid "messages_per_second is 41000"
}

@test "usrsctp in a network that carries nothing: every run has failed, and says why" {
    skip_without usrsctp
    unshare -rn true 2>/dev/null || skip "no user and network namespaces here"
    status=0
    output=$(unshare -rn "$ABBA" run --no-lock rtc/quick-message --baseline usrsctp --aa -n 2 \
        --confirm 0 --pause 0s --archive kept 2>stderr.txt </dev/null) || status=$?
    # shellcheck disable=SC2034 # fail() of common.bash shows it
    err=$(<stderr.txt)
    expect_status 3
    [ "$(grep -c '"status":"failed"' kept/samples.jsonl)" = 4 ]
    grep -q 'cannot connect a UDP socket' kept/raw/*-peers.stderr
}
