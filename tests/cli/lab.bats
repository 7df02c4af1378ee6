#!/usr/bin/env bats
# Several comparisons from a series file: one folder, one report, gone on with where it stopped.

setup() {
    load common
    setup_folder
    make_runner '{"metric": "value", "pattern": "value=(?<value>[0-9]+)", "unit": "B", "better": "lower"}' \
        'echo value=10485760'
    printf '#!/bin/sh\necho value=12582912\n' >worse
    printf '#!/bin/sh\necho broken pipe to nowhere >&2\nexit 7\n' >broken
    # the second run of it and all later ones wait until somebody lets them go
    cat >slow <<'END'
#!/bin/sh
[ ! -e gate/shut ] || { echo x >>gate/reached; exec sleep 1000; }
echo value=10485760
END
    chmod +x worse broken slow
    cp program other && echo '# differs' >>other
    cp profiles/t/p.json profiles/t/q.json
    sed -i 's#t/p#t/q#' profiles/t/q.json
    cat >limits.json <<'END'
{"thresholds": "limits", "rule": "median", "pairs": 5, "confirm": 0, "limits": {"value": {"worse": "10%"}}}
END
    write_series worse
}

# A series file of three comparisons; the second one's candidate is given.
write_series() {
    cat >lab.json <<END
{"series": "t/lab", "description": "of a test",
 "variables": {"new": "./other", "reference": null}, "thresholds": "./limits.json", "pairs": 5,
 "comparisons": [
  {"comparison": "first", "baseline": "old={reference}", "candidates": ["new={new}"],
   "profiles": ["t/p", "t/q"]},
  {"comparison": "second", "description": "with another one", "baseline": "old={reference}",
   "candidates": ["$1=./$1"], "profiles": ["t/p"], "pairs": 6},
  {"comparison": "third", "baseline": "old={reference}", "aa": true, "profiles": ["t/q"],
   "thresholds": "none"}]}
END
}

lab() {
    abba run --no-lock --series ./lab.json --set reference=./program "$@"
}

