#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

char buf_nothing[1] = "";

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf)BUF_INIT_MAX(max);
}

void buf_release(struct buf *b)
{
    if (b->cap > 0)
        free(b->data);
    buf_init(b, b->max);
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->overflow = false;
    if (b->cap > 0)
        b->data[0] = '\0';
}

static void grow(struct buf *b, size_t bytes)
{
    size_t cap = b->cap < 64 ? 64 : b->cap;

    while (cap < bytes)
        cap = cap > SIZE_MAX / 2 ? bytes : cap * 2;
    b->data = xrealloc(b->cap > 0 ? b->data : NULL, cap);
    b->cap = cap;
    b->data[b->len] = '\0';
}

int buf_reserve(struct buf *b, size_t extra)
{
    if (extra >= SIZE_MAX - b->len)
        mem_exhausted(extra);
    if (b->max > 0 && (b->len > b->max || extra > b->max - b->len)) {
        b->overflow = true;
        return -1;
    }
    size_t bytes = b->len + extra + 1;
    if (bytes > b->cap && extra > 0)
        grow(b, bytes);
    return 0;
}

/* Whether n more bytes need neither growing nor a look at the limit. */
static inline bool fits(const struct buf *b, size_t n)
{
    return n < b->cap - b->len && (b->max == 0 || n <= b->max - b->len);
}

int buf_add(struct buf *b, const void *p, size_t n)
{
    if (!fits(b, n) && buf_reserve(b, n) < 0)
        return -1;
    if (n == 0)
        return 0;
    memcpy(b->data + b->len, p, n);
    b->len += n;
    b->data[b->len] = '\0';
    return 0;
}

int buf_addstr(struct buf *b, const char *s)
{
    return buf_add(b, s, strlen(s));
}

int buf_addch(struct buf *b, char c)
{
    if (!fits(b, 1) && buf_reserve(b, 1) < 0)
        return -1;
    b->data[b->len++] = c;
    b->data[b->len] = '\0';
    return 0;
}

int buf_fill(struct buf *b, char c, size_t n)
{
    if (buf_reserve(b, n) < 0)
        return -1;
    if (n == 0)
        return 0;
    memset(b->data + b->len, c, n);
    b->len += n;
    b->data[b->len] = '\0';
    return 0;
}

int buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    char text[256];
    va_list again;

    va_copy(again, ap);
    int len = vsnprintf(text, sizeof text, fmt, ap);
    ABBA_ASSERT(len >= 0);
    int rc = -1;
    if ((size_t)len < sizeof text) {
        rc = buf_add(b, text, (size_t)len);
    } else if (buf_reserve(b, (size_t)len) == 0) {
        vsnprintf(b->data + b->len, (size_t)len + 1, fmt, again);
        b->len += (size_t)len;
        rc = 0;
    }
    va_end(again);
    return rc;
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int rc = buf_vprintf(b, fmt, ap);
    va_end(ap);
    return rc;
}

void buf_truncate(struct buf *b, size_t len)
{
    ABBA_ASSERT(len <= b->len);
    b->len = len;
    if (b->cap > 0)
        b->data[len] = '\0';
}

char *buf_detach(struct buf *b)
{
    char *data = b->cap > 0 ? b->data : xcalloc(1, 1);

    buf_init(b, b->max);
    return data;
}
