#!/usr/bin/env python3
"""GitHub's and GitLab's APIs as far as their documents describe what `abba notify` asks of them, and
a webhook. What does not fit the documents is answered 400 and written to the log as FAULT.

  --log FILE       a line a request: method, path and query, status
  --token TOKEN    what every request must bear
  --comments FILE  a JSON list of comments that are there at first (id, body, user, type)
  --state FILE     statuses and comments as JSON, written after each request
  --app            the token is a GitHub App's: GET /user is refused
  --fault WORDS    "METHOD:TEXT COUNT STATUS[/RETRY-AFTER]": the first COUNT requests of that method
                   whose address holds TEXT get that status; STATUS+done: and are done nevertheless
"""
import argparse
import http.server
import json
import re
import urllib.parse

REPO = "/repos/me/it"
PROJECT = "/projects/42"
WORDS = {401: "Bad credentials", 403: "Resource not accessible by integration", 404: "Not Found",
         422: "Validation Failed", 429: "API rate limit exceeded", 500: "Server Error"}
GITHUB_STATES = {"error", "failure", "pending", "success"}
GITLAB_STATES = {"pending", "running", "success", "failed", "canceled", "skipped"}


class Refused(Exception):
    def __init__(self, status, words=None, fault=False):
        super().__init__(words)
        self.status, self.words, self.fault = status, words or WORDS.get(status, ""), fault


