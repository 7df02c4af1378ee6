#!/usr/bin/env python3
"""An HTTP server for tests that keeps files in memory and misbehaves as it is told.

  --store FOLDER      what it serves at first, by path
  --fault WORDS       "METHOD COUNT FAULT", such as "PUT 2 500": the first COUNT requests of that
                      method (METHOD:TEXT: whose address holds the text) meet the fault. May be
                      given several times. Faults:
                      NUMBER (that status), NUMBER/SECONDS (with Retry-After), cut (half of the
                      answer, or half of the request is read), hang (no answer), wrong (another
                      body of the same size), lose (takes a file and does not keep it)
  --keys ID:SECRET    an S3 store: every request must bear AWS Signature Version 4, which is
                      computed again by botocore; multipart uploads as S3 has them
  --region NAME       with --keys: the only region that requests may be signed for
  --expired TOKEN     with --keys: a session's token that is over
  --log FILE          a line a request: method, path and query, status, bytes of its body
"""
import argparse
import hashlib
import http.server
import os
import threading
import urllib.parse
from xml.sax.saxutils import escape


class Signature:
    """AWS Signature Version 4, by botocore."""

    def __init__(self, key, secret, region, expired):
        self.key, self.secret, self.region, self.expired = key, secret, region, expired

    def fault(self, request, body):
        """None, or S3's word for what is wrong."""
        from botocore.auth import S3SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        given = request.headers.get("Authorization", "")
        words = dict(w.strip().split("=", 1) for w in given.partition(" ")[2].split(",") if "=" in w)
        if not given.startswith("AWS4-HMAC-SHA256 "):
            return "AccessDenied"
        scope = words["Credential"].split("/")
        if scope[0] != self.key:
            return "InvalidAccessKeyId"
        if self.region and scope[2] != self.region:
            return "AuthorizationHeaderMalformed"
        if self.expired and request.headers.get("x-amz-security-token") == self.expired:
            return "ExpiredToken"
        digest = request.headers.get("x-amz-content-sha256")
        if digest != hashlib.sha256(body).hexdigest():
            return "XAmzContentSHA256Mismatch"
        signed = words["SignedHeaders"].split(";")
        if "host" not in signed or "x-amz-content-sha256" not in signed:
            return "AccessDenied"
        url = "http://" + request.headers["Host"] + request.path
        again = AWSRequest(request.command, url, data=body,
                           headers={n: request.headers[n] for n in signed if n != "host"})
        again.context["timestamp"] = request.headers["x-amz-date"]
        auth = S3SigV4Auth(Credentials(self.key, self.secret), scope[3], scope[2])
        canonical = auth.canonical_request(again)
        want = auth.signature(auth.string_to_sign(again, canonical), again)
        return None if want == words["Signature"] else "SignatureDoesNotMatch"


