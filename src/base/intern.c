#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define FIRST_SLOTS 64

/* FNV-1a, 32 bits: Fowler, Noll and Vo. */
static uint32_t hash_of(const unsigned char *data, size_t len)
{
    uint32_t hash = UINT32_C(2166136261);

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ data[i]) * UINT32_C(16777619);
    return hash;
}

/* Where the item is, or would be. */
static uint32_t *slot_of(const struct intern *n, const struct intern_item *wanted)
{
    for (size_t i = wanted->hash;; i++) {
        uint32_t *slot = &n->slots[i & (n->slot_count - 1)];
        const struct intern_item *item = *slot ? &n->items[*slot - 1] : NULL;

        if (!item || (item->hash == wanted->hash && item->len == wanted->len &&
                      memcmp(item->data, wanted->data, item->len) == 0))
            return slot;
    }
}

static void grow(struct intern *n)
{
    n->slot_count = n->slot_count ? 2 * n->slot_count : FIRST_SLOTS;
    free(n->slots);
    n->slots = xcalloc(n->slot_count, sizeof *n->slots);
    n->items = xreallocarray(n->items, n->slot_count / 2, sizeof *n->items);
    for (size_t i = 0; i < n->count; i++)
        *slot_of(n, &n->items[i]) = (uint32_t)i + 1;
}

uint32_t intern_add(struct intern *n, const void *data, size_t len)
{
    struct intern_item item = {data, len, hash_of(data, len)};
    uint32_t *slot;

    if (2 * (n->count + 1) > n->slot_count)
        grow(n);
    slot = slot_of(n, &item);
    if (*slot)
        return *slot - 1;
    ABBA_ASSERT(n->count < UINT32_MAX - 1);
    void *copy = arena_alloc(&n->arena, len);
    memcpy(copy, data, len);
    item.data = copy;
    n->items[n->count++] = item;
    *slot = (uint32_t)n->count;
    return *slot - 1;
}

uint32_t intern_text(struct intern *n, const char *text)
{
    return intern_add(n, text, strlen(text) + 1);
}

const void *intern_at(const struct intern *n, uint32_t number)
{
    ABBA_ASSERT(number < n->count);
    return n->items[number].data;
}

void intern_release(struct intern *n)
{
    free(n->items);
    free(n->slots);
    arena_release(&n->arena);
    *n = (struct intern)INTERN_INIT;
}
