/*
 * store_s3: an S3-compatible store: requests signed with AWS Signature Version 4 by libcurl.
 *
 * libcurl signs the query as it stands and hashes no file: names are sorted and encoded here, each
 * with its "=", and x-amz-content-sha256 is sent with every request.
 */
#include "archive/store_parts.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/xml.h"

#include <stdlib.h>
#include <string.h>

#define EMPTY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* ---- from the environment ---- */

static const char *from_environment(const char *first, const char *second)
{
    const char *value = getenv(first);

    if ((!value || !value[0]) && second)
        value = getenv(second);
    return value && value[0] ? value : NULL;
}

static int take_keys(struct store *s, struct err *err)
{
    const char *region = from_environment("AWS_REGION", "AWS_DEFAULT_REGION");

    s->keys = (struct http_keys){.id = from_environment("AWS_ACCESS_KEY_ID", NULL),
                                 .secret = from_environment("AWS_SECRET_ACCESS_KEY", NULL),
                                 .token = from_environment("AWS_SESSION_TOKEN", NULL),
                                 .region = region ? region : "us-east-1",
                                 .service = "s3"};
    if (s->keys.id && s->keys.secret)
        return 0;
    err_set(err, ERR_CONFIG, "there are no keys for '%s'", url_shown(s->url.bare, &s->arena));
    return err_hint(err, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment hold "
                         "them, AWS_REGION the region, AWS_ENDPOINT_URL the store's address");
}

/* Where the bucket is: below the endpoint, or, at Amazon's, a host of its own. */
static int find_bucket(struct store *s, struct err *err)
{
    const char *endpoint = from_environment("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
    const char *bucket = s->url.host;
    struct url u;

    if (!endpoint) {
        s->bucket = strchr(bucket, '.') ? arena_printf(&s->arena, "https://s3.%s.amazonaws.com/%s/",
                                                       s->keys.region, bucket)
                                        : arena_printf(&s->arena, "https://%s.s3.%s.amazonaws.com/",
                                                       bucket, s->keys.region);
        return 0;
    }
    if (url_parse(&u, endpoint, &s->arena, err) != 0 || strncmp(u.scheme, "http", 4) != 0) {
        if (err->msg[0] == '\0')
            err_set(err, ERR_CONFIG, "'%s' is no address of a store",
                    url_shown(endpoint, &s->arena));
        return err_wrap(err, "AWS_ENDPOINT_URL");
    }
    size_t len = strcspn(u.bare, "?");
    while (len && u.bare[len - 1] == '/')
        len--;
    s->bucket = arena_printf(&s->arena, "%.*s/%s/", (int)len, u.bare, bucket);
    return 0;
}

static int open_bucket(struct store *s, struct err *err)
{
    const char *path = url_decode(s->url.path, &s->arena);

    if (take_keys(s, err) != 0 || find_bucket(s, err) != 0)
        return -1;
    if (!path || !s->url.host[0])
        return err_set(err, ERR_USAGE, "'%s' names no bucket", url_shown(s->url.bare, &s->arena));
    path += path[0] == '/';
    size_t len = strlen(path);
    while (len && path[len - 1] == '/')
        len--;
    s->prefix = len ? arena_printf(&s->arena, "%.*s/", (int)len, path) : "";
    return 0;
}

/* ---- requests ---- */

static const char *key_of(struct store *s, const char *name)
{
    return arena_printf(&s->arena, "%s%s", s->prefix, name);
}

static struct http_request request_of(struct store *s, const struct s3_call *c)
{
    struct buf text = BUF_INIT;

    buf_addstr(&text, s->bucket);
    url_encode(&text, c->key, true);
    if (c->query)
        buf_printf(&text, "?%s", c->query);
    const char *url = arena_strdup(&s->arena, text.data);
    buf_release(&text);

    return (struct http_request){
        .method = c->method,
        .url = url,
        .headers = c->headers,
        .header_count = c->header_count,
        .keys = &s->keys,
        .body_sha256 = c->sha256 ? c->sha256 : EMPTY_SHA256,
        .body = c->body,
        .body_fd = c->fd,
        .body_offset = c->offset,
        .body_bytes = c->bytes,
        .to_file = c->to_file,
        .file = c->file,
        .repeatable = true,
    };
}

int s3_send(struct store *s, const struct s3_call *c, struct http_response *r, struct err *err)
{
    struct http_request q = request_of(s, c);

    return http_send(s->http, &q, r, err);
}

struct error_words {
    struct buf code, message;
};

static void take_error(void *user, const char *path, const char *text)
{
    struct error_words *w = user;

    if (strcmp(path, "Error/Code") == 0)
        buf_addstr(&w->code, text);
    else if (strcmp(path, "Error/Message") == 0)
        buf_addstr(&w->message, text);
}

/* What to look at, where the store's word for a refusal tells. */
static void hint_of(const char *code, struct err *err)
{
    static const char *const hints[][2] = {
        {"AuthorizationHeaderMalformed", "the store is in another region: check AWS_REGION"},
        {"ExpiredToken", "the session's token is over: AWS_SESSION_TOKEN needs a new one"},
        {"InvalidToken", "check AWS_SESSION_TOKEN"},
        {"RequestTimeTooSkewed", "the clocks of this machine and of the store are apart"},
        {"NoSuchBucket", "buckets are not made by push: make it first"},
    };

    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strcmp(code, hints[i][0]) == 0)
            err_hint(err, "%s", hints[i][1]);
}

