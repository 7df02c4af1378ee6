#include "base/http.h"

#include "base/clock.h"
#include "base/http_try.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- making one ---- */

static void fill_in_limits(struct http_limits *l)
{
    l->connect_ns = l->connect_ns ? l->connect_ns : HTTP_CONNECT_NS;
    l->stall_ns = l->stall_ns ? l->stall_ns : HTTP_STALL_NS;
    l->total_ns = l->total_ns ? l->total_ns : HTTP_TOTAL_NS;
    l->pause_ns = l->pause_ns ? l->pause_ns : HTTP_PAUSE_NS;
    l->tries = l->tries ? l->tries : HTTP_TRIES;
    l->max_bytes = l->max_bytes ? l->max_bytes : HTTP_MAX_BYTES;
}

static const char *ca_file_of(const struct http_options *o)
{
    const char *const names[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE"};

    if (o->ca_file)
        return o->ca_file;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (getenv(names[i]) && getenv(names[i])[0])
            return getenv(names[i]);
    return NULL;
}

int http_new(struct http **h, const struct http_options *options, struct err *err)
{
    const char *ca_file = ca_file_of(options);

    *h = NULL;
    if (ca_file && access(ca_file, R_OK) != 0)
        return err_sys(err, ERR_CONFIG, errno, "cannot read the authorities' file '%.200s'",
                       ca_file);
    *h = xcalloc(1, sizeof(**h));
    (*h)->options = *options;
    (*h)->options.ca_file = ca_file ? xstrdup(ca_file) : NULL;
    fill_in_limits(&(*h)->options.limits);
    return 0;
}

void http_free(struct http *h)
{
    if (!h)
        return;
    http_try_close(h);
    free((char *)h->options.ca_file);
    free(h);
}

/* ---- answers ---- */

const char *http_header(const struct http_response *r, const char *name)
{
    const char *p = r->headers.data, *end = p + r->headers.len, *value;

    for (; p < end; p = value + strlen(value) + 1) {
        value = p + strlen(p) + 1;
        if (strcasecmp(p, name) == 0)
            return value;
    }
    return NULL;
}

static void response_clear(struct http_response *r)
{
    buf_clear(&r->headers);
    buf_clear(&r->body);
    r->status = 0;
    r->bytes = 0;
    r->continued = false;
    r->retry_after_ns = 0;
}

void http_response_release(struct http_response *r)
{
    buf_release(&r->headers);
    buf_release(&r->body);
}

static const char *status_words(int status)
{
    static const struct {
        int status;
        const char *words;
    } known[] = {
        {400, "bad request"},
        {401, "credentials are missing or wrong"},
        {403, "forbidden"},
        {404, "not found"},
        {405, "method not allowed"},
        {407, "the proxy wants credentials"},
        {409, "conflict"},
        {411, "length required"},
        {412, "precondition failed"},
        {413, "too large for this server"},
        {416, "no such range"},
        {429, "too many requests"},
        {500, "internal error"},
        {501, "not implemented"},
        {502, "bad gateway"},
        {503, "unavailable"},
        {504, "gateway time-out"},
        {507, "no space left there"},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].status == status)
            return known[i].words;
    return status < 400 ? "redirect" : "refused";
}

static int hint_refused(const struct http_request *q, const struct http_response *r,
                        struct arena *arena, struct err *err)
{
    const char *location = http_header(r, "location");

    if (r->status >= 300 && r->status < 400 && location)
        return err_hint(err, "it points to '%s': where that is meant, use that address",
                        url_shown(location, arena));
    if (r->status == 401 || r->status == 407 || (r->status == 403 && !q->keys))
        return err_hint(err, "credentials come from ~/.netrc (or the file that NETRC names) or "
                             "the environment");
    if (r->status == 403)
        return err_hint(err, "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION");
    return -1;
}

int http_refused(const struct http_request *q, const struct http_response *r, const char *words,
                 struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct buf said = BUF_INIT;
    bool ours = r->status < 500 && r->status != 408 && r->status != 429;

    if (words && words[0]) {
        buf_addstr(&said, ": ");
        text_neutral(&said, words, strlen(words), 300);
    }
    err_set(err, ours ? ERR_CONFIG : ERR_SYSTEM, "%s '%s': the server answers %d (%s)%s",
            http_method_name(q->method), url_shown(q->url, &arena), r->status,
            status_words(r->status), said.data);
    hint_refused(q, r, &arena, err);
    buf_release(&said);
    arena_release(&arena);
    return -1;
}

/* ---- trying ---- */

struct tries {
    struct http *h;
    const struct http_request *q;
    const char *shown; /* the address, for people */
    int64_t deadline_ns;
    int count;
};

static bool may_repeat(const struct http_request *q)
{
    return q->repeatable || (q->method != HTTP_POST && q->method != HTTP_PATCH);
}

static bool busy(int status)
{
    return status == 408 || status == 429 ||
           (status >= 500 && status != 501 && status != 505 && status != 507);
}

/* Up to a quarter more or less, so that those who were refused together do not come back so. */
static int64_t blur(int64_t ns)
{
    uint32_t random = 0;

    if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return ns;
    return ns * 3 / 4 + (int64_t)((double)ns / 2 * (random / 4294967296.0));
}

static int64_t pause_before_next(const struct tries *t, int64_t asked_ns)
{
    int64_t pause = t->h->options.limits.pause_ns;

    for (int i = 1; i < t->count && pause < HTTP_LONGEST_PAUSE_NS; i++)
        pause *= 2;
    pause = blur(pause < HTTP_LONGEST_PAUSE_NS ? pause : HTTP_LONGEST_PAUSE_NS);
    return pause > asked_ns ? pause : asked_ns;
}

