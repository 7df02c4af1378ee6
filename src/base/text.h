/*
 * text: width, cutting, making hostile text harmless, and likeness of words.
 *
 * UTF-8 throughout; no locale is ever consulted. Bytes that are not UTF-8 are taken one by one.
 */
#ifndef ABBA_BASE_TEXT_H
#define ABBA_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Decodes one character at `p` (n > 0 bytes left). Returns its length in bytes and stores the code
 * point, or returns 0 if the bytes there are not UTF-8.
 */
size_t text_decode(const char *p, size_t n, uint32_t *code);

/* Adds a code point as UTF-8. */
void text_encode(struct buf *out, uint32_t code);

/* Whether all of it is UTF-8. */
bool text_is_utf8(const char *p, size_t n);

/* How many code points a text in UTF-8 has. */
size_t text_characters(const char *s);

/* Whether a character shows nothing of itself (control, format, separator). */
bool text_is_unseen(uint32_t code);

/* Columns on a terminal: 0 for combining and invisible, 2 for wide characters, else 1. */
size_t text_width(const char *s);
size_t text_width_n(const char *p, size_t n);

/* Adds `s`, cut to `width` columns; a cut text ends in U+2026 (one column). */
void text_truncate(struct buf *out, const char *s, size_t width);

/* Adds `s`, then spaces up to `width` columns. */
void text_pad_right(struct buf *out, const char *s, size_t width);

/*
 * Adds what a child wrote, made harmless: one line, control characters and bytes that are not
 * UTF-8 as \xNN, tab and newline as \t and \n, bidirectional and other invisible controls as
 * \u{202e}, backslashes as \\. At most `max` bytes are added; a cut text ends in U+2026. 0: no
 * limit.
 */
void text_neutral(struct buf *out, const char *p, size_t n, size_t max);

/* Adds `s` for running Markdown text (and table cells): nothing in it becomes markup, HTML, a
 * link, a mention or a reference. Newlines become spaces. */
void text_markdown(struct buf *out, const char *s);

/* Adds `s` as a Markdown code span that also holds in a table cell. */
void text_markdown_code(struct buf *out, const char *s);

/* Adds `s` for XML text and attributes; characters that XML 1.0 cannot hold are left out. */
void text_xml(struct buf *out, const char *s);

/* Edits (insertion, deletion, substitution, swap of neighbours) from a to b, by bytes, letters
 * without regard to case. Words beyond 64 bytes are infinitely far (SIZE_MAX). */
size_t text_distance(const char *a, const char *b);

/* The word of the list nearest to `word`, if it is near enough to be meant; else NULL. */
const char *text_nearest(const char *word, const char *const list[], size_t n);

#endif
