#include "base/url.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <curl/urlapi.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool url_looks_like(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
    return n > 0 && isalpha((unsigned char)text[0]) && strncmp(text + n, "://", 3) == 0;
}

const char *url_shown(const char *text, struct arena *arena)
{
    struct buf out = BUF_INIT;
    size_t end = strcspn(text, "?#");
    const char *authority = strstr(text, "://"), *shown;

    if (authority && authority < text + end) {
        authority += 3;
        size_t len = (size_t)(text + end - authority);
        const char *slash = memchr(authority, '/', len);
        size_t host = slash ? (size_t)(slash - authority) : len;
        const char *at = memrchr(authority, '@', host);

        text_neutral(&out, text, (size_t)(authority - text), 0);
        if (at) {
            len -= (size_t)(at + 1 - authority);
            authority = at + 1;
        }
        text_neutral(&out, authority, len, 300);
    } else {
        text_neutral(&out, text, end, 300);
    }
    shown = arena_strdup(arena, out.data);
    buf_release(&out);
    return shown;
}

/* One part in the arena; NULL where there is none. */
static const char *part(CURLU *handle, CURLUPart which, unsigned flags, struct arena *arena)
{
    char *text = NULL;
    const char *copy = NULL;

    if (curl_url_get(handle, which, &text, flags) == CURLUE_OK && text)
        copy = arena_strdup(arena, text);
    curl_free(text);
    return copy;
}

static int take_apart(struct url *u, CURLU *handle, const char *shown, struct arena *arena,
                      struct err *err)
{
    if (part(handle, CURLUPART_USER, 0, arena) || part(handle, CURLUPART_PASSWORD, 0, arena)) {
        err_set(err, ERR_USAGE, "URL '%s' holds a user or a password", shown);
        return err_hint(err, "they come from a netrc file or the environment, where neither "
                             "process lists nor logs show them");
    }
    u->scheme = part(handle, CURLUPART_SCHEME, 0, arena);
    u->host = part(handle, CURLUPART_HOST, 0, arena);
    u->port = part(handle, CURLUPART_PORT, 0, arena);
    u->path = part(handle, CURLUPART_PATH, 0, arena);
    u->query = part(handle, CURLUPART_QUERY, 0, arena);
    u->fragment = part(handle, CURLUPART_FRAGMENT, 0, arena);
    curl_url_set(handle, CURLUPART_FRAGMENT, NULL, 0);
    u->bare = part(handle, CURLUPART_URL, 0, arena);
    if (!u->host)
        u->host = "";
    if (!u->path)
        u->path = "/";
    if (!u->scheme || !u->bare)
        return err_set(err, ERR_USAGE, "'%s' is no URL", shown);
    return 0;
}

/* libcurl takes "s3:///x" for "s3://x". */
static bool has_host(const char *text)
{
    const char *authority = url_looks_like(text) ? strstr(text, "://") + 3 : "";

    return strncasecmp(text, "file://", 7) == 0 || (authority[0] && !strchr("/?#", authority[0]));
}

int url_parse(struct url *u, const char *text, struct arena *arena, struct err *err)
{
    const char *shown = url_shown(text, arena);
    CURLU *handle = curl_url();
    int rc;

    *u = (struct url){0};
    if (!handle)
        return err_set(err, ERR_SYSTEM, "there is no libcurl (libcurl.so.4) here for '%s'", shown);
    CURLUcode code =
        curl_url_set(handle, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS);
    if (code != CURLUE_OK || !has_host(text)) {
        rc = err_set(err, ERR_USAGE, "'%s' is no URL", shown);
        if (strncmp(text, "file://", 7) == 0)
            err_hint(err, "file:///absolute/path has three slashes");
    } else {
        rc = take_apart(u, handle, shown, arena, err);
    }
    curl_url_cleanup(handle);
    return rc;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

const char *url_decode(const char *text, struct arena *arena)
{
    char *out = arena_strdup(arena, text), *to = out;

    for (const char *p = text; *p; p++) {
        int high = p[0] == '%' ? hex_value(p[1]) : -1;
        int low = high >= 0 ? hex_value(p[2]) : -1;

        if (high == 0 && low == 0)
            return NULL;
        *to++ = low < 0 ? *p : (char)(high * 16 + low);
        p += low < 0 ? 0 : 2;
    }
    *to = '\0';
    return out;
}

int url_file_path(const struct url *u, const char **path, struct arena *arena, struct err *err)
{
    if (u->host[0] && strcmp(u->host, "localhost") != 0 && strcmp(u->host, "127.0.0.1") != 0) {
        err_set(err, ERR_USAGE, "a file: URL names this machine's files, not those of '%.80s'",
                u->host);
        return err_hint(err, "file:///absolute/path has three slashes");
    }
    *path = url_decode(u->path, arena);
    return *path ? 0 : err_set(err, ERR_USAGE, "a file: URL holds a NUL");
}

bool url_is_loopback(const struct url *u)
{
    return strcmp(u->host, "localhost") == 0 || strncmp(u->host, "127.", 4) == 0 ||
           strcmp(u->host, "[::1]") == 0;
}

void url_encode(struct buf *out, const char *text, bool keep_slash)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        bool plain = (*p < 128 && isalnum(*p)) || strchr("-._~", *p) || (keep_slash && *p == '/');
        if (plain)
            buf_addch(out, (char)*p);
        else
            buf_printf(out, "%%%02X", *p);
    }
}
