/*
 * buf: growing text with a limit.
 *
 * The data is always NUL-terminated; `len` does not count the NUL, and the data may hold NULs of
 * its own. An addition that would pass `max` adds nothing, sets the sticky `overflow` and returns
 * -1; running out of memory aborts. The holder releases it.
 */
#ifndef ABBA_BASE_BUF_H
#define ABBA_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data;    /* never NULL after BUF_INIT or buf_init */
    size_t len;    /* bytes in use */
    size_t cap;    /* bytes allocated, 0 while nothing is */
    size_t max;    /* the most `len` may become; 0: no limit */
    bool overflow; /* an addition was refused since the last buf_clear */
};

extern char buf_nothing[1]; /* what an empty buf points to; never written */

#define BUF_INIT                                                                                   \
    {                                                                                              \
        buf_nothing, 0, 0, 0, false                                                                \
    }
#define BUF_INIT_MAX(n)                                                                            \
    {                                                                                              \
        buf_nothing, 0, 0, (n), false                                                              \
    }

/* An empty buf that holds at most `max` bytes (0: no limit). Allocates nothing. */
void buf_init(struct buf *b, size_t max);

/* Frees the data and leaves an empty buf with the same limit. */
void buf_release(struct buf *b);

/* Empties it, keeps the memory for reuse, clears `overflow`. */
void buf_clear(struct buf *b);

/* Makes room for `extra` more bytes. Returns -1 if that would pass the limit. */
int buf_reserve(struct buf *b, size_t extra);

/* Additions: 0, or -1 with nothing added if the limit would be passed. */
int buf_add(struct buf *b, const void *p, size_t n);
int buf_addstr(struct buf *b, const char *s);
int buf_addch(struct buf *b, char c);
int buf_fill(struct buf *b, char c, size_t n);
int buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* Cuts the text to `len` bytes, which must not be more than it has. */
void buf_truncate(struct buf *b, size_t len);

/* Hands the text to the caller, who frees it; the buf is empty afterwards. Never NULL. */
char *buf_detach(struct buf *b);

#endif
