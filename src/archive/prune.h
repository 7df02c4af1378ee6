/*
 * prune: the archives and packs of one folder: found, pinned, and taken away for a tombstone.
 *
 * Only what is certainly a finished archive of abba's, or a pack of one, is ever found: folders
 * whose series.json and report.json are those that SHA256SUMS lists, and files NAME.tar.zst that
 * hold such. Everything else (unfinished or damaged archives, links, other folders and files) is
 * told to the caller and never touched.
 *
 * Pins are lines of the file PINNED in that folder: an archive's digest, then a name for people.
 * A pin holds for the archive and for its packs, whatever they are called.
 */
#ifndef ABBA_ARCHIVE_PRUNE_H
#define ABBA_ARCHIVE_PRUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"
#include "model/report.h"

#define PRUNE_PINNED "PINNED"
#define PRUNE_TOMBSTONE ".tombstone.json"

struct arena;

struct prune_item {
    const char *name; /* in the folder */
    bool is_pack;
    bool pinned;
    char digest[DIGEST_HEX];
    const char *started; /* UTC, as in series.json */
    int64_t started_s;
    uint64_t bytes;
    struct report report;
};

struct prune_list {
    const char *folder;
    struct prune_item *items; /* by name */
    size_t count;
    struct strings left_alone; /* "NAME: why" */
    struct arena *arena;
};

/* Looks at a folder. ERR_USAGE if it cannot be listed; ERR_CONFIG if its PINNED cannot be
 * understood: then nothing may go. */
int prune_scan(struct prune_list *list, const char *folder, struct arena *arena, struct err *err);

/* Writes the tombstone, then removes the archive or pack. `why` stands in the tombstone. If it ends
 * in between, what is left has the tombstone's name and goes with the next scan. ERR_SYSTEM. */
int prune_remove(const struct prune_list *list, const struct prune_item *item, const char *why,
                 struct err *err);

/* Adds a pin to the folder that holds `path`, or takes it away; one that is (not) there is fine. */
int prune_pin(const char *path, bool pinned, struct err *err);

#endif
