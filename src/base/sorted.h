/*
 * sorted: lines in the order of their bytes, however many there are.
 *
 * Lines are added in any order, then asked for in order. Up to SORTED_ROOM of text is in memory;
 * beyond that, parts of it, sorted, lie in a file without a name (files_large_folder()) and are
 * merged while they are read. A line is a text without a newline; equal ones stay as often as they
 * were added.
 */
#ifndef ABBA_BASE_SORTED_H
#define ABBA_BASE_SORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define SORTED_ROOM ((size_t)4 << 20)
#define SORTED_LINE ((size_t)8 << 10) /* the most that a line has, with its end */

struct sorted_part; /* a part of the file, while it is merged */

struct sorted {
    char *text; /* of the lines in memory, each with its end */
    size_t used;
    uint32_t *starts; /* in `text` */
    size_t count, room;
    bool spilled; /* there is a file */
    int fd;
    off_t size;
    struct sorted_part *parts;
    size_t part_count, part_room;
    size_t *heap; /* parts that have lines left, the least line first */
    size_t heap_count;
    size_t next; /* line in memory, once reading */
    bool reading;
    char *last; /* the line that was given last, where it came from the file */
};

#define SORTED_INIT                                                                                \
    {                                                                                              \
        0                                                                                          \
    }

/* ERR_SYSTEM where the file cannot be made or has no room. */
int sorted_add(struct sorted *s, const char *line, struct err *err);

/* The next line, valid until the next call: 1; 0 after the last one, and from then on; -1 with err.
 * The first call ends the adding. */
int sorted_next(struct sorted *s, const char **line, struct err *err);

/* From the first line again. */
int sorted_rewind(struct sorted *s, struct err *err);

void sorted_release(struct sorted *s); /* safe on SORTED_INIT, and twice */

#endif
