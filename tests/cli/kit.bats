#!/usr/bin/env bats
# The examples for CI servers: their script from end to end, and what their files promise.
# shellcheck disable=SC2016,SC2034

load common
load servers

TOKEN=ghs_0123456789abcdefghijABCDEFGHIJ012345

setup() {
    setup_folder
    plain_environment
    local name
    for name in "${!GITHUB_@}" "${!CI_@}" "${!GATE_@}" GITLAB_CI GITLAB_TOKEN GH_TOKEN; do
        unset "$name"
    done
    KIT=$ABBA_SOURCE/.ci/examples
}

teardown() {
    stop_servers
}

# The repository of the gate's own test, with the script where a user puts it.
make_repository() {
    . "$ABBA_SOURCE/tests/gate/repository.bash"
    mkdir repository && cd repository || return 1
    gate_repository "$ABBA_SOURCE/tests/gate"
    git branch -q origin-main v1
    mkdir .ci bin
    cp "$KIT/gate.sh" .ci/
    ln -s "$ABBA" bin/abba
    export PATH=$PWD/bin:$PATH GATE_PROFILES=record/quick-read GATE_THRESHOLDS=gate \
        GATE_BUILD=make GATE_PRODUCT=bench GATE_BASELINE=origin-main
}

gate() {
    status=0
    output=$(.ci/gate.sh "$@" 2>stderr.txt </dev/null) || status=$?
    err=$(<stderr.txt)
}

# A job of GitHub's that follows one of a fork's pull request.
post_job() {
    start_forge "$TOKEN" --app
    export GITHUB_ACTIONS=true GITHUB_API_URL=$FORGE GITHUB_REPOSITORY=me/it \
        GITHUB_EVENT_NAME=workflow_run GITHUB_EVENT_PATH=$PWD/event.json GITHUB_TOKEN=$TOKEN
    cat >event.json <<'END'
{"repository": {"id": 1}, "workflow_run": {"event": "pull_request",
 "head_sha": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "head_branch": "topic/1",
 "head_repository": {"owner": {"login": "fork"}}, "pull_requests": []}}
END
}

@test "the script: one job measures without a token, another one posts" {
    make_repository
    GATE_CANDIDATE=clean gate measure
    [ "$status" = 0 ] || [ "$status" = 4 ] || fail "status"
    expect_out "record/quick-read"
    for file in archive.tar.zst report.txt report.md junit.xml; do
        [ -s gate/$file ] || fail "no $file"
    done
    python3 -c 'import xml.etree.ElementTree as e; e.parse("gate/junit.xml")'
    grep -q '^### .*abba: ' gate/report.md
    # the other job has the pack alone
    mkdir ../other ../other/gate && mv gate/archive.tar.zst ../other/gate/
    cp -r .ci ../other/ && cd ../other
    post_job
    gate post
    expect_status 0
    expect_out "comment  made, on #12"
    grep -q '"state": "\(success\|pending\)"' forge.json
    ! grep FAULT forge.log || fail "not documented"
    gate post
    expect_status 0
    expect_out "comment  updated, on #12"
}

@test "the script: what could not be measured or told" {
    make_repository
    GATE_BASELINE=nowhere gate measure
    expect_status 2
    expect_err "nowhere"
    [ ! -e gate/archive.tar.zst ]
    post_job
    gate post
    expect_status 0
    expect_out "status   error"
    grep -q "abba: no verdict" forge.json
    unset GITHUB_TOKEN
    gate post
    expect_status 2
    expect_err "no token"
    gate
    expect_status 2
}

@test "the files for GitHub and GitLab keep tokens from what measures" {
    python3 -c 'import yaml' 2>/dev/null || skip "no python3-yaml"
    python3 - "$KIT" <<'END'
import sys, yaml

def load(name):
    return yaml.safe_load(open(sys.argv[1] + "/" + name))

measure = load("github/gate.yml")
assert measure[True] == "pull_request", measure[True]  # YAML 1.1 reads `on` as true
assert measure["permissions"] == {"contents": "read"}
job = measure["jobs"]["measure"]
assert "permissions" not in job and "secrets" not in str(job) and "token" not in str(job).lower()
checkout = next(s for s in job["steps"] if s.get("uses", "").startswith("actions/checkout"))
assert checkout["with"] == {"fetch-depth": 0, "persist-credentials": False}
assert any("GITHUB_STEP_SUMMARY" in s.get("run", "") for s in job["steps"])
upload = job["steps"][-1]
assert upload["if"] == "always()" and "gate/archive.tar.zst" in upload["with"]["path"]

post = load("github/gate-post.yml")
assert post[True]["workflow_run"] == {"workflows": [measure["name"]], "types": ["completed"]}
assert post["permissions"] == {"actions": "read", "contents": "read", "pull-requests": "write",
                               "statuses": "write"}
steps = post["jobs"]["post"]["steps"]
assert all("ref" not in s.get("with", {}) for s in steps)  # never the pull request's own files
assert [s["run"] for s in steps if "GITHUB_TOKEN" in s.get("env", {})] == [".ci/gate.sh post"]
for text in [s.get("run", "") for s in job["steps"] + steps]:
    assert "${{" not in text, text  # nothing of an event becomes part of a script

lab = load("gitlab/gate.yml")
assert lab["gate"]["allow_failure"] == {"exit_codes": [4]}
assert lab["gate"]["artifacts"]["reports"]["junit"] == "gate/junit.xml"
assert lab["gate"]["variables"]["GIT_DEPTH"] == "0"
assert lab["gate-post"]["needs"] == [{"job": "gate", "artifacts": True}]
assert "environment" not in lab["gate"] and lab["gate-post"]["environment"]["name"] == "gate"
END
}

