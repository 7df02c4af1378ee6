/*
 * mem: memory that is always there, and arenas.
 *
 * The x functions abort with a message when memory runs out, so nobody checks for NULL. An arena
 * hands out memory that lives until the whole arena is released: for what lives as long as a plan.
 */
#ifndef ABBA_BASE_MEM_H
#define ABBA_BASE_MEM_H

#include <stddef.h>

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));

/* realloc to count * size bytes; a product that overflows aborts. */
void *xreallocarray(void *p, size_t count, size_t size) __attribute__((returns_nonnull));

/* Prints that memory ran out, and aborts. */
void mem_exhausted(size_t size) __attribute__((noreturn));

/* The same where memory lies in a file of that folder, which cannot be read back. */
void mem_lost(const char *folder, int why) __attribute__((noreturn));

struct arena_block;

struct arena {
    struct arena_block *head; /* newest block first */
};

#define ARENA_INIT                                                                                 \
    {                                                                                              \
        NULL                                                                                       \
    }

void arena_init(struct arena *a);

/* Frees everything that was handed out. The arena is empty and usable again. */
void arena_release(struct arena *a);

/* Zeroed memory, aligned for any type. A size of 0 gives a valid pointer. */
void *arena_alloc(struct arena *a, size_t size) __attribute__((returns_nonnull));

/* Zeroed memory for `count` items of `size` bytes; a product that overflows aborts. */
void *arena_array(struct arena *a, size_t count, size_t size) __attribute__((returns_nonnull));

char *arena_strdup(struct arena *a, const char *s) __attribute__((returns_nonnull));

/* The first `n` bytes of `s`, or all of it if it is shorter. */
char *arena_strndup(struct arena *a, const char *s, size_t n) __attribute__((returns_nonnull));

char *arena_printf(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));

#endif
