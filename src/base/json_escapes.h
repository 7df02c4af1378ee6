/*
 * json_escapes: what the escapes in a JSON string stand for (RFC 8259 section 7).
 */
#ifndef ABBA_BASE_JSON_ESCAPES_H
#define ABBA_BASE_JSON_ESCAPES_H

#include <stddef.h>

#include "base/buf.h"

/* The value of four hex digits, or -1 if there are none. */
int json_hex4(const char *p, const char *end);

/* Adds the inside of a string that json_scan accepted, escapes undone. Returns -1 if it does not
 * fit. */
int json_undo_escapes(const char *text, size_t len, struct buf *out);

#endif
