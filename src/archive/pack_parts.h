/*
 * pack_parts: what pack.c and unpack.c agree on.
 */
#ifndef ABBA_ARCHIVE_PACK_PARTS_H
#define ABBA_ARCHIVE_PACK_PARTS_H

#include <stdbool.h>

#define PACK_TOP "abba-"                /* then 16 digits of the archive's digest: the top folder */
#define PACK_SIGNATURE "SHA256SUMS.sig" /* of SHA256SUMS, which therefore does not list it */
#define PACK_PATH_MAX 200

/* Whether a path of SHA256SUMS may be in a pack: printable ASCII without spaces and backslashes,
 * steps of at most 100 bytes, none of which begins with a dot. */
bool pack_path_ok(const char *path);

#endif
