#!/usr/bin/env bats
# What a pull request is told, against servers that take only what GitHub and GitLab document.
# shellcheck disable=SC2016,SC2154

load common
load servers

SHA=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
TOKEN=ghs_0123456789abcdefghijABCDEFGHIJ012345

setup() {
    setup_folder
    plain_environment
    local name
    for name in "${!GITHUB_@}" "${!CI_@}" GITLAB_CI GITLAB_TOKEN GH_TOKEN ABBA_WEBHOOK_TOKEN; do
        unset "$name"
    done
    A=$ABBA_SOURCE/archive/sample/flow-quick # inconclusive: exit status 4
}

teardown() {
    stop_servers
    [ ! -d tmp ] || nothing_left
}

in_github() { # EVENT-NAME EVENT-JSON
    printf '%s' "$2" >event.json
    export GITHUB_ACTIONS=true GITHUB_API_URL=$FORGE GITHUB_REPOSITORY=me/it GITHUB_RUN_ID=5 \
        GITHUB_SERVER_URL=https://forge.example GITHUB_EVENT_NAME=$1 \
        GITHUB_EVENT_PATH=$PWD/event.json GITHUB_TOKEN=$TOKEN
}

in_pull_request() {
    in_github pull_request '{"pull_request": {"number": 12, "head": {"sha": "'$SHA'"}}}'
}

in_gitlab() {
    export GITLAB_CI=true CI_API_V4_URL=$FORGE/api/v4 CI_PROJECT_ID=42 CI_PIPELINE_ID=77 \
        CI_MERGE_REQUEST_IID=12 CI_MERGE_REQUEST_PROJECT_ID=42 CI_COMMIT_SHA=$SHA \
        CI_PIPELINE_URL=https://forge.example/p/77 GITLAB_TOKEN=$TOKEN
}

notify() {
    abba notify --retry-pause 1ms "$@"
    expect_no "$TOKEN"
}

# What the server has, by a Python expression on `s`.
forge() {
    python3 -c "import json; s = json.load(open('forge.json')); print(($1))"
}

# Nothing was asked that the documents do not have.
documented() {
    ! grep FAULT forge.log || fail "$(<forge.log)"
}

asked() { # METHOD
    grep -c "^$1 " forge.log || true
}

@test "GitHub: a status, and one comment that is updated" {
    start_forge "$TOKEN"
    in_pull_request
    notify "$A"
    expect_status 4
    expect_out "status   pending, of commit aaaaaaaaaaaa"
    expect_out "comment  made, on #12, https://forge.example/12#c1"
    notify --require-notify "$A"
    expect_status 4
    expect_out "comment  updated, on #12"
    documented
    [ "$(forge 'len(s["comments"])')" = 1 ]
    [ "$(forge 's["comments"][0]["body"].split("\n")[:2]')" = \
        "['<!-- abba: abba -->', '### ⚠️ abba: inconclusive']" ] || fail "$(<forge.json)"
    [ "$(forge 's["statuses"][0]["context"], s["statuses"][0]["target_url"]')" = \
        "('abba', 'https://forge.example/me/it/actions/runs/5')" ] || fail "$(<forge.json)"
    digest=$(sha256sum <"$A/SHA256SUMS" | cut -d' ' -f1)
    [[ "$(forge 's["comments"][0]["body"]')" == *"Commit $SHA. Archive \`$digest\`."* ]]
}

@test "another name is another comment, and parts may be left out" {
    start_forge "$TOKEN"
    in_pull_request
    notify --name first "$A"
    notify --name second "$A"
    notify --name third --no-comment "$A"
    notify --name fourth --no-status "$A"
    expect_no "status "
    notify --name second "$A"
    documented
    [ "$(forge 'len(s["comments"]), len(s["statuses"])')" = '(3, 4)' ]
    abba notify --no-status --no-comment "$A"
    expect_status 2
}

@test "its own comment is found behind hundreds, and nobody else's is touched" {
    # A page of answers this long is larger than what other requests take.
    python3 - <<'END'
import json
marker = "<!-- abba: abba -->\n"
comments = [{"id": i, "body": "x" * 60000, "user": 5} for i in range(1, 231)]
comments[10]["body"] = marker + "copied by somebody"
comments[20]["body"] = "quoted: " + marker
comments[20]["user"] = 7
comments[205] = {"id": 206, "body": marker + "own", "user": 7}
json.dump(comments, open("comments.json", "w"))
END
    start_forge "$TOKEN" --comments comments.json
    in_pull_request
    notify "$A"
    expect_out "comment  updated"
    documented
    [ "$(asked GET)" = 4 ] # user, three pages
    [ "$(forge '[c["id"] for c in s["comments"] if "inconclusive" in c["body"]]')" = '[206]' ]
    [ "$(forge 'len(s["comments"])')" = 230 ]
}

