#include "base/json_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void json_keys_init(struct json_keys *k)
{
    k->items = k->few;
    k->count = 0;
    k->cap = sizeof k->few / sizeof *k->few;
    memset(k->sets, 0, sizeof k->sets);
}

void json_keys_release(struct json_keys *k)
{
    for (size_t i = 0; i <= JSON_MAX_DEPTH; i++)
        free(k->sets[i].slots);
    if (k->items != k->few)
        free(k->items);
}

static void set_put(const struct json_keys *k, struct json_key_set *set, size_t index)
{
    size_t i = k->items[index].hash & (set->cap - 1);

    while (set->slots[i] != 0)
        i = (i + 1) & (set->cap - 1);
    set->slots[i] = (uint32_t)index + 1;
}

/* (Re)builds the set of the object whose keys start at `base`. */
static void set_build(const struct json_keys *k, struct json_key_set *set, size_t base)
{
    size_t cap = set->cap < 64 ? 64 : set->cap;

    while (cap < (k->count - base) * 4)
        cap *= 2;
    if (cap != set->cap) {
        set->slots = xreallocarray(set->slots, cap, sizeof *set->slots);
        set->cap = cap;
    }
    memset(set->slots, 0, cap * sizeof *set->slots);
    for (size_t i = base; i < k->count; i++)
        set_put(k, set, i);
    set->in_use = true;
}

void json_keys_grow(struct json_keys *k)
{
    struct json_key *old = k->items == k->few ? NULL : k->items;

    k->cap *= 2;
    k->items = xreallocarray(old, k->cap, sizeof *k->items);
    if (old == NULL)
        memcpy(k->items, k->few, sizeof k->few);
}

void json_keys_enter(struct json_keys *k, struct json_key_set *set, size_t base)
{
    if (!set->in_use || (k->count - base) * 2 > set->cap)
        set_build(k, set, base);
    else
        set_put(k, set, k->count - 1);
}
