/*
 * store_parts: what the kinds of stores share, for archive/store*.c alone.
 */
#ifndef ABBA_ARCHIVE_STORE_PARTS_H
#define ABBA_ARCHIVE_STORE_PARTS_H

#include "archive/store.h"
#include "base/mem.h"
#include "base/url.h"

struct store {
    const struct store_kind *kind;
    struct store_options options;
    struct http *http;
    struct arena arena;
    struct url url;     /* of the folder as given */
    const char *folder; /* file: its path; else the requests' URL, with a slash at its end */
    const char *bearer; /* http: NULL: none */

    struct http_keys keys; /* s3 */
    const char *bucket;    /* s3: the bucket's URL, with a slash at its end */
    const char *prefix;    /* s3: of the keys, not encoded, "" or with a slash at its end */

    uint64_t before, all; /* for progress: sent in earlier requests, and the file's size */
};

/* Whether a file is there, as a whole. A store may not want to tell (403 to HEAD). */
enum store_presence { STORE_ABSENT, STORE_THERE, STORE_UNKNOWN };

struct store_kind {
    int (*open)(struct store *s, struct err *err);
    int (*look)(struct store *s, const struct store_file *file, enum store_presence *presence,
                struct err *err);
    int (*put)(struct store *s, const struct store_file *file, struct store_sent *sent,
               struct err *err);
    int (*get)(struct store *s, const char *name, int fd, struct http_response *r, struct err *err);
};

extern const struct store_kind store_kind_file, store_kind_http, store_kind_s3;

/* What an answer to HEAD says of a file. */
enum store_presence store_presence(const struct http_response *r, const struct store_file *file);

/* s3: one signed request. `query` is sorted by name, encoded, "name=value&..."; NULL: none. */
struct s3_call {
    enum http_method method;
    const char *key; /* not encoded */
    const char *query;
    const char *const *headers;
    size_t header_count;
    const char *sha256; /* of the body; NULL: it is empty */
    const void *body;
    int fd;
    uint64_t offset, bytes;
    bool to_file;
    int file;
};
int s3_send(struct store *s, const struct s3_call *call, struct http_response *r, struct err *err);

/* The same; an answer other than 2xx is an error with the store's own words. */
int s3_get_through(struct store *s, const struct s3_call *call, struct http_response *r,
                   struct err *err);
int s3_refused(struct store *s, const struct s3_call *call, const struct http_response *r,
               struct err *err);

/* Sends a large file in parts, and goes on with what an earlier call began. */
int s3_put_parts(struct store *s, const struct store_file *file, struct store_sent *sent,
                 struct err *err);

#endif
