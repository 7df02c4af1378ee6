/*
 * store: a place elsewhere that keeps files under names of their own: a folder of this machine
 * (file), of a web server (http, https: PUT, WebDAV), or of an S3-compatible store (s3).
 *
 * Names are made of content (HEX.tar.zst), so a file that is there under its name, in its size, is
 * not sent again. Errors name the address without what is secret in it.
 *
 * s3://BUCKET/FOLDER is asked at AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else at Amazon's own of
 * AWS_REGION; keys are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. Other
 * passwords are in netrc; a bearer token in ABBA_TOKEN.
 */
#ifndef ABBA_ARCHIVE_STORE_H
#define ABBA_ARCHIVE_STORE_H

#include "base/err.h"
#include "base/http.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct store;

struct store_options {
    struct http_options http; /* progress tells of the whole file */
    uint64_t part_bytes;      /* s3: a larger file is sent in parts of this size; 0: the default */
};

#define STORE_PART_BYTES ((uint64_t)16 << 20)
#define STORE_MIN_PART_BYTES ((uint64_t)5 << 20) /* S3's own limit */
#define STORE_MAX_PARTS 10000                    /* the same */

/* A file that is to be kept there. */
struct store_file {
    const char *name;
    int fd;
    uint64_t bytes;
    const char *sha256; /* of its bytes */
};

/* Whether it sent the file, and how much of it. */
struct store_sent {
    bool already; /* it was there: nothing was sent */
    uint64_t bytes;
};

/* Opens the folder `url`. Asks nothing yet. ERR_USAGE, ERR_CONFIG (no keys, no CA file). */
int store_open(struct store **s, const char *url, const struct store_options *options,
               struct err *err);
void store_close(struct store *s); /* safe on NULL */

/* The address of a file in it, in the arena. */
const char *store_address(const struct store *s, const char *name, struct arena *arena);

/* Sends a file, unless it is there. */
int store_put(struct store *s, const struct store_file *file, struct store_sent *sent,
              struct err *err);

/* Fetches a file behind what `fd` holds of it already. `continued`: that was kept. */
int store_get(struct store *s, const char *name, int fd, uint64_t *bytes, bool *continued,
              struct err *err);

/* "https://host/a/b/NAME?query" as the folder's URL and NAME, in the arena. ERR_USAGE: it names no
 * file. */
int store_split(const char *url, const char **folder, const char **name, struct arena *arena,
                struct err *err);

#endif
