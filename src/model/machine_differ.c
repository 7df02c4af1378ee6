/*
 * Two machines are compared as what series.json says of them, key by key, so that nothing that is
 * recorded is forgotten here.
 */
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "model/machine.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY_SHARE 100 /* kernels of one machine reserve a little more or less */

struct differing {
    struct strings *out;
    struct arena *arena;
};

static struct json *tree_of(const struct machine *m)
{
    struct buf text = BUF_INIT;
    struct json_writer w;
    struct err err = {0};
    struct json *tree;

    jw_init(&w, &text, false);
    machine_encode(m, &w);
    tree = json_parse(text.data, text.len, "the machine", &err);
    ABBA_ASSERT(tree);
    buf_release(&text);
    return tree;
}

/* Keys that change while the machine stays the same. */
static bool is_passing(const char *key)
{
    return strcmp(key, "load") == 0 || strcmp(key, "reason") == 0;
}

static bool memory_same(const struct json *a, const struct json *b)
{
    int64_t then, now;

    return json_integer(a, &then) && json_integer(b, &now) &&
           llabs(then - now) <= then / MEMORY_SHARE;
}

static const char *value_text(const struct json *j, struct arena *arena)
{
    struct buf text = BUF_INIT;
    const char *kept;

    if (!j || json_kind(j) == JSON_NULL)
        return "not known";
    json_write(j, &text);
    kept = arena_strndup(arena, text.data, text.len < 80 ? text.len : 80);
    buf_release(&text);
    return kept;
}

static void compare(struct differing *d, const char *name, const struct json *a,
                    const struct json *b);

static void compare_members(struct differing *d, const struct json *a, const struct json *b)
{
    for (const struct json *m = json_first(a); m; m = json_next(m))
        if (!is_passing(json_key(m)))
            compare(d, json_key(m), m, json_get(b, json_key(m)));
    for (const struct json *m = json_first(b); m; m = json_next(m))
        if (!is_passing(json_key(m)) && !json_get(a, json_key(m)))
            compare(d, json_key(m), NULL, m);
}

/* The name of an item is the event, where it is a counter. */
static const char *item_name(const struct json *item, const char *list)
{
    const struct json *event =
        item && json_kind(item) == JSON_OBJECT ? json_get(item, "event") : NULL;

    return event && json_kind(event) == JSON_STRING ? json_string(event) : list;
}

static void compare_items(struct differing *d, const char *name, const struct json *a,
                          const struct json *b)
{
    const struct json *x = json_first(a), *y = json_first(b);

    for (; x || y; x = x ? json_next(x) : NULL, y = y ? json_next(y) : NULL)
        compare(d, item_name(x ? x : y, name), x, y);
}

static void compare(struct differing *d, const char *name, const struct json *a,
                    const struct json *b)
{
    const char *then = value_text(a, d->arena), *now = value_text(b, d->arena);
    bool kinds = a && b && json_kind(a) == json_kind(b);

    if (kinds && json_kind(a) == JSON_OBJECT)
        compare_members(d, a, b);
    else if (kinds && json_kind(a) == JSON_ARRAY)
        compare_items(d, name, a, b);
    else if (strcmp(then, now) != 0 && !(strcmp(name, "memory_mib") == 0 && memory_same(a, b)))
        strings_add(d->out, d->arena, arena_printf(d->arena, "%s was %s, is %s", name, then, now));
}

void machine_differences(const struct machine *then, const struct machine *now, struct strings *out,
                         struct arena *arena)
{
    struct differing d = {out, arena};
    struct machine a = *then, b = *now;

    if (!a.host || !b.host)
        a.host = b.host = NULL;
    struct json *x = tree_of(&a), *y = tree_of(&b);

    compare_members(&d, x, y);
    json_free(x);
    json_free(y);
}