int s3_refused(struct store *s, const struct s3_call *c, const struct http_response *r,
               struct err *err)
{
    struct error_words w = {BUF_INIT_MAX(1000), BUF_INIT_MAX(1000)};
    struct http_request q = request_of(s, c);
    struct buf words = BUF_INIT;
    struct err ignored = {0};

    if (xml_walk(r->body.data, r->body.len, take_error, &w, &ignored) == 0 && w.code.len)
        buf_printf(&words, "%s%s%s", w.code.data, w.message.len ? ": " : "", w.message.data);
    http_refused(&q, r, words.data, err);
    if (w.code.len)
        hint_of(w.code.data, err);
    buf_release(&words);
    buf_release(&w.code);
    buf_release(&w.message);
    return -1;
}

int s3_get_through(struct store *s, const struct s3_call *c, struct http_response *r,
                   struct err *err)
{
    if (s3_send(s, c, r, err) != 0)
        return -1;
    return r->status >= 200 && r->status < 300 ? 0 : s3_refused(s, c, r, err);
}

/* ---- files ---- */

static int look(struct store *s, const struct store_file *file, enum store_presence *presence,
                struct err *err)
{
    struct s3_call c = {.method = HTTP_HEAD, .key = key_of(s, file->name)};
    struct http_response r = HTTP_RESPONSE_INIT;
    int rc = s3_send(s, &c, &r, err);

    *presence = rc == 0 ? store_presence(&r, file) : STORE_UNKNOWN;
    const char *sha256 = rc == 0 ? http_header(&r, "x-amz-meta-sha256") : NULL;
    if (*presence == STORE_THERE && sha256 && strcmp(sha256, file->sha256) != 0)
        *presence = STORE_ABSENT;
    /* A refusal (403) has no words here: what is sent next is refused with some. */
    if (rc == 0 && r.status >= 500)
        rc = s3_refused(s, &c, &r, err);
    http_response_release(&r);
    return rc;
}

static int put(struct store *s, const struct store_file *file, struct store_sent *sent,
               struct err *err)
{
    const char *headers[] = {"Content-Type: application/zstd",
                             arena_printf(&s->arena, "x-amz-meta-sha256: %s", file->sha256)};
    struct s3_call c = {.method = HTTP_PUT,
                        .key = key_of(s, file->name),
                        .headers = headers,
                        .header_count = 2,
                        .sha256 = file->sha256,
                        .fd = file->fd,
                        .bytes = file->bytes};
    struct http_response r = HTTP_RESPONSE_INIT;

    if (file->bytes > s->options.part_bytes)
        return s3_put_parts(s, file, sent, err);
    int rc = s3_get_through(s, &c, &r, err);
    sent->bytes = file->bytes;
    http_response_release(&r);
    return rc;
}

static int get(struct store *s, const char *name, int fd, struct http_response *r, struct err *err)
{
    struct s3_call c = {.key = key_of(s, name), .to_file = true, .file = fd};

    return s3_get_through(s, &c, r, err);
}

const struct store_kind store_kind_s3 = {open_bucket, look, put, get};
