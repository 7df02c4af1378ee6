/*
 * tar: plain files as a ustar stream inside zstd, written and read by libarchive, block by block.
 *
 * Written: headers depend on name and size alone (mode 0644, ids 0, no names of owners, time
 * 1980-01-01, ustar of POSIX.1-1988 and nothing beyond it, blocks of 10240 bytes), so the tar
 * inside is the same bytes everywhere; the zstd around it is equal for equal libzstd.
 *
 * Read: ustar with regular files only. Links, devices, folders, extended headers, absolute names,
 * names with "." or ".." are refused (ERR_ARCHIVE), and so is what passes the limits. Nothing here
 * makes files. Memory does not grow with the stream.
 */
#ifndef ABBA_BASE_TAR_H
#define ABBA_BASE_TAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"

#define TAR_NAME_MAX 256

/* Levels of zstd that keep within 64 MiB. */
#define TAR_LEVEL_MIN 1
#define TAR_LEVEL_MAX 9

/* What a whole stream was. */
struct tar_sum {
    char sha256[DIGEST_HEX]; /* of the tar, uncompressed */
    uint64_t bytes;          /* of it */
    uint64_t packed;         /* bytes of the compressed stream */
};

/* ---- writing ---- */

struct tar_writer;

/* Writes to `fd`, which is borrowed; `name` is what it is called in messages. ERR_SYSTEM. */
int tar_writer_new(struct tar_writer **w, int fd, const char *name, int level, struct err *err);

/* Begins a file of exactly `size` bytes. ERR_ARCHIVE if ustar cannot hold its name or size. */
int tar_writer_file(struct tar_writer *w, const char *name, uint64_t size, struct err *err);

/* The next bytes of that file. ERR_SYSTEM, with errno (disk full). */
int tar_writer_data(struct tar_writer *w, const void *data, size_t len, struct err *err);

/* Ends the stream. */
int tar_writer_finish(struct tar_writer *w, struct tar_sum *sum, struct err *err);
void tar_writer_free(struct tar_writer *w); /* safe on NULL */

/* ---- reading ---- */

struct tar_reader;

struct tar_limits {
    uint64_t entries; /* files */
    uint64_t bytes;   /* of the tar */
    uint64_t ratio;   /* bytes of the tar a byte of the stream... */
    uint64_t free;    /* ...looked at beyond so many bytes of the tar */
};

struct tar_entry {
    const char *name; /* relative, without "." or ".."; valid until the next entry */
    uint64_t size;
};

/* Reads `fd`, which is borrowed. ERR_ARCHIVE if it holds no tar, plain or in zstd. */
int tar_reader_new(struct tar_reader **r, int fd, const char *name, const struct tar_limits *limits,
                   struct err *err);

/* The next file: 1; 0 at the end; -1. What is left of the file before is skipped. */
int tar_reader_next(struct tar_reader *r, struct tar_entry *entry, struct err *err);

/* The next bytes of the file, valid until the next call: 1; 0 at its end; -1. */
int tar_reader_data(struct tar_reader *r, const void **data, size_t *len, struct err *err);

/* After the last entry: what follows the end must be zeros. ERR_ARCHIVE. */
int tar_reader_finish(struct tar_reader *r, struct tar_sum *sum, struct err *err);
void tar_reader_free(struct tar_reader *r); /* safe on NULL */

#endif
