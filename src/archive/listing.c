#include "archive/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS (DIGEST_HEX - 1)

static bool is_plain(const char *path)
{
    for (; *path; path++)
        if ((unsigned char)*path < ' ')
            return false;
    return true;
}

int listing_add(struct listing *l, const char *path, const char *sha256, uint64_t bytes,
                struct err *err)
{
    char line[CHECKSUM_LINE_MAX + DIGEST_HEX + 24];

    ABBA_ASSERT(strlen(sha256) == DIGITS);
    if (strlen(path) >= CHECKSUM_LINE_MAX - DIGITS - 3 || !is_plain(path))
        return err_set(err, ERR_ARCHIVE, "a file of an archive has a name that abba never makes");
    snprintf(line, sizeof line, "%s\t%s\t%" PRIu64, path, sha256, bytes);
    return sorted_add(&l->lines, line, err);
}

int listing_next(struct listing *l, struct err *err)
{
    const char *line;
    int rc = sorted_next(&l->lines, &line, err);

    l->given = rc > 0;
    if (rc <= 0)
        return rc;
    const char *tab = strchr(line, '\t');
    memcpy(l->entry.path, line, (size_t)(tab - line));
    l->entry.path[tab - line] = '\0';
    memcpy(l->entry.sha256, tab + 1, DIGITS);
    l->entry.sha256[DIGITS] = '\0';
    l->entry.bytes = strtoull(tab + 1 + DIGEST_HEX, NULL, 10);
    return 1;
}

int listing_rewind(struct listing *l, struct err *err)
{
    l->given = false;
    return sorted_rewind(&l->lines, err);
}

int listing_find(struct listing *l, const char *path, struct err *err)
{
    int rc = 1, order;

    while (!l->given || (order = strcmp(l->entry.path, path)) < 0)
        if ((rc = listing_next(l, err)) <= 0)
            return rc;
    return order == 0;
}

void listing_release(struct listing *l)
{
    sorted_release(&l->lines);
    l->given = false;
}
