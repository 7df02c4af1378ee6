/* tap: the guest's lines to the host. */
#ifndef ABBA_TESTS_NETEM_TAP_H
#define ABBA_TESTS_NETEM_TAP_H

#include <stdbool.h>

/* "ok N - text" or "not ok N - text". */
void tap(bool ok, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The plan, at the end: so that a guest that dies on the way is seen. */
void tap_end(void);

#endif
