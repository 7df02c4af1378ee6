#!/usr/bin/env bats
# Reports from an archive, and its verification.

setup() {
    load common
    setup_folder
    cost=$ABBA_BUILD/cost
}

make_archive() {
    compare -n 6 -q --threshold cpu_time=50% --archive kept "$cost/spin 3" "$cost/spin 12"
    expect_status 1
    shown=$output
}

@test "the report of an archive is what the series printed" {
    make_archive
    abba report kept
    expect_status 1
    [ "$output" = "$shown" ]
}

@test "the report comes from the samples, not from report.json" {
    make_archive
    rm kept/report.json
    abba report kept
    expect_status 1
    expect_out "regressed"
}

@test "json is report.json" {
    make_archive
    "$ABBA" report kept --format json | cmp - kept/report.json
}

@test "markdown has the verdict first and the rest folded" {
    make_archive
    abba report kept --format markdown
    expect_status 1
    [[ "$output" == "### "*regressed* ]]
    expect_out "<details>"
}

@test "junit is XML with a failure" {
    make_archive
    abba report kept --format junit
    expect_status 1
    printf '%s' "$output" | python3 -c '
import sys, xml.etree.ElementTree as e
root = e.fromstring(sys.stdin.read())
assert root.get("failures") == "2", root.attrib
assert root.find(".//testcase[@name=\"cpu_time\"]/failure") is not None'
}

@test "other thresholds give an exploratory report" {
    make_archive
    abba report kept --threshold cpu_time=5000%
    expect_status 0
    expect_out "exploratory"
    abba report kept --threshold cpu_tiem=5%
    expect_status 2
    expect_err "cpu_time"
    abba report kept --threshold cpu_time=5% --threshold cpu_time=6%
    expect_status 2
    expect_err "option '--threshold': 'cpu_time' is given twice: 5% and 6%"
    abba report kept --threshold cpu_time
    expect_status 2
}

@test "-o writes the whole report or nothing" {
    make_archive
    abba report kept -o out.txt
    expect_status 1
    [ -z "$output" ]
    grep -q regressed out.txt
    abba report kept -o nowhere/out.txt
    expect_status 3
    expect_err "nowhere/out.txt"
}

@test "verify: whole" {
    make_archive
    abba verify kept
    expect_status 0
    expect_out "whole: 12 runs"
    (cd kept && sha256sum -c --quiet SHA256SUMS)
}

@test "verify: an altered verdict is found although its checksum was made again" {
    make_archive
    sed -i 's/"verdict": "regressed"/"verdict": "passed"/' kept/report.json
    abba verify kept
    expect_status 5
    (cd kept && sed 's/^[^ ]* .//' SHA256SUMS | xargs sha256sum >new && mv new SHA256SUMS)
    abba verify kept
    expect_status 5
    expect_err "report.json"
}

@test "report: altered samples have no report, which would bear the digest of others" {
    make_archive
    sed -i '1s/"started":"2/"started":"3/' kept/samples.jsonl
    abba report kept
    expect_status 5
    expect_err "'kept/samples.jsonl' is not the file that SHA256SUMS lists"
    expect_no digest
    rm kept/SHA256SUMS
    abba report kept
    expect_status 3
}

@test "verify: an altered, missing or additional file is named" {
    make_archive
    cp -r kept other
    echo >>other/series.json
    abba verify other
    expect_status 5
    expect_err "series.json"
    rm -r other && cp -r kept other
    files=(other/raw/*)
    rm "${files[0]}"
    abba verify other
    expect_status 5
    expect_err "raw/"
}

@test "an archive without SHA256SUMS is unfinished although all runs are there" {
    make_archive
    rm kept/SHA256SUMS
    for format in text markdown json junit; do
        abba report kept --format "$format"
        expect_status 3
        [ "$format" = junit ] || expect_out incomplete
    done
    abba verify kept
    expect_status 3
    expect_err "unfinished: 12 of 12 runs"
}

@test "an unfinished archive is incomplete" {
    make_archive
    rm kept/SHA256SUMS
    head -7 kept/samples.jsonl >seven && mv seven kept/samples.jsonl
    abba report kept
    expect_status 3
    expect_out "7 of 12 runs"
    abba verify kept
    expect_status 3
    expect_err "unfinished: 7 of 12 runs"
}

@test "csv has every figure of every run, with unit and status, and says what samples.jsonl says" {
    make_archive
    abba report kept --format csv -o samples.csv
    expect_status 1
    python3 - <<'END'
import csv, json
rows = list(csv.DictReader(open("samples.csv", newline="")))
want = []
for line in open("kept/samples.jsonl"):
    s = json.loads(line)
    for name, m in s["metrics"].items():
        want.append((s["run"], s["pair"], s["slot"], s["variant"], s["stage"], name, m["value"],
                     m["unit"], m["status"], m.get("reason", "")))
have = [(int(r["run"]), int(r["pair"]), int(r["slot"]), r["variant"], r["stage"], r["metric"],
         float(r["value"]) if r["value"] else None, r["unit"], r["status"], r["reason"]) for r in rows]
assert have == want, (have[:3], want[:3])
END
    compare -n 5 -q --format csv "$cost/spin 3" "$cost/spin 5"
    expect_status 0
    [[ "$output" == "run,profile,stage,"* ]]
}

@test "csv: commas, quotes and formulas in a program's words stay in their cell and do nothing" {
    compare -n 5 -q --archive bad "$cost/spin 1" 'sh -c "echo =1+1 >&2; exit 3"'
    "$ABBA" report bad --format csv >samples.csv || true
    python3 - <<'END'
import csv
rows = list(csv.DictReader(open("samples.csv", newline="")))
assert any(r["run_status"] == "failed" and "exited with status 3" in r["error"] for r in rows)
assert all(None not in r and not any(v[:1] in "=+-@" and v for k, v in r.items() if k != "value") for r in rows)
END
}