def need(condition, words):
    if not condition:
        raise Refused(400, words, True)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def log_message(self, *args):
        pass

    # ---- what is common ----

    def answer(self, status, data, headers=()):
        body = b"" if data is None else json.dumps(data).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def take_fault(self):
        for fault in self.server.faults:
            wanted, _, text = fault[0].partition(":")
            if wanted == self.command and text in self.path and fault[1] > 0:
                fault[1] -= 1
                return fault[2]
        return None

    def check_headers(self):
        if self.headers.get("Authorization") != "Bearer " + self.server.options.token:
            raise Refused(401)
        need(self.headers.get("User-Agent"), "no User-Agent")  # GitHub: required
        if self.path.startswith("/repos") or self.path.startswith("/user"):
            need(self.headers.get("Accept") == "application/vnd.github+json", "Accept")
            need(self.headers.get("X-GitHub-Api-Version") == "2022-11-28", "X-GitHub-Api-Version")

    def read_body(self):
        size = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(size)
        if self.command == "GET":
            need(not raw, "a body of GET")
            return None
        need(self.headers.get("Content-Type") == "application/json", "Content-Type")
        return json.loads(raw)

    def do(self):
        state, headers = self.server.state, []
        try:
            body = self.read_body()
            fault = self.take_fault()
            if fault and "+done" not in fault:
                status, _, after = fault.partition("/")
                if after:
                    headers.append(("Retry-After", after))
                raise Refused(int(status))
            self.check_headers()
            parts = urllib.parse.urlsplit(self.path)
            query = dict(urllib.parse.parse_qsl(parts.query, strict_parsing=bool(parts.query)))
            status, data = self.route(self.command, parts.path, query, body)
            if fault:
                raise Refused(int(fault.partition("+")[0]))
        except Refused as refused:
            status = refused.status
            data = {"message": refused.words + self.server.options.echo}
            if refused.fault:
                self.server.log.write("FAULT %s\n" % refused.words)
        self.server.log.write("%s %s %d\n" % (self.command, self.path, status))
        with open(self.server.options.state, "w") as f:
            json.dump(state, f)
        self.answer(status, data, headers)

    do_GET = do_POST = do_PATCH = do_PUT = do

    def route(self, method, path, query, body):
        for wanted, pattern, call in (
                ("GET", r"(?:/api/v4)?/user", self.user),
                ("POST", REPO + r"/statuses/([0-9a-f]{40})", self.github_status),
                ("GET", REPO + r"/pulls", self.github_pulls),
                ("GET", REPO + r"/issues/(\d+)/comments", self.list_comments),
                ("POST", REPO + r"/issues/(\d+)/comments", self.add_comment),
                ("PATCH", REPO + r"/issues/comments/(\d+)", self.edit_comment),
                ("POST", "/api/v4" + PROJECT + r"/statuses/([0-9a-f]{40})", self.gitlab_status),
                ("GET", "/api/v4" + PROJECT + r"/merge_requests/(\d+)/notes", self.list_comments),
                ("POST", "/api/v4" + PROJECT + r"/merge_requests/(\d+)/notes", self.add_comment),
                ("PUT", "/api/v4" + PROJECT + r"/merge_requests/(\d+)/notes/(\d+)", self.edit_note),
                ("POST", "/hook", self.hook)):
            match = re.fullmatch(pattern, path)
            if match and wanted == method:
                return call(query, body, *match.groups())
        raise Refused(404)

    # ---- docs.github.com/rest, docs.gitlab.com/api ----

    def gitlab(self):
        return self.path.startswith("/api/v4")

    def user(self, query, body):
        if self.server.options.app:
            raise Refused(403)
        return 200, {"id": 7, "login": "gate", "username": "gate"}

    def github_status(self, query, body, sha):
        need(set(body) <= {"state", "target_url", "description", "context"}, "keys of a status")
        need(body["state"] in GITHUB_STATES, "state")
        need(len(body.get("description", "")) <= 140, "description too long")
        self.server.state["statuses"].append(dict(body, sha=sha))
        return 201, dict(body, id=1)

    def gitlab_status(self, query, body, sha):
        need(set(body) <= {"state", "target_url", "description", "name", "pipeline_id", "ref",
                           "context", "coverage"}, "keys of a status")
        need(body["state"] in GITLAB_STATES, "state")
        need(isinstance(body.get("pipeline_id", 1), int), "pipeline_id")
        self.server.state["statuses"].append(dict(body, sha=sha))
        return 201, dict(body, id=1)

    def github_pulls(self, query, body):
        need(query.get("state") == "open" and query.get("head") == "fork:topic/1", "query of pulls")
        return 200, [{"number": 11, "head": {"sha": "c" * 40}}, {"number": 12, "head": {"sha": "a" * 40}}]

    def list_comments(self, query, body, number):
        allowed = {"per_page", "page"} | ({"sort", "order_by"} if self.gitlab() else set())
        need(set(query) <= allowed, "query of comments")
        size, page = min(int(query.get("per_page", 30)), 100), int(query.get("page", 1))
        return 200, self.shown(self.server.state["comments"])[(page - 1) * size:page * size]

    def shown(self, comments):
        author = "author" if self.gitlab() else "user"
        return [{"id": c["id"], "body": c["body"],
                 author: {"id": c["user"], "type": c.get("type", "User")}} for c in comments]

    def check_comment(self, body, number=None):
        limit = 1000000 if self.gitlab() else 65536
        need(set(body) == {"body"} and body["body"], "keys of a comment")
        need(number in (None, "12"), "another pull request")
        if len(body["body"]) > limit:
            raise Refused(422)

    def add_comment(self, query, body, number):
        self.check_comment(body, number)
        me = 99 if self.server.options.app else 7
        comment = {"id": 1000 + len(self.server.state["comments"]), "body": body["body"],
                   "user": me, "type": "Bot" if self.server.options.app else "User"}
        self.server.state["comments"].append(comment)
        return 201, dict(self.shown([comment])[0], html_url="https://forge.example/12#c1")

    def edit_comment(self, query, body, comment_id):
        self.check_comment(body)
        for comment in self.server.state["comments"]:
            if comment["id"] == int(comment_id):
                comment["body"] = body["body"]
                return 200, self.shown([comment])[0]
        raise Refused(404)

    def edit_note(self, query, body, number, comment_id):
        need(number == "12", "another merge request")
        return self.edit_comment(query, body, comment_id)

    def hook(self, query, body):
        need(body.get("abba") == 1 and body.get("verdict"), "keys of a webhook")
        self.server.state["statuses"].append(body)
        return 204, None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--port", type=int, required=True)
    p.add_argument("--log", required=True)
    p.add_argument("--token", required=True)
    p.add_argument("--comments")
    p.add_argument("--state", required=True)
    p.add_argument("--app", action="store_true")
    p.add_argument("--echo", default="", help="what refusals end with")
    p.add_argument("--fault", action="append", default=[])
    options = p.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.daemon_threads = True
    server.options = options
    server.log = open(options.log, "a", buffering=1)
    server.faults = [[f.split()[0], int(f.split()[1]), f.split()[2]] for f in options.fault]
    comments = json.load(open(options.comments)) if options.comments else []
    server.state = {"statuses": [], "comments": comments}
    json.dump(server.state, open(options.state, "w"))
    server.serve_forever()


if __name__ == "__main__":
    main()
