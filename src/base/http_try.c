#include "base/http_try.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "base/url.h"
#include "base/version.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* What the callbacks of one try share. */
struct
try {
    struct http *h;
    const struct http_request *q;
    struct http_response *r;
    uint64_t body_at; /* bytes of the request's body that were handed over */
    uint64_t start;   /* bytes that the file held before the try */
    bool begun;       /* the first byte of the answer's body was seen */
    bool too_large;
    int file_errno;   /* of reading or writing a file of ours; 0: none */
    struct buf *etag; /* of what the file holds */
};

const char *http_method_name(enum http_method m)
{
    static const char *const names[] = {"GET",   "HEAD",   "PUT",  "POST",
                                        "PATCH", "DELETE", "MOVE", "MKCOL"};
    return names[m];
}

/* With the first try: until then the library takes no memory. */
static void open_handle(struct http *h)
{
    static bool ready;

    if (h->curl)
        return;
    if (!ready && curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
        mem_exhausted(0);
    ready = true;
    h->curl = curl_easy_init();
    if (!h->curl)
        mem_exhausted(0);
}

void http_try_close(struct http *h)
{
    curl_easy_cleanup(h->curl);
}

/* ---- what libcurl calls ---- */

static size_t give_body(char *out, size_t size, size_t count, void *user)
{
    struct try *t = user;
    uint64_t left = t->q->body_bytes - t->body_at;
    size_t n = size * count < left ? size * count : (size_t)left;
    ssize_t got = (ssize_t)n;

    if (t->q->body)
        memcpy(out, (const char *)t->q->body + t->body_at, n);
    else if (n)
        got = pread(t->q->body_fd, out, n, (off_t)(t->q->body_offset + t->body_at));
    if (got < 0 || (got == 0 && n > 0)) {
        t->file_errno = got < 0 ? errno : EIO;
        return CURL_READFUNC_ABORT;
    }
    t->body_at += (uint64_t)got;
    return (size_t)got;
}

static int seek_body(void *user, curl_off_t offset, int origin)
{
    struct try *t = user;

    if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > t->q->body_bytes)
        return CURL_SEEKFUNC_FAIL;
    t->body_at = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

/* "bytes 100-199/200": whether it begins where the file ends. */
static bool range_fits(const struct try *t)
{
    const char *range = http_header(t->r, "content-range");
    char *end;

    if (!range || strncasecmp(range, "bytes ", 6) != 0)
        return false;
    return strtoull(range + 6, &end, 10) == t->start && *end == '-';
}

static void remember_etag(const struct try *t)
{
    const char *etag = http_header(t->r, "etag");

    buf_clear(t->etag);
    if (etag && strncmp(etag, "W/", 2) != 0)
        buf_addstr(t->etag, etag);
}

/* The first byte of an answer for the file: behind what is there, or all anew. */
static bool begin_file(struct try *t, long status)
{
    t->r->continued = t->start > 0 && status == 206 && range_fits(t);
    if (status == 206 && !t->r->continued)
        return false;
    if (!t->r->continued) {
        if (ftruncate(t->q->file, 0) != 0)
            t->file_errno = errno;
        t->start = 0;
    }
    t->r->bytes = t->start;
    remember_etag(t);
    return t->file_errno == 0;
}

static bool write_file(struct try *t, const char *data, size_t len)
{
    while (len) {
        ssize_t n = pwrite(t->q->file, data, len, (off_t)t->r->bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            t->file_errno = n < 0 ? errno : ENOSPC;
            return false;
        }
        data += n;
        len -= (size_t)n;
        t->r->bytes += (uint64_t)n;
    }
    return true;
}

static size_t take_body(char *data, size_t size, size_t count, void *user)
{
    struct try *t = user;
    size_t len = size * count;
    long status = 0;

    curl_easy_getinfo(t->h->curl, CURLINFO_RESPONSE_CODE, &status);
    bool good = status == 0 || (status >= 200 && status < 300);
    if (!good || !t->q->to_file) {
        if (good && buf_add(&t->r->body, data, len) != 0)
            t->too_large = true;
        /* Of a refusal the beginning will do. */
        if (!good && t->r->body.len < 65536)
            (void)buf_add(&t->r->body, data, len);
        return t->too_large ? 0 : len;
    }
    if (!t->begun && !begin_file(t, status))
        return 0;
    t->begun = true;
    if (t->r->bytes + len > t->h->options.limits.max_bytes) {
        t->too_large = true;
        return 0;
    }
    return write_file(t, data, len) ? len : 0;
}

/* "Name: value\r\n"; a new status line begins a new answer (100 Continue, redirects). */
static size_t take_header(char *data, size_t size, size_t count, void *user)
{
    struct try *t = user;
    size_t len = size * count;
    const char *colon = memchr(data, ':', len);

    if (len > 5 && memcmp(data, "HTTP/", 5) == 0) {
        buf_clear(&t->r->headers);
        buf_clear(&t->r->body);
    } else if (colon) {
        const char *value = colon + 1, *end = data + len;
        while (value < end && (*value == ' ' || *value == '\t'))
            value++;
        while (end > value && strchr(" \t\r\n", end[-1]))
            end--;
        size_t room = (size_t)(colon - data) + (size_t)(end - value) + 2;
        if (!memchr(data, '\0', len) && buf_reserve(&t->r->headers, room) == 0) {
            buf_add(&t->r->headers, data, (size_t)(colon - data));
            buf_addch(&t->r->headers, '\0');
            buf_add(&t->r->headers, value, (size_t)(end - value));
            buf_addch(&t->r->headers, '\0');
        }
    }
    return len;
}

static int take_progress(void *user, curl_off_t down_all, curl_off_t down, curl_off_t up_all,
                         curl_off_t up)
{
    struct try *t = user;
    const struct http_options *o = &t->h->options;

    if (o->stop && *o->stop)
        return 1;
    if (!o->progress)
        return 0;
    if (t->q->body_bytes)
        o->progress(o->user, (uint64_t)up, (uint64_t)up_all);
    else if (t->begun && t->q->to_file)
        o->progress(o->user, t->start + (uint64_t)down,
                    down_all > 0 ? t->start + (uint64_t)down_all : 0);
    return 0;
}

/* ---- the request ---- */

static void set_method(CURL *c, const struct http_request *q)
{
    static const char nothing[] = "";

    switch (q->method) {
    case HTTP_GET:
        return;
    case HTTP_HEAD:
        curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
        return;
    case HTTP_PUT:
        curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)q->body_bytes);
        return;
    case HTTP_POST:
    case HTTP_PATCH:
        curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body_bytes);
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, q->body ? q->body : nothing);
        break;
    default:
        break;
    }
    if (q->method != HTTP_POST)
        curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, http_method_name(q->method));
}

