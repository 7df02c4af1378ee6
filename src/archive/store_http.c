/* store_http: a folder of a web server, by PUT; missing folders are made where it speaks WebDAV
 * (RFC 4918). */
#include "archive/store_parts.h"
#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

static int open_folder(struct store *s, struct err *err)
{
    const char *token = getenv("ABBA_TOKEN");

    (void)err;
    s->bearer = token && token[0] ? token : NULL;
    return 0;
}

/* The request's own address: the query, which may hold a token of the store, stays behind it. */
static const char *address(struct store *s, const char *name)
{
    const char *plain = store_address(s, name, &s->arena);

    return s->url.query ? arena_printf(&s->arena, "%s?%s", plain, s->url.query) : plain;
}

static int look(struct store *s, const struct store_file *file, enum store_presence *presence,
                struct err *err)
{
    struct http_request q = {
        .method = HTTP_HEAD, .url = address(s, file->name), .bearer = s->bearer};
    struct http_response r = HTTP_RESPONSE_INIT;
    int rc = http_send(s->http, &q, &r, err);

    *presence = rc == 0 ? store_presence(&r, file) : STORE_UNKNOWN;
    if (rc == 0 && (r.status == 401 || r.status >= 500) && r.status != 501)
        rc = http_refused(&q, &r, NULL, err);
    http_response_release(&r);
    return rc;
}

/* Makes the folder and those above it, as far as the server makes folders; those that are there
 * answer 405 (RFC 4918, 9.3.1). */
static int make_folders(struct store *s, const char *whole, struct err *err)
{
    struct http_response r = HTTP_RESPONSE_INIT;
    const char *slash = strchr(strstr(whole, "://") + 3, '/');
    int rc = 0;

    while (rc == 0 && (slash = strchr(slash + 1, '/'))) {
        const char *folder = arena_strndup(&s->arena, whole, (size_t)(slash + 1 - whole));
        struct http_request q = {.method = HTTP_MKCOL, .url = folder, .bearer = s->bearer};

        rc = http_send(s->http, &q, &r, err);
    }
    http_response_release(&r);
    return rc;
}

/* A server that knows folders says whether this one is there. Not every one that misses a folder
 * says so when a file is put into it (nginx: 500). */
static int prepare_folder(struct store *s, struct err *err)
{
    const char *whole = store_address(s, "", &s->arena);
    struct http_request q = {.method = HTTP_HEAD, .url = whole, .bearer = s->bearer};
    struct http_response r = HTTP_RESPONSE_INIT;

    if (s->url.path[strspn(s->url.path, "/")] == '\0')
        return 0;
    int rc = http_send(s->http, &q, &r, err);
    if (rc == 0 && r.status == 404)
        rc = make_folders(s, whole, err);
    http_response_release(&r);
    return rc;
}

static int put(struct store *s, const struct store_file *file, struct store_sent *sent,
               struct err *err)
{
    static const char *const headers[] = {"Content-Type: application/zstd"};
    struct http_request q = {.method = HTTP_PUT,
                             .url = address(s, file->name),
                             .bearer = s->bearer,
                             .headers = headers,
                             .header_count = 1,
                             .body_fd = file->fd,
                             .body_bytes = file->bytes};
    struct http_response r = HTTP_RESPONSE_INIT;
    int rc = prepare_folder(s, err);

    if (rc == 0)
        rc = http_get_through(s->http, &q, &r, err);
    if (rc != 0 && r.status == 405)
        err_hint(err, "that folder takes no files: the server must allow PUT (WebDAV)");
    sent->bytes = file->bytes;
    http_response_release(&r);
    return rc;
}

static int get(struct store *s, const char *name, int fd, struct http_response *r, struct err *err)
{
    struct http_request q = {
        .url = address(s, name), .bearer = s->bearer, .to_file = true, .file = fd};

    return http_get_through(s->http, &q, r, err);
}

const struct store_kind store_kind_http = {open_folder, look, put, get};