/* False: stopped meanwhile. */
static bool sleep_until(int64_t until_ns, const volatile sig_atomic_t *stop)
{
    for (int64_t now = clock_mono_ns(); now < until_ns; now = clock_mono_ns()) {
        int64_t step = now + 50 * NSEC_PER_MSEC;

        if (stop && *stop)
            return false;
        clock_sleep_until(step < until_ns ? step : until_ns);
    }
    return true;
}

/* Waits before another try, and says so. False where there is none: tries or time
 * are used up, or it was stopped. */
static bool wait_for_next(struct tries *t, const char *why, int64_t asked_ns)
{
    const struct http_options *o = &t->h->options;
    int64_t pause = pause_before_next(t, asked_ns), now = clock_mono_ns();
    struct buf text = BUF_INIT;

    if (t->count >= o->limits.tries || now + pause >= t->deadline_ns)
        return false;
    buf_printf(&text, "%s '%s': %s; trying again in %.1f s (try %d of %d)",
               http_method_name(t->q->method), t->shown, why, (double)pause / 1e9, t->count + 1,
               o->limits.tries);
    if (o->note)
        o->note(o->user, text.data);
    buf_release(&text);
    return sleep_until(now + pause, o->stop);
}

static int give_up(const struct tries *t, struct err *err)
{
    err_wrap(err, "%s '%s'", http_method_name(t->q->method), t->shown);
    if (t->count > 1 && !err->hint[0])
        return err_hint(err, "given up after %d tries", t->count);
    return -1;
}

/* "bytes * /N" of a range that does not exist (416): the file is whole, or belongs to another. */
static bool is_whole(const struct http_response *r)
{
    const char *range = http_header(r, "content-range");

    return range && strncasecmp(range, "bytes */", 8) == 0 &&
           strtoull(range + 8, NULL, 10) == r->bytes;
}

/* Whether the answer settles it; else *why says why another try is worth while. */
static bool settled(const struct http_request *q, struct http_response *r, const char **why)
{
    if (q->to_file && r->status == 416 && r->bytes > 0) {
        if (is_whole(r)) {
            r->status = 200;
            r->continued = true;
            return true;
        }
        *why = "it is not what was begun here";
        return ftruncate(q->file, 0) != 0;
    }
    *why = status_words(r->status);
    if (q->once && r->status >= 500 && r->status != 503)
        return true;
    return !busy(r->status);
}

static int try_until_settled(struct tries *t, struct http_response *r, struct err *err)
{
    struct buf etag = BUF_INIT_MAX(1000);
    int rc = -1;

    for (;;) {
        const char *why = err->msg;
        bool sent = false;
        int64_t left_ns = t->deadline_ns - clock_mono_ns();

        response_clear(r);
        t->count++;
        enum http_outcome outcome =
            http_try(t->h, t->q, left_ns > 1 ? left_ns : 1, &etag, &sent, r, err);
        if (outcome == HTTP_ANSWERED && settled(t->q, r, &why)) {
            rc = 0;
            break;
        }
        bool again =
            outcome == HTTP_ANSWERED || (outcome == HTTP_BROKE && (!sent || may_repeat(t->q)));
        if (again && wait_for_next(t, why, r->retry_after_ns))
            continue;
        if (t->h->options.stop && *t->h->options.stop) {
            err_set(err, ERR_INTERRUPTED, "stopped by a signal");
            outcome = HTTP_FAILED;
        }
        rc = outcome == HTTP_ANSWERED ? 0 : give_up(t, err);
        break;
    }
    buf_release(&etag);
    return rc;
}

static int check_address(struct http *h, const struct http_request *q, struct err *err)
{
    struct arena arena = ARENA_INIT;
    const char *shown = url_shown(q->url, &arena);
    const struct http_options *o = &h->options;
    struct url u;
    int rc = url_parse(&u, q->url, &arena, err);

    if (rc == 0 && strcmp(u.scheme, "https") != 0 && strcmp(u.scheme, "http") != 0 &&
        (strcmp(u.scheme, "file") != 0 || q->method != HTTP_GET)) {
        rc = err_set(err, ERR_USAGE, "%s '%s': '%s' is not supported here",
                     http_method_name(q->method), shown, u.scheme);
        err_hint(err, "https, http and file are");
    }
    bool plain = rc == 0 && strcmp(u.scheme, "http") == 0;
    if (plain && q->bearer && !url_is_loopback(&u)) {
        rc = err_set(err, ERR_CONFIG, "'%s': a token goes over https only", shown);
    } else if (plain && !h->warned_plain && o->note) {
        o->note(o->user, "http is neither encrypted nor authenticated: anyone on the way can read "
                         "and change what is carried; passwords are not sent to other machines");
        h->warned_plain = true;
    }
    arena_release(&arena);
    return rc;
}

int http_send(struct http *h, const struct http_request *q, struct http_response *r,
              struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct tries t = {.h = h,
                      .q = q,
                      .shown = url_shown(q->url, &arena),
                      .deadline_ns = clock_mono_ns() + h->options.limits.total_ns};
    int rc = check_address(h, q, err);

    if (rc == 0)
        rc = try_until_settled(&t, r, err);
    arena_release(&arena);
    return rc;
}

int http_get_through(struct http *h, const struct http_request *q, struct http_response *r,
                     struct err *err)
{
    if (http_send(h, q, r, err) != 0)
        return -1;
    return r->status >= 200 && r->status < 300 ? 0 : http_refused(q, r, NULL, err);
}