static void set_protocols(CURL *c)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "https,http,file");
    curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, "https");
#else
    curl_easy_setopt(c, CURLOPT_PROTOCOLS,
                     (long)(CURLPROTO_HTTPS | CURLPROTO_HTTP | CURLPROTO_FILE));
    curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS, (long)CURLPROTO_HTTPS);
#endif
}

static long milliseconds(int64_t ns)
{
    return (long)((ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}

static void set_limits(CURL *c, const struct http *h, const struct http_request *q, int64_t left_ns)
{
    const struct http_limits *l = &h->options.limits;
    int64_t stall_s = (l->stall_ns + NSEC_PER_SEC - 1) / NSEC_PER_SEC;

    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(l->connect_ns));
    curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, milliseconds(left_ns));
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, (long)HTTP_STALL_BYTES);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)stall_s);
    curl_easy_setopt(c, CURLOPT_MAXREDIRS, 5L);
    if (q->to_file)
        curl_easy_setopt(c, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)l->max_bytes);
}

/* Passwords: from a netrc file, where the way there is protected or leads nowhere else. */
static void set_credentials(CURL *c, const struct http_request *q, const struct url *u)
{
    bool safe = strcmp(u->scheme, "https") == 0 || url_is_loopback(u);

    if (q->keys) {
        char scope[128];
        snprintf(scope, sizeof(scope), "aws:amz:%s:%s", q->keys->region, q->keys->service);
        curl_easy_setopt(c, CURLOPT_AWS_SIGV4, scope);
        curl_easy_setopt(c, CURLOPT_USERNAME, q->keys->id);
        curl_easy_setopt(c, CURLOPT_PASSWORD, q->keys->secret);
    } else if (q->bearer && safe) {
        curl_easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(c, CURLOPT_XOAUTH2_BEARER, q->bearer);
    } else if (safe) {
        curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
        if (getenv("NETRC"))
            curl_easy_setopt(c, CURLOPT_NETRC_FILE, getenv("NETRC"));
    }
}