class State:
    def __init__(self, options):
        self.lock = threading.Lock()
        self.files, self.meta, self.uploads = {}, {}, {}
        self.faults = [[f.split()[0], int(f.split()[1]), f.split()[2]] for f in options.fault]
        self.signature = None
        if options.keys:
            self.signature = Signature(*options.keys.split(":"), options.region, options.expired)
        self.log = open(options.log, "a", buffering=1)
        for folder, _, names in os.walk(options.store or ""):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    self.files["/" + os.path.relpath(path, options.store)] = f.read()

    def fault_of(self, method, path):
        with self.lock:
            for fault in self.faults:
                wanted, _, text = fault[0].partition(":")
                if wanted == method and text in path and fault[1] > 0:
                    fault[1] -= 1
                    return fault[2]
        return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state = None

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=(), cut=False):
        self.state.log.write(f"{self.command} {self.path} {status} {len(self.body)}\n")
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if not any(name == "Content-Length" for name, _ in headers):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[: len(body) // 2] if cut else body)
        self.close_connection = self.close_connection or cut

    def error(self, status, code):
        self.answer(status, f"<Error><Code>{code}</Code><Message>of a test</Message></Error>".encode())

    def handle_any(self):
        self.body = b""
        fault = self.state.fault_of(self.command, self.path)
        length = int(self.headers.get("Content-Length", 0))
        if fault == "cut" and length:
            self.rfile.read(length // 2)
            self.state.log.write(f"{self.command} {self.path} cut {length // 2}\n")
            self.close_connection = True
            return
        if fault == "hang":
            self.state.log.write(f"{self.command} {self.path} hang 0\n")
            self.rfile.read(length)
            self.rfile.read(1)  # until the client leaves
            self.close_connection = True
            return
        self.body = self.rfile.read(length)
        if fault and fault[0].isdigit():
            status, _, after = fault.partition("/")
            headers = [("Retry-After", after)] if after else []
            self.answer(int(status), headers=headers)
            return
        if self.state.signature:
            wrong = self.state.signature.fault(self, self.body)
            if wrong:
                self.error(400 if wrong in ("AuthorizationHeaderMalformed", "ExpiredToken") else 403, wrong)
                return
        with self.state.lock:
            self.serve(fault)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_MKCOL = handle_any

    def serve(self, fault):
        path, _, query = self.path.partition("?")
        path = urllib.parse.unquote(path)
        query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        files = self.state.files
        if self.state.signature and self.multipart(path, query):
            return
        if self.command == "PUT":
            if fault != "lose":
                files[path] = self.body
                self.state.meta[path] = self.headers.get("x-amz-meta-sha256")
            self.answer(200 if self.state.signature else 201)
        elif self.command == "MKCOL":
            self.answer(201)
        elif path not in files:
            self.error(404, "NoSuchKey")
        else:
            self.send_file(path, fault)

    def send_file(self, path, fault):
        data = self.state.files[path]
        headers = [("ETag", '"%s"' % hashlib.md5(data).hexdigest())]
        if self.state.meta.get(path):
            headers.append(("x-amz-meta-sha256", self.state.meta[path]))
        if fault == "wrong":
            data = bytes(b ^ 1 for b in data)
        begin = self.headers.get("Range", "bytes=0-")[6:].partition("-")[0]
        begin = int(begin)
        if begin and begin >= len(data):
            self.answer(416, headers=[("Content-Range", f"bytes */{len(data)}")])
        elif begin:
            headers.append(("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}"))
            self.answer(206, data[begin:], headers, cut=fault == "cut")
        else:
            self.answer(200, data, [*headers, ("Content-Length", str(len(data)))], cut=fault == "cut")

    def multipart(self, path, query):
        uploads = self.state.uploads
        bucket, _, key = path[1:].partition("/")
        if self.command == "GET" and "uploads" in query:
            found = "".join(
                f"<Upload><Key>{escape(k)}</Key><UploadId>{escape(i)}</UploadId></Upload>"
                for i, (k, _, _) in uploads.items() if k.startswith(query.get("prefix", "")))
            self.answer(200, f"<ListMultipartUploadsResult>{found}</ListMultipartUploadsResult>".encode())
        elif self.command == "POST" and "uploads" in query:
            name = f"id/{len(uploads)}+&"
            uploads[name] = (key, {}, self.headers.get("x-amz-meta-sha256"))
            self.answer(200, ("<InitiateMultipartUploadResult xmlns='http://s3/'><UploadId>"
                              f"{escape(name)}</UploadId></InitiateMultipartUploadResult>").encode())
        elif "uploadId" not in query:
            return False
        elif query["uploadId"] not in uploads:
            self.error(404, "NoSuchUpload")
        else:
            self.part(path, query, uploads[query["uploadId"]])
        return True

    def part(self, path, query, upload):
        parts = upload[1]
        if self.command == "PUT":
            parts[int(query["partNumber"])] = self.body
            self.answer(200, headers=[("ETag", '"%s"' % hashlib.md5(self.body).hexdigest())])
        elif self.command == "GET":  # two a page
            after = int(query.get("part-number-marker", 0))
            left = [n for n in sorted(parts) if n > after]
            found = "".join(
                f"<Part><PartNumber>{n}</PartNumber><Size>{len(parts[n])}</Size>"
                f"<ETag>&quot;{hashlib.md5(parts[n]).hexdigest()}&quot;</ETag></Part>" for n in left[:2])
            more = "true" if len(left) > 2 else "false"
            last = left[:2][-1] if left else 0
            self.answer(200, (f"<ListPartsResult><IsTruncated>{more}</IsTruncated>"
                              f"<NextPartNumberMarker>{last}</NextPartNumberMarker>{found}"
                              "</ListPartsResult>").encode())
        else:
            self.state.files[path] = b"".join(parts[n] for n in sorted(parts))
            self.state.meta[path] = upload[2]
            del self.state.uploads[query["uploadId"]]
            self.answer(200, b"<CompleteMultipartUploadResult/>")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--port", type=int, required=True)
    p.add_argument("--store")
    p.add_argument("--fault", action="append", default=[])
    p.add_argument("--keys")
    p.add_argument("--region")
    p.add_argument("--expired")
    p.add_argument("--log", required=True)
    options = p.parse_args()
    if options.keys:
        import botocore.auth  # noqa: F401  before the first request, not within it
    Handler.state = State(options)
    http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
