/*
 * err: how a function says why it failed.
 *
 * A function that can fail returns 0 or -1 and takes a `struct err *` as its last argument.
 * The deepest function sets the error; each level above may add its context once, in front.
 * Messages are lower case without a full stop, the problem first, the subject in quotes; a hint
 * follows on its own line where one is known. Nothing here prints or exits.
 */
#ifndef ABBA_BASE_ERR_H
#define ABBA_BASE_ERR_H

#include <stdarg.h>

/* What kind of failure it is; the command line maps a kind to an exit status. */
enum err_code {
    ERR_NONE = 0,
    ERR_USAGE,       /* the command line: exit 2 */
    ERR_CONFIG,      /* a runner, profile, thresholds or variant file: exit 2 */
    ERR_SYSTEM,      /* a system call failed where it should not: exit 3 */
    ERR_MEASURE,     /* a measurement could not be made or is invalid: exit 3 */
    ERR_ARCHIVE,     /* an archive is damaged, or is not one: exit 5 */
    ERR_UNFINISHED,  /* an archive whose series has not ended: exit 3 */
    ERR_INTERRUPTED, /* a signal asked for the end */
};

struct err {
    enum err_code code;
    int sys_errno;  /* errno of the failing call, or 0 */
    char msg[1024]; /* one line */
    char hint[512]; /* one line, or empty */
};

/* Sets code and message, clears the hint. Returns -1, so that `return err_set(...)` works. */
int err_set(struct err *e, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Like err_set, and appends ": " and the text of `sys_errno`. */
int err_sys(struct err *e, enum err_code code, int sys_errno, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Puts "context: " in front of the message. Returns -1. */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Sets the hint. Returns -1. */
int err_hint(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A broken promise between functions: prints where and aborts, also in release builds. */
#define ABBA_ASSERT(cond)                                                                          \
    ((cond) ? (void)0 : err_assert_failed(#cond, __FILE__, __LINE__, __func__))
void err_assert_failed(const char *cond, const char *file, int line, const char *func)
    __attribute__((noreturn));

#endif