static struct curl_slist *add_header(struct curl_slist *list, const char *text)
{
    struct curl_slist *longer = curl_slist_append(list, text);

    if (!longer)
        mem_exhausted(strlen(text));
    return longer;
}

static struct curl_slist *headers_of(const struct try *t)
{
    const struct http_request *q = t->q;
    struct curl_slist *list = NULL;
    struct buf line = BUF_INIT;

    for (size_t i = 0; i < q->header_count; i++)
        list = add_header(list, q->headers[i]);
    if (q->keys && q->body_sha256) {
        buf_printf(&line, "x-amz-content-sha256: %s", q->body_sha256);
        list = add_header(list, line.data);
    }
    if (q->keys && q->keys->token) {
        buf_clear(&line);
        buf_printf(&line, "x-amz-security-token: %s", q->keys->token);
        list = add_header(list, line.data);
    }
    if (t->start > 0 && t->etag->len) {
        buf_clear(&line);
        buf_printf(&line, "If-Range: %s", t->etag->data);
        list = add_header(list, line.data);
    }
    buf_release(&line);
    return list;
}

static void set_callbacks(CURL *c, struct try *t, char *message)
{
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, message);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(c, CURLOPT_READFUNCTION, give_body);
    curl_easy_setopt(c, CURLOPT_READDATA, t);
    curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, seek_body);
    curl_easy_setopt(c, CURLOPT_SEEKDATA, t);
    curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, take_progress);
    curl_easy_setopt(c, CURLOPT_XFERINFODATA, t);
    curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
}

static void set_all(CURL *c, struct try *t, const struct url *u, int64_t left_ns, char *message)
{
    bool reads = t->q->method == HTTP_GET || t->q->method == HTTP_HEAD;
    char agent[128], range[32];

    curl_easy_reset(c);
    curl_easy_setopt(c, CURLOPT_URL, u->bare);
    curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    snprintf(agent, sizeof(agent), "abba/%s", abba_version());
    curl_easy_setopt(c, CURLOPT_USERAGENT, agent);
    curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, reads && !t->q->keys ? 1L : 0L);
    if (t->h->options.ca_file)
        curl_easy_setopt(c, CURLOPT_CAINFO, t->h->options.ca_file);
    /* Not RESUME_FROM: that refuses a server that sends all of it again. */
    if (t->start > 0) {
        snprintf(range, sizeof(range), "%llu-", (unsigned long long)t->start);
        curl_easy_setopt(c, CURLOPT_RANGE, range);
    }
    set_protocols(c);
    set_method(c, t->q);
    set_limits(c, t->h, t->q, left_ns);
    set_credentials(c, t->q, u);
    set_callbacks(c, t, message);
}

/* ---- the end of a try ---- */

static bool broke(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_SSL_CONNECT_ERROR:
        return true;
    default:
        return false;
    }
}

