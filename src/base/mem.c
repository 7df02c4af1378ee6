#include "base/mem.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

void mem_exhausted(size_t size)
{
    fprintf(stderr, "abba: out of memory (%zu bytes wanted)\n", size);
    abort();
}

void mem_lost(const char *folder, int why)
{
    fprintf(stderr, "abba: cannot read back a file in '%s': %s\n", folder, strerror(why));
    abort();
}

static size_t product(size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        mem_exhausted(SIZE_MAX);
    return bytes;
}

void *xmalloc(size_t size)
{
    void *p = malloc(size > 0 ? size : 1);

    if (p == NULL)
        mem_exhausted(size);
    return p;
}

void *xcalloc(size_t count, size_t size)
{
    size_t bytes = product(count, size);
    void *p = calloc(1, bytes > 0 ? bytes : 1);

    if (p == NULL)
        mem_exhausted(bytes);
    return p;
}

void *xrealloc(void *p, size_t size)
{
    void *q = realloc(p, size > 0 ? size : 1);

    if (q == NULL)
        mem_exhausted(size);
    return q;
}

void *xreallocarray(void *p, size_t count, size_t size)
{
    return xrealloc(p, product(count, size));
}

char *xstrdup(const char *s)
{
    return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t n)
{
    size_t len = strnlen(s, n);
    char *p = xmalloc(len + 1);

    memcpy(p, s, len);
    p[len] = '\0';
    return p;
}

/* Blocks grow with the arena; a request beyond a block's size gets a block of its own. */
#define BLOCK_MIN ((size_t)4096)
#define BLOCK_MAX ((size_t)256 << 10)
#define ALIGNMENT alignof(max_align_t)

struct arena_block {
    struct arena_block *next;
    size_t used;
    size_t size;
    alignas(max_align_t) char data[];
};

void arena_init(struct arena *a)
{
    a->head = NULL;
}

void arena_release(struct arena *a)
{
    while (a->head != NULL) {
        struct arena_block *next = a->head->next;
        free(a->head);
        a->head = next;
    }
}

static struct arena_block *block_new(size_t size)
{
    size_t bytes;

    if (__builtin_add_overflow(size, sizeof(struct arena_block), &bytes))
        mem_exhausted(SIZE_MAX);
    struct arena_block *block = xcalloc(1, bytes);
    block->size = size;
    return block;
}

static struct arena_block *block_for(struct arena *a, size_t size)
{
    size_t want = a->head == NULL ? BLOCK_MIN : a->head->size * 2;

    if (want > BLOCK_MAX)
        want = BLOCK_MAX;
    if (size > want / 2 && a->head != NULL) {
        /* Behind the head, so that what is left of the head stays in use. */
        struct arena_block *own = block_new(size);
        own->next = a->head->next;
        a->head->next = own;
        return own;
    }
    struct arena_block *block = block_new(size > want ? size : want);
    block->next = a->head;
    a->head = block;
    return block;
}

void *arena_alloc(struct arena *a, size_t size)
{
    size_t wanted = size > 0 ? size : 1;

    if (wanted > SIZE_MAX - ALIGNMENT)
        mem_exhausted(size);
    wanted = (wanted + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct arena_block *block = a->head;
    if (block == NULL || block->size - block->used < wanted)
        block = block_for(a, wanted);
    void *p = block->data + block->used;
    block->used += wanted;
    return p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    return arena_alloc(a, product(count, size));
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    size_t len = strnlen(s, n);
    char *p = arena_alloc(a, len + 1);

    memcpy(p, s, len);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    ABBA_ASSERT(len >= 0);
    char *p = arena_alloc(a, (size_t)len + 1);
    va_start(ap, fmt);
    vsnprintf(p, (size_t)len + 1, fmt, ap);
    va_end(ap);
    return p;
}
