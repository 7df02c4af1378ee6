/*
 * strings: a list of borrowed strings, NULL-terminated so that it can be an argv.
 *
 * The list and its strings belong to an arena; nothing here is freed singly.
 */
#ifndef ABBA_BASE_STRINGS_H
#define ABBA_BASE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct arena;
struct buf;

/* Whether two texts are equal: at once where they are one, or begin differently. */
static inline bool strings_same(const char *a, const char *b)
{
    return a == b || (*a == *b && strcmp(a, b) == 0);
}

struct strings {
    const char **items; /* items[count] is NULL once anything was added; NULL when empty */
    size_t count;
    size_t room;
};

/* Appends `s`, which is borrowed and must live as long as the arena. */
void strings_add(struct strings *list, struct arena *arena, const char *s);

/* Whether `s` is in the list. */
bool strings_has(const struct strings *list, const char *s);

/* Appends `s` unless it is there; borrowed as by strings_add. */
void strings_add_new(struct strings *list, struct arena *arena, const char *s);

/* Adds "a, b, c". */
void strings_join(const struct strings *list, struct buf *out);

#endif
