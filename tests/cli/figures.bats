#!/usr/bin/env bats
# Figures on their whole way, from programs of known cost into the archive, and abba's own memory.

setup() {
    load common
    setup_folder
    cost=$ABBA_BUILD/cost
}

# Every run's metric of a variant against what its program printed: within a share or an amount.
figures_near() { # VARIANT METRIC PRINTED-KEY FACTOR SHARE AMOUNT
    python3 - "$@" <<'PYTHON'
import json, sys
variant, metric, key, factor, share, amount = sys.argv[1:3] + [sys.argv[3]] + [float(x) for x in sys.argv[4:]]
seen = 0
for line in open("a/samples.jsonl"):
    s = json.loads(line)
    if s["variant"] != variant:
        continue
    path = next(f["path"] for f in s["roles"]["command"]["files"] if f["path"].endswith(".stdout"))
    text = open("a/" + path).read()
    want = float(text.split(key + "=")[1].split()[0]) * factor
    got = s["metrics"][metric]["value"]
    assert abs(got - want) <= max(share * want, amount), f"run {s['run']}: {got}, not {want}"
    seen += 1
assert seen == 6, seen
PYTHON
}

@test "peak memory in the archive is what the programs saw of themselves" {
    compare -n 6 --archive a "$cost/touch 16384 10" "$cost/touch 65536 0"
    expect_status 0
    pages=$((3 * ($(nproc) > 16 ? 2 * $(nproc) : 32)))
    slack=$((pages * $(getconf PAGESIZE)))
    figures_near baseline peak_rss peak_kib 1024 0.02 $slack
    figures_near candidate peak_rss peak_kib 1024 0.02 $slack
}

@test "CPU time in the archive is what the programs used" {
    compare -n 6 --archive a "$cost/spin 60" "$cost/spin 120"
    expect_status 0
    figures_near baseline cpu_time cpu_ns 1e-9 0.03 0.004
    figures_near candidate cpu_time cpu_ns 1e-9 0.03 0.004
}

@test "CPU time of children that nobody waited for counts, or is called invalid" {
    compare -n 6 --archive a "$cost/tree ignored 100" "$cost/tree ignored 200"
    python3 - <<'PYTHON'
import json
for line in open("a/samples.jsonl"):
    s = json.loads(line)
    v = s["metrics"]["cpu_time"]
    want = 0.1 if s["variant"] == "baseline" else 0.2
    assert v["status"] == "invalid" and v["value"] is None or abs(v["value"] - want) < 0.1 * want, v
PYTHON
}

@test "wall time is the command's, whatever it leaves behind" {
    compare -n 6 --archive a "$cost/escape 20" "$cost/escape 40"
    expect_status 0
    python3 - <<'PYTHON'
import json
for line in open("a/samples.jsonl"):
    s = json.loads(line)
    r = s["roles"]["command"]
    assert s["metrics"]["wall_time"]["value"] == r["wall_time"]
    assert r["wall_time"] >= (0.020 if s["variant"] == "baseline" else 0.040)
    assert r["leftovers"] == 1, r
PYTHON
}

# Runs abba; prints its highest resident set in KiB (ru_maxrss; its children are far smaller).
peak_of_abba() {
    python3 - "$ABBA" "$@" <<'PYTHON'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PYTHON
}

@test "abba stays small through many runs and through much output" {
    [ "$ABBA_KIND" = release ] || skip "sanitizers and coverage take memory of their own"
    [ "$(peak_of_abba compare -q --no-lock -n 300 --archive a true true)" -lt 20480 ]
    [ "$(peak_of_abba report a)" -lt 20480 ]
    [ "$(peak_of_abba compare -q --no-lock -n 6 "$cost/flood 67108864 lines" \
        "$cost/flood 67108864 line stderr")" -lt 20480 ]
}