/* Faults of what was asked, not of the way there. */
static int fault(CURLcode code, const char *what, struct err *err)
{
    switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
        err_set(err, ERR_CONFIG, "the server is not trusted: %s", what);
        return err_hint(err, "--ca-file FILE, or CURL_CA_BUNDLE in the environment, names the "
                             "authorities that are");
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_FILE_COULDNT_READ_FILE:
    case CURLE_URL_MALFORMAT:
        return err_set(err, ERR_CONFIG, "%s", what);
    case CURLE_UNSUPPORTED_PROTOCOL:
        err_set(err, ERR_CONFIG, "%s", what);
        return err_hint(err, "https, http and file are supported, and redirects only to https");
    default:
        return err_set(err, ERR_SYSTEM, "%s", what);
    }
}

static int explain(const struct try *t, CURLcode code, const char *message, struct err *err)
{
    struct buf what = BUF_INIT;
    char limit[UNITS_TEXT];
    int rc;

    if (code == CURLE_ABORTED_BY_CALLBACK && !t->file_errno) {
        rc = err_set(err, ERR_INTERRUPTED, "stopped by a signal");
    } else if (t->file_errno) {
        rc = err_sys(err, ERR_SYSTEM, t->file_errno, "cannot %s the file here",
                     t->q->to_file ? "write" : "read");
    } else if (t->too_large || code == CURLE_FILESIZE_EXCEEDED) {
        units_canonical_size(t->q->to_file ? t->h->options.limits.max_bytes : HTTP_MAX_ANSWER,
                             limit);
        rc = err_set(err, ERR_SYSTEM, "the answer is larger than the limit of %s", limit);
    } else {
        const char *text = message[0] ? message : curl_easy_strerror(code);
        text_neutral(&what, text, strlen(text), 300);
        rc = fault(code, what.data, err);
    }
    buf_release(&what);
    return rc;
}

static enum http_outcome end(struct try *t, CURLcode code, const char *message, struct err *err)
{
    curl_off_t retry_s = 0;
    long status = 0;

    curl_easy_getinfo(t->h->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(t->h->curl, CURLINFO_RETRY_AFTER, &retry_s);
    t->r->retry_after_ns = (retry_s > 86400 ? 86400 : (int64_t)retry_s) * NSEC_PER_SEC;
    t->r->status = (int)(status == 0 && code == CURLE_OK ? 200 : status);
    if (code == CURLE_OK) {
        /* An empty answer: nothing was written, and what was there is not it. */
        if (t->q->to_file && !t->begun && t->r->status < 300 && !begin_file(t, 200)) {
            explain(t, code, message, err);
            return HTTP_FAILED;
        }
        return HTTP_ANSWERED;
    }
    explain(t, code, message, err);
    return broke(code) && !t->file_errno && !t->too_large ? HTTP_BROKE : HTTP_FAILED;
}

enum http_outcome http_try(struct http *h, const struct http_request *q, int64_t left_ns,
                           struct buf *etag, bool *sent, struct http_response *r, struct err *err)
{
    char message[CURL_ERROR_SIZE] = "";
    struct try t = {.h = h, .q = q, .r = r, .etag = etag};
    struct arena arena = ARENA_INIT;
    enum http_outcome outcome = HTTP_FAILED;
    struct url u;

    if (url_parse(&u, q->url, &arena, err) == 0) {
        off_t held = q->to_file && strcmp(u.scheme, "file") != 0 ? lseek(q->file, 0, SEEK_END) : 0;
        t.start = held > 0 ? (uint64_t)held : 0;
        r->bytes = t.start;
        open_handle(h);
        set_all(h->curl, &t, &u, left_ns, message);
        struct curl_slist *headers = headers_of(&t);
        curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, headers);
        CURLcode code = curl_easy_perform(h->curl);
        outcome = end(&t, code, message, err);
        *sent = code != CURLE_COULDNT_CONNECT && code != CURLE_SSL_CONNECT_ERROR;
        curl_slist_free_all(headers);
    }
    arena_release(&arena);
    return outcome;
}
