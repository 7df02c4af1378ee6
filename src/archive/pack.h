/*
 * pack: one file that holds a finished archive, to be carried and kept.
 *
 * A pack is a tar inside zstd (base/tar.h). Its entries stand below the folder "abba-DIGEST16" in
 * this order: SHA256SUMS, the files that it lists in its order, SHA256SUMS.sig if there is one. So
 * the tar is the same bytes from the same archive everywhere, and its SHA-256 names the pack.
 *
 * Both ways hash every file as it passes and compare it with SHA256SUMS, block by block: memory
 * does not grow with the archive.
 */
#ifndef ABBA_ARCHIVE_PACK_H
#define ABBA_ARCHIVE_PACK_H

#include <signal.h>

#include "base/err.h"
#include "base/tar.h"

#define PACK_SUFFIX ".tar.zst"
#define PACK_LEVEL 3 /* zstd's own default */

struct pack_result {
    char digest[DIGEST_HEX]; /* SHA-256 of SHA256SUMS: the archive's name */
    struct tar_sum sum;      /* sum.sha256 is the pack's name */
    uint64_t files;
};

/*
 * Writes the archive in `folder` to `fd`, called `name` in messages. `stop` (may be NULL) ends it
 * once it is not 0. ERR_UNFINISHED without SHA256SUMS, ERR_ARCHIVE for a file that is not the one
 * that is listed there or is not listed at all, ERR_SYSTEM, ERR_INTERRUPTED.
 */
int pack_write(const char *folder, int fd, const char *name, int level,
               const volatile sig_atomic_t *stop, struct pack_result *result, struct err *err);

struct pack_limits {
    uint64_t entries, bytes, ratio;
};

#define PACK_MAX_ENTRIES 2000000
#define PACK_MAX_BYTES ((uint64_t)16 << 30)
#define PACK_MAX_RATIO 1000
#define PACK_RATIO_FREE ((uint64_t)256 << 20) /* bytes before the ratio counts */

/*
 * Unpacks into `folder`, which must not exist: beside it first, and renamed when everything was
 * compared; on an error or `stop` nothing is left. `digest` (64 hex digits, or NULL) is what the
 * archive's or the pack's must be. ERR_ARCHIVE, ERR_USAGE if the folder exists, ERR_SYSTEM,
 * ERR_INTERRUPTED.
 */
int pack_read(int fd, const char *name, const char *folder, const char *digest,
              const struct pack_limits *limits, const volatile sig_atomic_t *stop,
              struct pack_result *result, struct err *err);

/* One small file of a pack, "series.json", and the archive's digest, without unpacking it. What
 * stands before it is hashed and compared. ERR_ARCHIVE if it is not there. */
struct buf;
int pack_peek(int fd, const char *name, const char *file, size_t max, struct buf *out,
              char digest[DIGEST_HEX], struct err *err);

#endif