# The commands of a job's step, as the file has them.
commands_of() { # FILE JOB STEP-OR-KEY
    python3 -c 'import sys, yaml
job = yaml.safe_load(open(sys.argv[1]))["jobs" if "github" in sys.argv[1] else sys.argv[2]]
if "github" in sys.argv[1]:
    print(next(s["run"] for s in job[sys.argv[2]]["steps"] if s.get("name") == sys.argv[3]))
else:
    print("\n".join(job[sys.argv[3]]))' "$KIT/$1" "$2" "$3"
}

# Clones as the services make them: the request's commit, the target branch as they have it.
make_clone() { # FOLDER
    git clone -q --no-local origin "$1"
    cp -r repository/.ci "$1"/
    cd "$1" || return 1
}

@test "the commands in the files measure, as they stand" {
    python3 -c 'import yaml' 2>/dev/null || skip "no python3-yaml"
    make_repository
    git checkout -q -B main v1
    sed -i 's/"confirm": 16/"confirm": 0/' profiles/record/quick-read.json
    git commit -q -a -m "eight pairs decide"
    git checkout -q -b request
    gate_cost_rss
    git commit -q -a -m "room to spare"
    cd ..
    git clone -q --bare repository origin
    git --git-dir=origin symbolic-ref HEAD refs/heads/request
    make_clone github
    commands_of github/gate.yml measure Measure >../measure.sh
    status=0
    output=$(GITHUB_STEP_SUMMARY=$PWD/../summary.md GATE_BASELINE=origin/main \
        bash --noprofile --norc -e ../measure.sh 2>../err.txt) || status=$?
    err=$(<../err.txt)
    expect_status 1
    expect_out "peak_rss: median change"
    grep -q '^### .*abba: regressed' ../summary.md
    # inconclusive is a warning: a run that judges nothing else
    printf '#!/bin/sh\nexit 4\n' >.ci/gate.sh
    output=$(GITHUB_STEP_SUMMARY=/dev/null bash --noprofile --norc -e ../measure.sh)
    [[ "$output" == ::warning::inconclusive* ]]
    cd .. && make_clone gitlab
    git update-ref -d refs/remotes/origin/main # a runner fetches the request alone
    commands_of gitlab/gate.yml gate script >../script.sh
    export CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main GATE_BASELINE=origin/main
    status=0
    output=$(sh -e ../script.sh 2>../err.txt) || status=$?
    err=$(<../err.txt)
    expect_status 1
    expect_out "peak_rss: median change"
    python3 -c 'import xml.etree.ElementTree as e; assert e.parse("gate/junit.xml").find(".//failure") is not None'
}

@test "every command in the files is sound shell" {
    python3 -c 'import yaml' 2>/dev/null || skip "no python3-yaml"
    python3 - "$KIT" <<'END'
import sys, yaml
n = 0
for name in ("github/gate.yml", "github/gate-post.yml"):
    for job in yaml.safe_load(open(sys.argv[1] + "/" + name))["jobs"].values():
        for step in job["steps"]:
            if "run" in step:
                n += 1
                open("step%d.sh" % n, "w").write("#!/bin/bash\nset -e\n" + step["run"] + "\n")
for job in yaml.safe_load(open(sys.argv[1] + "/gitlab/gate.yml")).values():
    for part in ("before_script", "script"):
        if part in job:
            n += 1
            open("step%d.sh" % n, "w").write("#!/bin/sh\n" + "\n".join(job[part]) + "\n")
assert n == 7, n
END
    for file in step*.sh; do
        bash -n "$file"
    done
    ! command -v shellcheck >/dev/null || shellcheck step*.sh
}
