/*
 * listing: files with their checksums and sizes, in the order of SHA256SUMS, however many there
 * are.
 */
#ifndef ABBA_ARCHIVE_LISTING_H
#define ABBA_ARCHIVE_LISTING_H

#include "archive/checksums.h"
#include "base/sorted.h"

struct listing {
    struct sorted lines; /* "PATH\tSHA256\tBYTES" */
    bool given;          /* `entry` is one of the list */
    struct listed {
        char path[CHECKSUM_LINE_MAX];
        char sha256[DIGEST_HEX];
        uint64_t bytes;
    } entry; /* the one that listing_next gave last */
};

#define LISTING_INIT                                                                               \
    {                                                                                              \
        .lines = SORTED_INIT                                                                       \
    }

/* Adds a file. The path has no control character (ERR_ARCHIVE); ERR_SYSTEM as sorted_add. */
int listing_add(struct listing *l, const char *path, const char *sha256, uint64_t bytes,
                struct err *err);

/* Fills `entry` with the next file: 1; 0 after the last one; -1 with err. The first call ends the
 * adding. */
int listing_next(struct listing *l, struct err *err);

/* From the first file again. */
int listing_rewind(struct listing *l, struct err *err);

/* The entry of that path, where paths are asked for in their order: 1; 0: there is none; -1. What
 * lies before it is passed over. */
int listing_find(struct listing *l, const char *path, struct err *err);

void listing_release(struct listing *l); /* safe on LISTING_INIT, and twice */

#endif
