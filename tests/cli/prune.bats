#!/usr/bin/env bats
# Which archives a rule keeps, what stays of the others, and what is never touched.

setup() {
    load common
    setup_folder
    sample=$ABBA_SOURCE/archive/sample/flow-quick
    mkdir a
}

# An archive of N days ago: the sample with another time, and its checksums made again.
aged() { # NAME DAYS [HOUR: of the Wednesday of that week]
    cp -r "$sample" "a/$1"
    python3 - "a/$1" "$2" ${3:+"$3"} <<'END'
import datetime, hashlib, re, sys
folder, days = sys.argv[1], float(sys.argv[2])
at = datetime.datetime.utcnow() - datetime.timedelta(days=days)
if len(sys.argv) > 3:
    at = (at - datetime.timedelta(days=at.weekday() - 2)).replace(hour=int(sys.argv[3]))
text = open(folder + "/series.json").read()
text = re.sub(r'"started": "[^"]*"', '"started": "%s"' % at.strftime("%Y-%m-%dT%H:%M:%S.000Z"), text)
open(folder + "/series.json", "w").write(text)
digest = hashlib.sha256(text.encode()).hexdigest()
sums = open(folder + "/SHA256SUMS").read()
open(folder + "/SHA256SUMS", "w").write(re.sub(r"[0-9a-f]{64}  series.json", digest + "  series.json", sums))
END
}

remaining() {
    find a -mindepth 1 -maxdepth 1 ! -name '*.tombstone.json' -printf '%f\n' | LC_ALL=C sort | tr '\n' ' '
}

@test "full, then one a week, then verdicts; a dry run says so and removes nothing" {
    aged new 1
    aged recent 20
    aged week1 100 12
    aged week2 100 10
    aged old 800
    before=$(cd a && find . | sort | sha256sum)
    abba prune a --keep 30d:full,1y:weekly,verdicts --dry-run
    expect_status 0
    expect_out "would remove  old"
    expect_out "would remove  week2"
    [ "$before" = "$(cd a && find . | sort | sha256sum)" ]
    abba prune a --keep 30d:full,1y:weekly,verdicts
    expect_status 0
    [ "$(remaining)" = "new recent week1 " ]
    abba verify a/week1
    expect_status 0
    abba prune a --keep 30d:full,1y:weekly,verdicts
    expect_status 0
    [ "$(remaining)" = "new recent week1 " ]
}

@test "a tombstone has digest and verdict, and fits its schema" {
    aged old 800
    digest=$(sha256sum <a/old/SHA256SUMS | cut -c1-64)
    abba report a/old --format json -o report.json
    abba prune a --keep 30d:full,verdicts
    expect_status 0
    python3 - "$digest" "$ABBA_SOURCE" <<'END'
import json, sys
stone = json.load(open("a/old.tombstone.json"))
report = json.load(open("report.json"))
assert stone["digest"] == sys.argv[1] and stone["name"] == "old" and stone["kind"] == "archive"
assert stone["verdict"] == report["verdict"] and stone["plan_sha256"] == report["plan_sha256"]
assert stone["profiles"] == [{"profile": p["profile"], "verdict": p["verdict"]} for p in report["profiles"]]
try:
    import jsonschema
except ImportError:
    sys.exit(0)
schema = json.load(open(sys.argv[2] + "/archive/schema/tombstone.schema.json"))
jsonschema.Draft202012Validator(schema).validate(stone)
END
}

@test "a pinned archive and its packs stay, under any name, and are still whole" {
    aged old 800
    aged other 801
    abba pin a/old/
    expect_status 0
    abba pack -q a/old -o a/packed.tar.zst
    mv a/old a/renamed
    abba verify a/renamed
    expect_status 0
    (cd a/renamed && sha256sum -c --quiet SHA256SUMS)
    abba prune a --keep verdicts
    expect_status 0
    expect_out "pinned"
    [ "$(remaining)" = "PINNED packed.tar.zst renamed " ]
    abba prune a --max-size 1kB
    expect_status 3
    expect_err "they are pinned"
    [ "$(remaining)" = "PINNED packed.tar.zst renamed " ]
    abba pin --undo a/packed.tar.zst
    expect_status 0
    abba prune a --keep verdicts
    expect_status 0
    [ "$(remaining)" = "PINNED " ]
    [ "$(find a -name '*.tombstone.json' | wc -l)" = 3 ]
}

@test "packs count too, and the oldest go until the rest fits" {
    aged one 3
    aged two 2
    aged three 1
    abba pack -q a/one -o a/one.tar.zst
    abba pack -q a/three -o a/three.tar.zst
    rm -r a/one
    # all but a little of what is there
    abba prune a --max-size "$(($(find a -type f -printf '%s\n' | paste -sd+) - 1000))B"
    expect_status 0
    [ "$(remaining)" = "three three.tar.zst two " ] || fail "$(remaining)"
    [ -e a/one.tar.zst.tombstone.json ]
}

@test "unfinished, damaged, foreign and linked ones are never touched" {
    aged unfinished 800
    rm a/unfinished/SHA256SUMS
    aged damaged 800
    echo >>a/damaged/report.json
    mkdir -p a/foreign/raw
    touch a/foreign/SHA256SUMS a/foreign/series.json a/some.tar.zst a/notes.txt
    cp -r a/damaged outside && cp "$sample/report.json" outside/
    ln -s ../outside a/link
    ln -s ../outside.tar.zst a/link.tar.zst
    mkfifo a/pipe.tar.zst
    abba pack -q "$sample" -o outside.tar.zst
    before=$(find a outside | sort | sha256sum)
    abba prune a --keep verdicts --max-size 1kB
    expect_status 0
    for name in unfinished damaged foreign link some.tar.zst; do
        expect_out "left alone  $name: "
    done
    [ "$before" = "$(find a outside | sort | sha256sum)" ]
}

@test "what a prune had no time to remove goes with the next; a name that is taken is no place for a tombstone" {
    aged old 800
    mv a/old a/old.pruning
    echo '{}' >a/old.tombstone.json
    abba prune a --keep verdicts
    expect_status 0
    [ "$(remaining)" = "" ]
    aged old 800
    abba prune a --keep verdicts
    expect_status 3
    expect_err "exists already"
    [ "$(remaining)" = "old " ]
}

@test "wrong rules, sizes, folders and pins are one message each, and nothing goes" {
    aged old 800
    for rule in '' full,30d:full 30d:full 30d:ful,verdicts 1y:full,30d:weekly,verdicts 30:full,verdicts \
        0d:full,verdicts 99999999d:full,verdicts 30d:full,,verdicts verdicts,verdicts; do
        abba prune a --keep "$rule"
        expect_status 2
        expect_err "--keep"
    done
    abba prune a
    expect_status 2
    abba prune a --max-size 12
    expect_status 2
    abba prune nowhere --keep verdicts
    expect_status 2
    abba pin a/nowhere
    expect_status 5
    echo 'keep the old one' >a/PINNED
    abba prune a --keep verdicts
    expect_status 2
    expect_err "line 1: not a digest and a name"
    rm a/PINNED
    mkdir a/PINNED
    abba prune a --keep verdicts
    expect_status 2
    [ -e a/old/SHA256SUMS ]
}
