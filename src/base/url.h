/*
 * url: addresses of things elsewhere, taken apart by libcurl's URL parser, and shown without
 * secrets.
 */
#ifndef ABBA_BASE_URL_H
#define ABBA_BASE_URL_H

#include "base/err.h"

#include <stdbool.h>

struct arena;
struct buf;

struct url {
    const char *scheme;   /* lower case */
    const char *host;     /* "" for file: */
    const char *port;     /* NULL: the scheme's own */
    const char *path;     /* as in a request, percent-encoded, with its slash */
    const char *query;    /* without '?'; NULL: none */
    const char *fragment; /* without '#'; NULL: none */
    const char *bare;     /* all of it but the fragment: what a request is made of */
};

/* Whether a text begins like "scheme://". */
bool url_looks_like(const char *text);

/*
 * Takes an address apart; all of it lives in the arena. ERR_USAGE where it is none, and where it
 * holds a user or a password, which are then not repeated.
 */
int url_parse(struct url *u, const char *text, struct arena *arena, struct err *err);

/* For messages and archives: without user, password, query and fragment, control characters made
 * harmless. */
const char *url_shown(const char *text, struct arena *arena);

/* Percent-encoding undone, in the arena. NULL: it holds an encoded NUL. */
const char *url_decode(const char *text, struct arena *arena);

/* The path of a file: URL, decoded. ERR_USAGE: a host other than this one, or a NUL in it. */
int url_file_path(const struct url *u, const char **path, struct arena *arena, struct err *err);

/* Whether the host is this machine's loopback. */
bool url_is_loopback(const struct url *u);

/* Adds `text` percent-encoded (RFC 3986, unreserved characters as they are); `keep_slash`: as a
 * path. */
void url_encode(struct buf *out, const char *text, bool keep_slash);

#endif
