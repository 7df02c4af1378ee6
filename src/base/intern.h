/*
 * intern: each text, or each run of bytes, once.
 *
 * What is equal gets the same number and the same address, so that tables of many entries hold
 * either of them instead of copies. Bytes with padding must have it zeroed. Nothing is taken out.
 */
#ifndef ABBA_BASE_INTERN_H
#define ABBA_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

struct intern_item {
    const void *data;
    size_t len;
    uint32_t hash;
};

struct intern {
    struct arena arena; /* of the copies */
    struct intern_item *items;
    uint32_t *slots; /* item + 1, or 0; a power of two of them, at most half in use */
    size_t count, slot_count;
};

#define INTERN_INIT                                                                                \
    {                                                                                              \
        ARENA_INIT, NULL, NULL, 0, 0                                                               \
    }

/* The number of these bytes, which are copied where they are new: 0, 1, 2, ... */
uint32_t intern_add(struct intern *n, const void *data, size_t len);

/* The number of a text. */
uint32_t intern_text(struct intern *n, const char *text);

/* The bytes of that number, aligned for any type. They stay where they are. */
const void *intern_at(const struct intern *n, uint32_t number);

void intern_release(struct intern *n);

#endif
