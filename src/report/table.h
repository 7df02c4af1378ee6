/*
 * table: rows of cells in aligned columns, made to fit a width.
 *
 * Widths are those of a terminal (text_width). When a table is too wide, whole columns are left
 * out in the order that their `drop` gives, then gaps become one space, then the columns marked
 * `shrink` are cut. Texts are copied; everything belongs to the arena.
 */
#ifndef ABBA_REPORT_TABLE_H
#define ABBA_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;

/* How a text looks where there is colour. */
enum tone { TONE_PLAIN, TONE_BOLD, TONE_DIM, TONE_GOOD, TONE_BAD, TONE_WARN, TONE_HEAD };

#define TABLE_MAX_COLUMNS 24

struct table_column {
    const char *title; /* of several lines where it holds newlines */
    bool right;        /* aligned to its right edge */
    int gap;           /* spaces before it, as wished */
    int drop;          /* 1 is left out first; 0: never */
    bool shrink;       /* may be cut */
};

struct table_cell {
    const char *text; /* NULL: empty */
    enum tone tone;
};

struct table {
    const struct table_column *columns;
    size_t column_count;
    struct table_cell *cells; /* row after row */
    size_t row_count, row_room;
    struct arena *arena;
};

void table_init(struct table *t, const struct table_column *columns, size_t count,
                struct arena *arena);

/* A new row of empty cells. */
void table_row(struct table *t);

/* Sets a cell of the last row; `text` is copied. */
void table_set(struct table *t, size_t column, enum tone tone, const char *text);

/*
 * The columns that are shown within `width` (0: no limit), as a bit set. A column without text in
 * any row is never shown.
 */
uint32_t table_layout(const struct table *t, size_t indent, size_t width);

/* The columns of a terminal that it needs if nothing is left out or cut. */
size_t table_width(const struct table *t, size_t indent);

/* Adds the table, titles first, each line indented and without spaces at its end. */
void table_write(const struct table *t, size_t indent, size_t width, bool color, struct buf *out);

/* Adds text in a tone; plain if `color` is false. */
void tone_text(struct buf *out, bool color, enum tone tone, const char *text);

/*
 * Adds a text wrapped at blanks to `width` columns (0: no limit); lines after the first are
 * indented. `at` is the column where the text begins.
 */
void text_wrap(struct buf *out, const char *text, size_t at, size_t indent, size_t width);

#endif
