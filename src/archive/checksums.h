/*
 * checksums: the list in SHA256SUMS, in the form that `sha256sum -c` reads.
 *
 * A line is 64 hex digits, two spaces, the path relative to the archive; lines are sorted by the
 * bytes of the path. The holder releases the list.
 */
#ifndef ABBA_ARCHIVE_CHECKSUMS_H
#define ABBA_ARCHIVE_CHECKSUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"

#define CHECKSUMS_NAME "SHA256SUMS"
#define CHECKSUMS_MAX_BYTES ((size_t)64 << 20)

struct checksum {
    char *path; /* owned */
    char sha256[DIGEST_HEX];
    uint64_t bytes; /* size of the file; 0 where it is not known */
};

struct checksums {
    struct checksum *items;
    size_t count, room;
};

/* Adds a copy. */
void checksums_add(struct checksums *c, const char *path, const char *sha256, uint64_t bytes);

void checksums_sort(struct checksums *c);

/* The entry of a sorted list, or NULL. */
const struct checksum *checksums_find(const struct checksums *c, const char *path);

/* Adds the file's text, in the order of the list. */
void checksums_write(const struct checksums *c, struct buf *out);

/* Reads such a text; `name` is its file, for messages. ERR_ARCHIVE names the line that is not as
 * checksums_write makes it, or out of order. */
int checksums_parse(struct checksums *c, const char *text, size_t len, const char *name,
                    struct err *err);

void checksums_release(struct checksums *c);

/* ---- the same line by line, for lists of any length ---- */

#define CHECKSUM_LINE_MAX 1024

struct checksum_lines {
    void *stream; /* FILE */
    const char *name;
    size_t number; /* of the line */
    char line[CHECKSUM_LINE_MAX], before[CHECKSUM_LINE_MAX];
    const char *path;        /* of this line */
    char sha256[DIGEST_HEX]; /* of this line */
};

/* Reads from `fd`, which is closed at the end. `name` is borrowed. */
void checksum_lines_open(struct checksum_lines *l, int fd, const char *name);

/* The next line: 1; 0 at the end; -1, ERR_ARCHIVE, for one that checksums_write does not make. */
int checksum_lines_next(struct checksum_lines *l, struct err *err);
void checksum_lines_close(struct checksum_lines *l);

#endif
