/*
 * json_keys: the keys of all objects that are open while JSON is scanned, to find one that stands
 * twice. Objects with many keys get a hash set, so that no text makes scanning quadratic. What
 * every key passes through is inline.
 */
#ifndef ABBA_BASE_JSON_KEYS_H
#define ABBA_BASE_JSON_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/json_scan.h"

struct json_key {
    uint64_t hash;    /* set by json_keys_add */
    const char *text; /* escapes undone; borrowed */
    size_t len;
    const char *at; /* where it stands in the JSON, for messages */
};

#define JSON_KEYS_FEW 12 /* of one object: so many are searched one by one */

/* A hash set of one object's keys, open addressing. */
struct json_key_set {
    uint32_t *slots; /* index of a key + 1, 0 is free */
    size_t cap;      /* power of two, or 0 */
    bool in_use;
};

struct json_keys {
    struct json_key *items; /* a stack: keys of outer objects first */
    size_t count, cap;
    struct json_key few[32]; /* room without an allocation */
    struct json_key_set sets[JSON_MAX_DEPTH + 1];
};

void json_keys_init(struct json_keys *k);
void json_keys_release(struct json_keys *k);

/* Makes room for one key more. */
void json_keys_grow(struct json_keys *k);

/* Enters the last key in the set of its object, whose keys start at `base`. */
void json_keys_enter(struct json_keys *k, struct json_key_set *set, size_t base);

static inline uint64_t json_key_hash(const char *p, size_t n)
{
    uint64_t h = 0x9E3779B97F4A7C15U ^ n;

    for (; n >= 8; p += 8, n -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = (h ^ word) * 0xD6E8FEB86659FD93U;
        h ^= h >> 32;
    }
    uint64_t rest = 0;
    memcpy(&rest, p, n);
    h = (h ^ rest) * 0xD6E8FEB86659FD93U;
    return h ^ (h >> 29);
}

static inline bool json_key_same(const struct json_key *a, const struct json_key *b)
{
    return a->hash == b->hash && a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static inline const struct json_key *json_keys_find(const struct json_keys *k,
                                                    const struct json_key_set *set, size_t base,
                                                    const struct json_key *key)
{
    if (!set->in_use) {
        for (size_t i = base; i < k->count; i++) {
            if (json_key_same(&k->items[i], key))
                return &k->items[i];
        }
        return NULL;
    }
    for (size_t i = key->hash & (set->cap - 1); set->slots[i] != 0; i = (i + 1) & (set->cap - 1)) {
        if (json_key_same(&k->items[set->slots[i] - 1], key))
            return &k->items[set->slots[i] - 1];
    }
    return NULL;
}

/*
 * Adds a key of the innermost object, which is `depth` deep and whose first key has the index
 * `base` (the count when it was opened). Returns NULL, or the equal key that the object has
 * already; then nothing is added.
 */
static inline const struct json_key *json_keys_add(struct json_keys *k, unsigned depth, size_t base,
                                                   struct json_key *key)
{
    struct json_key_set *set = &k->sets[depth];

    key->hash = json_key_hash(key->text, key->len);
    const struct json_key *first = json_keys_find(k, set, base, key);
    if (first != NULL)
        return first;
    if (k->count == k->cap)
        json_keys_grow(k);
    k->items[k->count++] = *key;
    if (k->count - base > JSON_KEYS_FEW)
        json_keys_enter(k, set, base);
    return NULL;
}

/* The innermost object ends: its keys go. */
static inline void json_keys_drop(struct json_keys *k, unsigned depth, size_t base)
{
    k->count = base;
    k->sets[depth].in_use = false;
}

#endif
