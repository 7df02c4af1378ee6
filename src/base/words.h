/*
 * words: a command in one string, split as a POSIX shell splits words (XCU 2.2), and back.
 *
 * Blanks and newlines separate; '...' , "..." and backslash quote; nothing is expanded and no
 * operator is known: `|`, `>`, `$` and `*` are plain characters.
 */
#ifndef ABBA_BASE_WORDS_H
#define ABBA_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

/*
 * Splits into a NULL-terminated array in the arena; *count may be 0. A quote that is not closed or
 * a backslash at the end is an error (ERR_USAGE) that names the column, from 1 in bytes.
 */
int words_split(struct arena *arena, const char *text, char ***words, size_t *count,
                struct err *err);

/* The first unquoted character that would mean something to a shell (| & ; < > $ ` * ? etc.), or
 * 0: for a hint that no shell runs. */
char words_shell_character(const char *text);

/* Adds the words so that words_split, and a shell, give them back. */
void words_quote(struct buf *out, const char *const words[], size_t count);

#endif
