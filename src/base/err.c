#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_message(struct err *e, enum err_code code, int sys_errno, const char *fmt,
                        va_list ap)
{
    char text[sizeof e->msg]; /* the arguments may lie in the old message */

    vsnprintf(text, sizeof text, fmt, ap);
    snprintf(e->msg, sizeof e->msg, "%s", text);
    e->code = code;
    e->sys_errno = sys_errno;
    e->hint[0] = '\0';
}

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set_message(e, code, 0, fmt, ap);
    va_end(ap);
    return -1;
}

int err_sys(struct err *e, enum err_code code, int sys_errno, const char *fmt, ...)
{
    va_list ap;
    char text[128];

    va_start(ap, fmt);
    set_message(e, code, sys_errno, fmt, ap);
    va_end(ap);
    /* The GNU strerror_r may return text of its own instead of filling the buffer. */
    const char *reason = strerror_r(sys_errno, text, sizeof text);
    size_t len = strlen(e->msg);
    snprintf(e->msg + len, sizeof e->msg - len, ": %s", reason);
    return -1;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
    char old[sizeof e->msg];
    va_list ap;

    snprintf(old, sizeof old, "%s", e->msg);
    va_start(ap, fmt);
    vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    size_t len = strlen(e->msg);
    snprintf(e->msg + len, sizeof e->msg - len, ": %s", old);
    return -1;
}

int err_hint(struct err *e, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(e->hint, sizeof e->hint, fmt, ap);
    va_end(ap);
    return -1;
}

void err_assert_failed(const char *cond, const char *file, int line, const char *func)
{
    fprintf(stderr, "abba: internal error: %s:%d: %s: '%s' does not hold\n", file, line, func,
            cond);
    abort();
}
