/*
 * redact: replaces what tells who and where in texts before they are archived.
 *
 * Host name, user name, home folder and the addresses of this host become HOST, USER, HOME and
 * ADDRESS wherever they stand as whole words. Names that say nothing (root, localhost, loopback
 * addresses, names of one or two letters) stay. The holder releases it.
 */
#ifndef ABBA_ARCHIVE_REDACT_H
#define ABBA_ARCHIVE_REDACT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct redact_word {
    char *from; /* owned */
    size_t len;
    const char *to;
};

struct redaction {
    struct redact_word *words; /* longer ones first */
    size_t count, room;
};

/* Adds a word, unless it says nothing or is there already. `to` is borrowed. */
void redaction_add(struct redaction *r, const char *from, const char *to);

/* Adds what is known of this host and user. */
void redaction_add_host(struct redaction *r);

/* Whether there is anything to replace; only then the text, replaced, is added to `out`. */
bool redaction_apply(const struct redaction *r, const char *text, size_t len, struct buf *out);

void redaction_release(struct redaction *r);

#endif