@test "all comparisons run serially, each into an ordinary archive, with one report" {
    lab --archive L -v
    expect_status 1
    expect_out "regressed  t/lab  1 of 3 comparisons; 42 of 42 runs"
    grep -Eq 'value +\+20.0% +\+2.00MiB +worse +second +t/p' <<<"$output"
    expect_out "old: none of 21 runs failed"
    expect_out "alarms     3 verdicts"
    # 1: each archive is whole and judged by itself
    for part in 01-first 02-second 03-third; do
        "$ABBA" verify "L/$part"
        (cd "L/$part" && sha256sum --quiet -c SHA256SUMS)
    done
    # 2: the lab's list vouches for them; its digest is the last line printed
    (cd L && sha256sum --quiet -c SHA256SUMS)
    digest=${output##* }
    [ "$digest" = "$(sha256sum <L/SHA256SUMS | cut -d' ' -f1)" ]
    abba verify L --digest "$digest"
    expect_status 0
    expect_out "whole: 3 of 3 comparisons"
    abba report L/02-second
    expect_status 1
}

@test "every format; report gives the bytes again; the JSON is the report.json" {
    lab --archive L -q -o text.txt
    expect_status 1
    abba report L
    expect_status 1
    [ "$output" = "$(<text.txt)" ] || fail "another text"
    abba report L --format json
    [ "$output" = "$(<L/report.json)" ]
    [ "$(report '(r["verdict"], [c["verdict"] for c in r["comparisons"]])')" = \
        "('regressed', ['passed', 'regressed', 'not_judged'])" ]
    [ "$(report '[(w["metric"], w["median_difference"], w["comparison"]) for w in r["worst"] if w["judged"]]')" = \
        "[('value', 2097152, 'second')]" ]
    abba report L --format markdown
    expect_out "## abba: regressed"
    # shellcheck disable=SC2016 # Markdown's backticks
    expect_out '| `value` | +20.0% | \+2.00MiB | `worse` | `second` | `t/p` |'
    expect_out "<details open><summary>second: regressed</summary>"
    expect_out "<details><summary>first: passed</summary>"
    abba report L --format junit
    printf '%s' "$output" | python3 -c '
import sys, xml.etree.ElementTree as e
root = e.fromstring(sys.stdin.read())
names = [s.get("name") for s in root.findall("testsuite")]
assert names == ["first", "first/t/p", "first/t/q", "second", "second/t/p", "third", "third/t/q"], names
assert int(root.get("tests")) == len(root.findall(".//testcase")), root.attrib
assert int(root.get("failures")) == len(root.findall(".//failure")) == 3, root.attrib'
}

@test "lab.json and report.json fit their schemas" {
    python3 -c 'import jsonschema' 2>/dev/null || skip "no python3-jsonschema"
    lab --archive L -q
    python3 - "$ABBA_SOURCE/archive/schema" <<'END'
import json, sys, jsonschema
for file, schema in (("lab", "lab"), ("report", "lab-report")):
    s = json.load(open(f"{sys.argv[1]}/{schema}.schema.json"))
    v = jsonschema.validators.validator_for(s)(s)
    errors = [e.message[:200] for e in v.iter_errors(json.load(open(f"L/{file}.json")))]
    assert not errors, errors
END
}

@test "failures are counted per variant with their errors, and cost the others nothing" {
    write_series broken
    lab --archive L
    expect_status 3
    expect_out "incomplete  t/lab  1 of 3 comparisons; 42 of 42 runs"
    expect_out "broken: 6 of 6 runs failed"
    expect_out "6 x, first in 'second': only exited with status 7"
    expect_out "old: none of 21 runs failed"
    # pass and fail with what each was measured to do, and nothing that compares them
    expect_out "outcome    old: pass, 6 of 6 runs ended well; value 10.5MB"
    expect_out "broken: fail, 0 of 6 runs ended well"
    abba report L --format json
    [ "$(report '[m["median_change"] for m in r["comparisons"][1]["report"]["profiles"][0]["metrics"] if m["median_change"] is not None]')" = "[]" ]
    abba verify L
    expect_status 0
}

@test "the same command again runs nothing that is there, and reports the same" {
    lab --archive L -o one.txt
    before=$(cat L/*/samples.jsonl | sha256sum)
    lab --archive L -o two.txt
    expect_status 1
    expect_err "all comparisons are there already: nothing is run"
    cmp one.txt two.txt
    [ "$before" = "$(cat L/*/samples.jsonl | sha256sum)" ]
    # an archive that is not there any more is run again, the others are not
    rm -r L/03-third L/SHA256SUMS
    lab --archive L
    expect_err "2 of 3 comparisons are there already"
    abba verify L
    expect_status 0
}

later_than() { # A SECOND, as in the names of archives
    [ "$(date -u +%Y%m%dT%H%M%SZ)" != "$1" ]
}

@test "without --archive it goes on in the newest unfinished folder of the same lab" {
    lab -q
    folder=$(echo archive/*)
    [[ "$folder" =~ ^archive/[0-9]{8}T[0-9]{6}Z-t-lab-[0-9a-f]{8}$ ]] || fail "folder $folder"
    rm -r "$folder/03-third" "$folder/SHA256SUMS"
    lab
    expect_err "goes on in $folder"
    abba verify "$folder"
    expect_status 0
    # it is complete: the next one is a new one, with a second of its own in its name
    wait_for later_than "${folder:8:16}"
    lab -q
    [ "$(entries_in archive)" = 2 ]
    # other plans are another lab
    rm -r "$folder/03-third" "$folder/SHA256SUMS"
    lab -n 6 -q
    [ "$(entries_in archive)" = 3 ]
}

@test "--archive refuses what is not this lab" {
    mkdir full && echo x >full/file
    lab --archive full
    expect_status 2
    expect_err "exists already, and is not the folder of a lab"
    lab --archive L -q
    lab --archive L -n 7
    expect_status 2
    expect_err "holds another lab"
    mkdir empty
    lab --archive empty -q
    expect_status 1
}

@test "--plan shows all plans and the number of runs, and runs nothing" {
    lab --plan
    expect_status 0
    expect_out "comparisons 3, one after the other"
    expect_out "runs        42 in all"
    expect_out "--- second: with another one"
    expect_out "6 pairs"
    [ ! -e archive ]
    lab --plan --format json
    [ "$(report '(len(r["comparisons"]), r["comparisons"][1]["plan"]["profiles"][0]["pairs"])')" = "(3, 6)" ]
    # what the command line says goes before the file
    lab --plan -n 7
    expect_out "runs        56 in all"
}

@test "a faulty series file, variable or option is one clear message" {
    abba run --series ./lab.json
    expect_status 2
    expect_err "needs a value for its variable 'reference'"
    expect_err "--set reference=VALUE"
    lab --set nwe=x
    expect_status 2
    expect_err "'nwe' is no variable of './lab.json'"
    expect_err "did you mean 'new'?"
    lab --set reference=./other
    expect_err "option '--set': 'reference' is given twice"
    lab --set new
    expect_err "found 'new', allowed is NAME=VALUE"
    lab t/p
    expect_err "option '--series' names the profiles, found also the profile 't/p'"
    lab --baseline ./program
    expect_err "option '--series' says what is compared, found also '--baseline'"
    lab --budget 10min
    expect_status 2
    expect_err "option '--budget' is of one series"
    abba run t/p -b ./program -c ./other --set a=b
    expect_err "option '--set' is for the variables of a '--series' file"
    abba run
    expect_status 2
    expect_err "needs PROFILE..., or --series FILE"
    abba run --series flow/nosuch
    expect_status 2
    expect_err "no series 'flow/nosuch'"
    abba run --series flow/quikc
    expect_err "did you mean 'flow/quick'?"
    sed 's/{reference}/{refrence}/' lab.json >bad.json
    abba run --series ./bad.json --set reference=./program
    expect_status 2
    expect_err "'refrence' is no variable of './bad.json'"
    sed 's/"pairs": 6/"pairs": 0/' lab.json >bad.json
    abba run --series ./bad.json --set reference=./program
    expect_err "'./bad.json': \$.comparisons[1].pairs"
    sed 's/second/first/' lab.json >bad.json
    abba run --series ./bad.json --set reference=./program
    expect_err "two comparisons are named 'first'"
    abba run --series ./lab.json --set reference=./nothing
    expect_status 2
    expect_err "comparison 'first'"
    expect_err "./nothing"
    [ ! -e archive ]
}

@test "verify names what was altered, lost or put into a lab" {
    lab --archive L -q
    cp -r L M
    sed -i 's/"verdict": "passed"/"verdict": "regressed"/' M/report.json
    abba verify M
    expect_status 5
    expect_err "'M/report.json' is not the file that SHA256SUMS lists"
    # with a list that was made anew, the report does not come out again
    (cd M && sha256sum 01-first/SHA256SUMS 02-second/SHA256SUMS 03-third/SHA256SUMS lab.json report.json >SHA256SUMS)
    abba verify M
    expect_status 5
    expect_err "computed from the samples is"
    rm -r M && cp -r L M && rm -r M/02-second
    abba verify M
    expect_status 5
    expect_err "'M/02-second/SHA256SUMS' is missing"
    rm -r M && cp -r L M && sed -i 's/10485760/10485761/' M/01-first/samples.jsonl
    abba verify M
    expect_status 5
    abba report M
    expect_status 5
    rm -r M && cp -r L M && touch M/more
    abba verify M
    expect_status 5
    expect_err "'M/more' does not belong to a lab"
    rm -r M && cp -r L M && rm -r M/01-first && cp -r M/03-third M/01-first
    abba report M
    expect_status 5
    expect_err "'M/01-first' is not the archive of comparison 'first'"
    rm -r M && cp -r L M && sed -i 's/"comparison": "second"/"comparison": "other"/' M/lab.json
    abba report M
    expect_status 5
    expect_err "not those that were hashed"
    rm -r M && cp -r L M && rm M/SHA256SUMS
    abba verify M
    expect_status 3
    expect_err "unfinished: 3 of 3 comparisons"
    abba report L --format csv
    expect_status 2
    expect_err "csv is of the samples of one archive"
    abba report L --threshold value=5%
    expect_status 2
    expect_err "holds several archives"
}

@test "the shipped series file plans" {
    abba run --series flow/quick --plan
    expect_status 0
    expect_out "comparisons 3"
    [ -x "$ABBA_BUILD/runners/srt/srt" ] || return 0 # no libsrt here
    abba run --series srt/lab --plan --set old=libsrt.so.1.5 --set predecessor=libsrt.so.1.5 \
        --set candidate=libsrt.so.1.5 --unsupported skip
    expect_status 0
    expect_out "comparisons 3"
}

@test "a lab that is killed within a comparison goes on in it by resume" {
    mkdir gate
    touch gate/shut
    write_series slow
    "$ABBA" run --no-lock --series ./lab.json --set reference=./program --archive L -q \
        >/dev/null 2>&1 </dev/null &
    pid=$!
    wait_for test -s gate/reached
    [ -s L/01-first/SHA256SUMS ]
    kill -KILL "$pid"
    wait "$pid" || true
    rm -r gate
    [ ! -e L/02-second/SHA256SUMS ]
    abba resume --no-lock L
    expect_status 0
    abba verify L
    expect_status 0
}

@test "SIGINT closes archive and lab; the same command goes on with what is missing" {
    mkdir gate
    touch gate/shut
    write_series slow
    env --default-signal=INT "$ABBA" run --no-lock --series ./lab.json --set reference=./program --archive L -q -o out.txt \
        >/dev/null 2>&1 </dev/null &
    pid=$!
    wait_for test -s gate/reached
    [ -s L/01-first/SHA256SUMS ]
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" = 130 ] || fail "it must end by the signal"
    # closed: whole as far as it goes, and incomplete
    [ -e L/02-second/SHA256SUMS ]
    grep -q "^incomplete  t/lab" out.txt
    abba verify L
    expect_status 0
    expect_out "whole: 2 of 3 comparisons"
    abba report L
    expect_status 3
    expect_out "not begun"
    first=$(sha256sum <L/01-first/SHA256SUMS)
    rm -r gate
    lab --archive L
    expect_status 0
    expect_err "1 of 3 comparisons are there already"
    expect_out "passed  t/lab"
    expect_out "old: none of 21 runs failed"
    [ "$first" = "$(sha256sum <L/01-first/SHA256SUMS)" ]
    abba verify L
    expect_status 0
    expect_out "whole: 3 of 3 comparisons"
}

@test "one abba at a time runs a lab" {
    mkdir gate && touch gate/shut
    write_series slow
    env --default-signal=INT "$ABBA" run --no-lock --series ./lab.json --set reference=./slow --archive L -q \
        >/dev/null 2>&1 </dev/null &
    pid=$!
    wait_for test -s gate/reached
    abba resume --no-lock L
    expect_status 2
    expect_err "another abba runs the comparisons of 'L'"
    kill -INT "$pid"
    wait "$pid" || true
}

@test "a lab is run again: each comparison, one summary, a lab of its own" {
    lab --archive L
    expect_status 1
    abba rerun --no-lock L --archive M
    expect_status 0
    [[ "$output" == "reproduced  2 of 3 comparisons"* ]] || fail "words"
    grep -Eq '^  first +reproduced +2 of 2 judged verdicts agree' <<<"$output" || fail
    grep -Eq '^  second +reproduced +1 of 1 judged verdicts agree' <<<"$output" || fail
    grep -Eq '^  third +nothing was judged' <<<"$output" || fail
    digest=${output##* }
    abba verify M --digest "$digest"
    expect_status 0
    expect_out "whole: 3 of 3 comparisons"
    abba report M
    expect_status 1
    # the same plans, and so the same lab
    [ "$(grep -o '"plan_sha256": *"[^"]*"' L/*/series.json | cut -d: -f2- | sort)" = \
        "$(grep -o '"plan_sha256": *"[^"]*"' M/*/series.json | cut -d: -f2- | sort)" ]
    abba rerun --no-lock L --archive M
    expect_status 2
    expect_err "'M' exists already"
}

@test "a lab that is run again within the second gets a number, not another lab's folder" {
    lab --archive L
    id=$(sed -n 's/^ *lab  *\([0-9a-f]\{8\}\).*/\1/p' <<<"$output")
    now=$(date +%s)
    for ((i = 0; i < 60; i++)); do
        folder=archive/$(date -u -d "@$((now + i))" +%Y%m%dT%H%M%SZ)-t-lab-$id
        mkdir -p "$folder"
        echo x >"$folder/x"
    done
    abba rerun --no-lock L
    expect_status 0
    grep -Eq "^ *archive +archive/[0-9TZ]+-t-lab-2-$id$" <<<"$output" || fail
    [ "$(cat archive/*-t-lab-"$id"/x | wc -l)" = 60 ]
}

@test "a lab of which one comparison comes out otherwise is not reproduced; what differs is named" {
    lab --archive L
    printf '#!/bin/sh\necho value=10485760\n' >worse
    abba rerun --no-lock L --archive M
    expect_status 2
    expect_err "comparison 'second': not what the archive was measured with: variant 'worse': program"
    [ ! -e M ]
    abba rerun --no-lock L --archive M --plan
    expect_status 2
    abba rerun --no-lock L --archive M --allow-different
    expect_status 1
    [[ "$output" == "not reproduced  1 of 3 comparisons"* ]] || fail "words"
    grep -Eq '^  second +not reproduced +0 of 1 judged verdicts agree' <<<"$output" || fail
    expect_out "variant 'worse': program"
    expect_err "comparison 'second': variant 'worse'"
    abba verify M
    expect_status 0
}

@test "only a lab whose comparisons are all there is run again" {
    lab --archive L
    mv L/03-third away
    abba rerun --no-lock L --archive M
    expect_status 3
    expect_err "unfinished: comparison 'third' has not begun"
    expect_err "abba resume finishes the lab"
    mv away L/03-third
    echo x >>L/02-second/samples.jsonl
    abba rerun --no-lock L --archive M
    expect_status 5
    expect_err second
    [ ! -e M ]
}
