#include "archive/store.h"

#include "archive/store_parts.h"
#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

/* Progress of a request as progress of the whole file. */
static void pass_progress(void *user, uint64_t done, uint64_t all)
{
    struct store *s = user;
    const struct http_options *o = &s->options.http;

    if (o->progress)
        o->progress(o->user, s->before + done, s->all ? s->all : all);
}

static void pass_note(void *user, const char *text)
{
    struct store *s = user;
    const struct http_options *o = &s->options.http;

    if (o->note)
        o->note(o->user, text);
}

static int choose_kind(struct store *s, const char *url, struct err *err)
{
    const char *scheme = s->url.scheme;

    if (strcmp(scheme, "file") == 0) {
        s->kind = &store_kind_file;
    } else if (strcmp(scheme, "https") == 0 || strcmp(scheme, "http") == 0) {
        s->kind = &store_kind_http;
    } else if (strcmp(scheme, "s3") == 0) {
        s->kind = &store_kind_s3;
    } else {
        err_set(err, ERR_USAGE, "'%s': '%s' is not supported", url_shown(url, &s->arena), scheme);
        return err_hint(err, "https, http, file and s3 are");
    }
    return 0;
}

static int open_kind(struct store *s, const char *url, struct err *err)
{
    struct http_options http = s->options.http;

    if (url_parse(&s->url, url, &s->arena, err) != 0) {
        if (!url_looks_like(url))
            err_hint(err, "https://HOST/FOLDER, s3://BUCKET/FOLDER or file:///FOLDER");
        return -1;
    }
    if (choose_kind(s, url, err) != 0 || s->kind->open(s, err) != 0)
        return -1;
    http.note = pass_note;
    http.progress = pass_progress;
    http.user = s;
    return http_new(&s->http, &http, err);
}

int store_open(struct store **out, const char *url, const struct store_options *options,
               struct err *err)
{
    struct store *s = xcalloc(1, sizeof(*s));

    *out = NULL;
    s->options = *options;
    if (s->options.part_bytes == 0)
        s->options.part_bytes = STORE_PART_BYTES;
    arena_init(&s->arena);
    if (open_kind(s, url, err) != 0) {
        store_close(s);
        return -1;
    }
    *out = s;
    return 0;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    http_free(s->http);
    arena_release(&s->arena);
    free(s);
}

const char *store_address(const struct store *s, const char *name, struct arena *arena)
{
    const char *bare = s->url.bare;
    size_t len = strcspn(bare, "?");

    while (len && bare[len - 1] == '/')
        len--;
    return arena_printf(arena, "%.*s/%s", (int)len, bare, name);
}

int store_put(struct store *s, const struct store_file *file, struct store_sent *sent,
              struct err *err)
{
    enum store_presence presence;

    *sent = (struct store_sent){0};
    if (s->kind->look(s, file, &presence, err) != 0)
        return -1;
    sent->already = presence == STORE_THERE;
    if (sent->already)
        return 0;
    s->before = 0;
    s->all = file->bytes;
    /* What it says it has is what was sent: a store that cuts files is noticed now. */
    if (s->kind->put(s, file, sent, err) != 0 || s->kind->look(s, file, &presence, err) != 0)
        return -1;
    if (presence == STORE_ABSENT)
        return err_set(err, ERR_SYSTEM, "'%s' was sent, but it is not there as a whole",
                       url_shown(store_address(s, file->name, &s->arena), &s->arena));
    return 0;
}

int store_get(struct store *s, const char *name, int fd, uint64_t *bytes, bool *continued,
              struct err *err)
{
    struct http_response r = HTTP_RESPONSE_INIT;

    s->before = s->all = 0;
    int rc = s->kind->get(s, name, fd, &r, err);
    *bytes = r.bytes;
    *continued = r.continued;
    http_response_release(&r);
    return rc;
}

int store_split(const char *url, const char **folder, const char **name, struct arena *arena,
                struct err *err)
{
    size_t end = strcspn(url, "?#");
    const char *slash = memrchr(url, '/', end), *scheme = strstr(url, "://");
    size_t query = url[end] == '?' ? strcspn(url + end, "#") : 0;

    if (!scheme || !slash || slash < scheme + 3 || slash + 1 == url + end) {
        err_set(err, ERR_USAGE, "'%s' does not name a pack", url_shown(url, arena));
        return err_hint(err, "'abba push' prints the address of the pack that it sent");
    }
    *name = arena_strndup(arena, slash + 1, (size_t)(url + end - slash - 1));
    *folder = arena_printf(arena, "%.*s/%.*s", (int)(slash - url), url, (int)query, url + end);
    return 0;
}

enum store_presence store_presence(const struct http_response *r, const struct store_file *file)
{
    const char *length = http_header(r, "content-length");

    if (r->status == 404 || r->status == 410)
        return STORE_ABSENT;
    if (r->status != 200 || !length)
        return STORE_UNKNOWN;
    return strtoull(length, NULL, 10) == file->bytes ? STORE_THERE : STORE_ABSENT;
}