@test "the token of a job, which may not ask who it is, finds what a bot wrote" {
    start_forge "$TOKEN" --app
    in_pull_request
    notify "$A"
    expect_out "comment  made"
    notify "$A"
    expect_out "comment  updated"
    [ "$(forge 'len(s["comments"])')" = 1 ]
    documented
}

@test "two jobs: the one that posts knows the pull request of a fork by its event only" {
    start_forge "$TOKEN"
    local run='"event": "pull_request", "head_sha": "'$SHA'", "head_branch": "topic/1",
        "html_url": "https://forge.example/run/9", "head_repository": {"owner": {"login": "fork"}}'
    in_github workflow_run '{"repository": {"id": 1}, "workflow_run": {'"$run"', "pull_requests": []}}'
    notify "$A"
    expect_out "comment  made, on #12"
    # the list holds another repository's, and an older head of this one's
    in_github workflow_run '{"repository": {"id": 1}, "workflow_run": {'"$run"', "pull_requests": [
        {"number": 3, "head": {"sha": "'$SHA'"}, "base": {"repo": {"id": 2}}},
        {"number": 4, "head": {"sha": "'"${SHA//a/b}"'"}, "base": {"repo": {"id": 1}}},
        {"number": 12, "head": {"sha": "'$SHA'"}, "base": {"repo": {"id": 1}}}]}}'
    notify "$A"
    expect_out "comment  updated, on #12"
    [ "$(forge 's["statuses"][0]["target_url"]')" = https://forge.example/run/9 ]
    documented
}

@test "a push has a status and no comment" {
    start_forge "$TOKEN"
    in_github push '{"after": "'$SHA'"}'
    notify "$A"
    expect_status 4
    expect_out "status   pending"
    expect_out "comment  none"
    documented
}

@test "GitLab: a status, and one note that is updated" {
    start_forge "$TOKEN"
    in_gitlab
    notify "$A"
    expect_status 4
    expect_out "status   skipped"
    expect_out "comment  made, on !12"
    notify "$A"
    expect_out "comment  updated, on !12"
    documented
    [ "$(forge 'len(s["comments"]), s["statuses"][0]["pipeline_id"]')" = '(1, 77)' ]
    # a pipeline of merged results: the head of the branch, whose pipeline is another
    export CI_MERGE_REQUEST_SOURCE_BRANCH_SHA=${SHA//a/b}
    notify "$A"
    [ "$(forge 's["statuses"][2]["sha"][:3], s["statuses"][2].get("pipeline_id")')" = "('bbb', None)" ]
    documented
}

@test "a webhook gets status and comment at once" {
    start_forge "$TOKEN"
    export ABBA_WEBHOOK_TOKEN=$TOKEN
    notify --webhook "$FORGE/hook" --commit "$SHA" --pull-request 12 "$A"
    expect_status 4
    expect_out "webhook  $FORGE/hook"
    documented
    [ "$(forge '[s["statuses"][0][k] for k in ("verdict", "state", "commit", "pull_request")]')" = \
        "['inconclusive', 'inconclusive', '$SHA', 12]" ]
    [[ "$(forge 's["statuses"][0]["comment"]')" == '<!-- abba: abba -->'* ]]
}

@test "verdicts have the states that the services have for them" {
    start_forge "$TOKEN"
    in_pull_request
    spin=$ABBA_BUILD/cost/spin
    compare -q -n 8 --archive slower --threshold cpu_time=50% "$spin 2" "$spin 80"
    expect_status 1
    compare -q -n 8 --archive faster --threshold cpu_time=50% "$spin 80" "$spin 2"
    compare -q -n 6 --archive nothing "$spin 1" "$spin 2"
    notify slower
    expect_status 1
    expect_out "status   failure"
    notify faster
    expect_status 0
    expect_out "status   success"
    notify nothing # green for nothing
    expect_status 3
    expect_out "status   error"
    in_gitlab
    notify --service gitlab slower
    expect_status 1
    expect_out "status   failed"
    documented
}

@test "the folder of a series is told as one" {
    start_forge "$TOKEN"
    in_pull_request
    make_runner '{"metric": "m", "role": "only", "pattern": "value=(?<value>\\d+)", "unit": "s", "better": "lower"}'
    mkdir -p runners/t/series
    cat >runners/t/series/two.json <<'END'
{"series": "t/two", "thresholds": "none", "pairs": 6, "comparisons": [
  {"comparison": "one", "baseline": "x=./program", "aa": true, "profiles": ["t/p"]},
  {"comparison": "two", "baseline": "x=./program", "aa": true, "profiles": ["t/p"]}]}
END
    abba run --no-lock -q --series t/two --archive lab
    notify lab
    expect_status 0
    [[ "$(forge 's["comments"][0]["body"]')" == *'## abba: '*'`one`'*'`two`'* ]] || fail "$(<forge.json)"
    documented
}

# ---- services that refuse ----

@test "refusals are one message each, and the verdict's exit status stays" {
    local status_ words
    while read -r status_ words; do
        start_forge "$TOKEN" --fault "POST:statuses 9 $status_" --fault "GET:user 9 $status_" --echo " $TOKEN"
        in_pull_request
        notify --tries 2 "$A"
        expect_status 4
        expect_err "not told: "
        expect_err "answers $status_ ($words)"
        notify --tries 2 --require-notify "$A"
        expect_status 2
        in_gitlab
        notify --service gitlab --tries 2 "$A"
        expect_status 4
        expect_err "answers $status_ ($words)"
        stop_servers
    done <<'END'
401 credentials are missing or wrong
403 forbidden
404 not found
422 refused
429 too many requests
500 internal error
END
}

@test "hints say what a token needs, and where it comes from" {
    start_forge "$TOKEN" --fault 'POST:statuses 1 403' --fault 'POST:statuses 1 401' --fault 'POST:statuses 1 404'
    in_pull_request
    notify --no-comment "$A"
    expect_err "statuses: write"
    notify --no-comment "$A"
    expect_err "the token in GITHUB_TOKEN or GH_TOKEN is wrong or has expired"
    notify --no-comment "$A"
    expect_err "answers 404 (not found): Not Found"
}

@test "a refused status leaves the comment to be tried" {
    start_forge "$TOKEN" --fault 'POST:statuses 9 403'
    in_pull_request
    notify "$A"
    expect_status 4
    expect_err "commit status: POST '"
    expect_out "comment  made"
    documented
}

@test "busy services are asked again, at the time that they name or not at all" {
    start_forge "$TOKEN" --fault 'POST:statuses 1 429/0' --fault 'GET:comments 2 503' --fault 'POST:comments 1 429/0'
    in_pull_request
    notify --require-notify "$A"
    expect_status 4
    expect_out "comment  made"
    [ "$(forge 'len(s["comments"])')" = 1 ]
    stop_servers
    start_forge "$TOKEN" --fault 'POST:statuses 1 429/3600'
    in_pull_request
    notify --no-comment "$A"
    expect_status 4
    expect_err "answers 429 (too many requests)"
    expect_err "3600"
    [ "$(asked POST)" = 1 ]
}

@test "a comment that was made although the service broke is not made twice" {
    start_forge "$TOKEN" --fault 'POST:comments 1 502+done:'
    in_pull_request
    notify "$A"
    expect_status 4
    expect_out "comment  updated"
    [ "$(forge 'len(s["comments"])')" = 1 ]
    documented
}

@test "a service that is not there, or is no API" {
    in_pull_request
    export GITHUB_API_URL=http://127.0.0.1:1
    notify --tries 1 "$A"
    expect_status 4
    expect_err "not told: commit status: POST 'http://127.0.0.1:1/repos/me/it/statuses/$SHA'"
    [ "$(grep -c 'not told' <<<"$err")" = 1 ]
    # a verdict that is no good either does not hide it where it is required
    notify --tries 1 nowhere
    expect_status 5
    notify --tries 1 --require-notify nowhere
    expect_status 2
    expect_err "not told: commit status: POST"
    export GITHUB_API_URL=http://service.invalid
    notify --tries 1 "$A"
    expect_err "a token goes over https only"
}

# ---- what it is told about itself ----

@test "whom to tell must be known: each thing that is missing is named" {
    abba notify "$A"
    expect_status 4
    expect_err "whom to tell is not known"
    abba notify --require-notify "$A"
    expect_status 2
    FORGE=http://127.0.0.1:1
    in_pull_request
    GITHUB_TOKEN='' notify "$A"
    expect_status 4
    expect_err "no token: GITHUB_TOKEN or GH_TOKEN is not set"
    GITHUB_TOKEN=$'a\nX: y' abba notify "$A"
    expect_err "holds a blank or a control character"
    notify --commit main "$A"
    expect_err "found 'main', needed are the 40 hex digits of a commit"
    notify --repository ../../user "$A"
    expect_err "needed is OWNER/NAME"
    echo '{"pull_request": ' >event.json
    notify "$A"
    expect_status 4
    expect_err "GITHUB_EVENT_PATH"
    rm event.json
    notify "$A"
    expect_err "GITHUB_EVENT_PATH"
    in_gitlab
    CI_MERGE_REQUEST_IID=x notify --service gitlab "$A"
    expect_err "CI_MERGE_REQUEST_IID is 'x'"
    abba notify --service nowhere "$A"
    expect_status 2
    abba notify --max-bytes 10 "$A"
    expect_status 2
    expect_err "from 1000 to 1000000"
}

@test "--dry-run prints what would be told, without a token" {
    abba notify --dry-run --service github --repository me/it --commit "$SHA" --pull-request 3 "$A"
    expect_status 4
    expect_out "status   pending: inconclusive"
    expect_out "<!-- abba: abba -->"
}

@test "--max-bytes leaves detail out from the end on" {
    local n
    for n in 1000 2000 4000; do
        abba notify --dry-run --service github --repository me/it --commit "$SHA" --max-bytes $n "$A"
        expect_out "### ⚠️ abba: inconclusive"
        expect_out "are left out here; the archive has them"
        comment=${output#*$'\n\n'}
        [ "$(printf '%s\n' "$comment" | wc -c)" -le $n ]
    done
}

# ---- archives that cannot be believed ----

@test "a damaged, an unfinished and no archive are told as such" {
    start_forge "$TOKEN"
    in_pull_request
    cp -r "$A" damaged
    sed -i '1s/"value":[0-9.]*/"value":1/' damaged/samples.jsonl
    notify damaged
    expect_status 5
    expect_err "samples.jsonl"
    expect_out "status   error"
    [[ "$(forge 's["comments"][0]["body"]')" == *'### ⚠️ abba: no verdict'*'samples.jsonl'* ]] ||
        fail "$(<forge.json)"
    cp -r "$A" unfinished
    rm unfinished/SHA256SUMS
    notify unfinished
    expect_status 3
    expect_err "unfinished"
    expect_out "status   error"
    notify nowhere
    expect_status 5
    notify --digest "$(printf '0%.0s' {1..64})" "$A"
    expect_status 5
    [ "$(forge 'len(s["comments"])')" = 1 ]
    documented
}

remake_sums() {
    (cd forged && cut -c 67- SHA256SUMS | xargs sha256sum >sums && mv sums SHA256SUMS)
}

# The whole archive again, consistent, with other samples.
forge_archive() { # PYTHON, on `sample`
    cp -r "$A" forged
    python3 - "$1" <<'END'
import json, sys
lines = open("forged/samples.jsonl").read().splitlines()
out = []
for line in lines:
    sample = json.loads(line)
    exec(sys.argv[1])
    out.append(json.dumps(sample, separators=(",", ":"), ensure_ascii=False))
open("forged/samples.jsonl", "w").write("\n".join(out) + "\n")
END
    remake_sums
    "$ABBA" report forged --format json >report.json 2>forged.txt || true
    mv report.json forged/report.json
    remake_sums
}

@test "a forged archive: another pull request inside, markup, escapes: nothing of it works" {
    start_forge "$TOKEN"
    in_pull_request
    forge_archive 'if sample["variant"] == "batch":
    sample["status"] = "failed"
    sample["metrics"] = {}
    sample["error"] = "\u001b[2J\u202e PR #99 @everyone <img src=https://x.y/z> [a](https://x.y) " \
        "www.x.y GH-99 !99 \n/close\n<!-- abba: abba --></details> | ` ``` $x$ pull_request: 99"'
    notify forged
    expect_status 3
    expect_no $'\e'
    documented
    forge 's["comments"][0]["body"]' >body.txt
    # outside of code spans nothing is left of it that a service would act on
    python3 - <<'END'
import re
text = open("body.txt").read()
assert "everyone" in text and "\x1b" not in text and "\u202e" not in text
text = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
for what in (r"@[a-z]", r"(?<!\\)#\d", r"<img", r"https?:/", r"www\.", r"GH\\?-\d", r"!\d",
             r"(?m)^/", r"(?<!\\)\[a", r"(?<!\\)\$x"):
    assert not re.search(what, text), (what, re.search(what, text))
assert text.count("<!--") == 1
assert len(re.findall(r"(?m)^<details", text)) == len(re.findall(r"(?m)^</details>", text))
END
    ! grep -q 99 forge.log || fail "$(<forge.log)"
}

@test "ten megabytes of markup in a forged archive: a comment of the usual size" {
    start_forge "$TOKEN"
    in_pull_request
    forge_archive 'if sample["run"] % 8 == 2:
    sample["status"] = "failed"
    sample["metrics"] = {}
    sample["error"] = "`<b>@x " * 400000'
    notify forged
    expect_status 3
    [ "$(forge 'len(s["comments"][0]["body"]) <= 60000')" = True ]
    [[ "$(forge 's["comments"][0]["body"]')" == *'### ⚠️ abba: incomplete'* ]] || fail "no verdict"
    documented
}
