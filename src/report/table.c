#include "report/table.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

#include <string.h>

static const char *const tone_codes[] = {
    [TONE_PLAIN] = "",        [TONE_BOLD] = "\033[1m", [TONE_DIM] = "\033[2m",
    [TONE_GOOD] = "\033[32m", [TONE_BAD] = "\033[31m", [TONE_WARN] = "\033[35m",
    [TONE_HEAD] = "\033[36m",
};

void tone_text(struct buf *out, bool color, enum tone tone, const char *text)
{
    if (!color || tone == TONE_PLAIN || text[0] == '\0') {
        buf_addstr(out, text);
        return;
    }
    buf_printf(out, "%s%s\033[0m", tone_codes[tone], text);
}

void text_wrap(struct buf *out, const char *text, size_t at, size_t indent, size_t width)
{
    bool first = true;
    while (*text) {
        size_t len = strcspn(text, " ");
        size_t columns = text_width_n(text, len);
        if (!first && width > 0 && at + 1 + columns > width) {
            buf_addch(out, '\n');
            buf_fill(out, ' ', indent);
            at = indent;
        } else if (!first) {
            buf_addch(out, ' ');
            at++;
        }
        buf_add(out, text, len);
        at += columns;
        first = false;
        text += len;
        if (*text == ' ')
            text++;
    }
}

void table_init(struct table *t, const struct table_column *columns, size_t count,
                struct arena *arena)
{
    ABBA_ASSERT(count <= TABLE_MAX_COLUMNS);
    memset(t, 0, sizeof(*t));
    t->columns = columns;
    t->column_count = count;
    t->arena = arena;
}

void table_row(struct table *t)
{
    if (t->row_count == t->row_room) {
        size_t room = t->row_room ? 2 * t->row_room : 16;
        struct table_cell *cells =
            arena_array(t->arena, room * t->column_count, sizeof(struct table_cell));
        if (t->row_count > 0)
            memcpy(cells, t->cells, t->row_count * t->column_count * sizeof(*cells));
        t->cells = cells;
        t->row_room = room;
    }
    t->row_count++;
}

void table_set(struct table *t, size_t column, enum tone tone, const char *text)
{
    ABBA_ASSERT(t->row_count > 0 && column < t->column_count);
    struct table_cell *cell = &t->cells[(t->row_count - 1) * t->column_count + column];
    cell->text = arena_strdup(t->arena, text);
    cell->tone = tone;
}

static const struct table_cell *cell_at(const struct table *t, size_t row, size_t column)
{
    return &t->cells[row * t->column_count + column];
}

static size_t title_lines(const char *title)
{
    size_t lines = 1;
    for (; *title; title++)
        lines += *title == '\n';
    return lines;
}

/* Its widest line. */
static size_t title_width(const char *title)
{
    size_t widest = 0;
    for (;;) {
        size_t len = strcspn(title, "\n"), width = text_width_n(title, len);
        widest = width > widest ? width : widest;
        if (title[len] == '\0')
            return widest;
        title += len + 1;
    }
}

/* Widest text of a column, title included; 0 if no row has text in it. */
static size_t column_width(const struct table *t, size_t column)
{
    size_t widest = 0;
    for (size_t r = 0; r < t->row_count; r++) {
        const char *text = cell_at(t, r, column)->text;
        size_t width = text ? text_width(text) : 0;
        if (width > widest)
            widest = width;
    }
    size_t title = title_width(t->columns[column].title);
    return widest > 0 && title > widest ? title : widest;
}

/* How a table is laid out: widths, gaps, which columns. */
struct layout {
    size_t width[TABLE_MAX_COLUMNS];
    size_t gap[TABLE_MAX_COLUMNS];
    uint32_t shown;
};

static size_t total(const struct table *t, const struct layout *l, size_t indent)
{
    size_t sum = indent;
    bool first = true;
    for (size_t c = 0; c < t->column_count; c++) {
        if (!(l->shown & (1u << c)))
            continue;
        sum += l->width[c] + (first ? 0 : l->gap[c]);
        first = false;
    }
    return sum;
}

/* Leaves out the column whose turn is `turn`. False if none has it or a later turn. */
static bool drop(const struct table *t, struct layout *l, int turn)
{
    bool more = false;
    for (size_t c = 0; c < t->column_count; c++) {
        if (t->columns[c].drop == turn)
            l->shown &= ~(1u << c);
        if (t->columns[c].drop >= turn)
            more = true;
    }
    return more;
}

/* A wide column that had to go may have made room for a narrow one that went before it. */
static void bring_back(const struct table *t, struct layout *l, int turns, size_t indent,
                       size_t width)
{
    for (int turn = turns; turn >= 1; turn--) {
        uint32_t before = l->shown;
        for (size_t c = 0; c < t->column_count; c++) {
            if (t->columns[c].drop == turn && l->width[c] > 0)
                l->shown |= 1u << c;
        }
        if (total(t, l, indent) > width)
            l->shown = before;
    }
}

#define LEAST_WIDTH 8

static void shrink(const struct table *t, struct layout *l, size_t indent, size_t width)
{
    for (size_t c = 0; c < t->column_count; c++) {
        size_t now = total(t, l, indent);
        if (now <= width)
            return;
        if (!t->columns[c].shrink || !(l->shown & (1u << c)) || l->width[c] <= LEAST_WIDTH)
            continue;
        size_t spare = l->width[c] - LEAST_WIDTH;
        l->width[c] -= now - width < spare ? now - width : spare;
    }
}

static void lay_out(const struct table *t, struct layout *l, size_t indent, size_t width)
{
    memset(l, 0, sizeof(*l));
    for (size_t c = 0; c < t->column_count; c++) {
        l->width[c] = column_width(t, c);
        l->gap[c] = (size_t)t->columns[c].gap;
        if (l->width[c] > 0)
            l->shown |= 1u << c;
    }
    if (width == 0)
        return;
    int turn = 1;
    while (total(t, l, indent) > width && drop(t, l, turn))
        turn++;
    bring_back(t, l, turn - 1, indent, width);
    if (total(t, l, indent) > width) {
        for (size_t c = 0; c < t->column_count; c++)
            l->gap[c] = 1;
        shrink(t, l, indent, width);
    }
}

size_t table_width(const struct table *t, size_t indent)
{
    struct layout l;
    lay_out(t, &l, indent, 0);
    return total(t, &l, indent);
}

uint32_t table_layout(const struct table *t, size_t indent, size_t width)
{
    struct layout l;
    lay_out(t, &l, indent, width);
    return l.shown;
}

static void write_cell(struct buf *out, const char *text, enum tone tone, size_t width, bool right,
                       bool color, size_t *pending)
{
    struct buf cut = BUF_INIT;
    text_truncate(&cut, text, width);
    size_t used = text_width(cut.data);
    size_t fill = width > used ? width - used : 0;
    if (right)
        *pending += fill;
    if (used > 0) {
        buf_fill(out, ' ', *pending);
        *pending = 0;
        tone_text(out, color, tone, cut.data);
    }
    if (!right)
        *pending += fill;
    buf_release(&cut);
}

/* A row, or with `row` NULL the titles' line, whose texts are in `titles`. */
static void write_line(const struct table *t, const struct layout *l, const struct table_cell *row,
                       const char *const *titles, size_t indent, bool color, struct buf *out)
{
    size_t pending = indent; /* spaces due before the next text */
    bool first = true;
    for (size_t c = 0; c < t->column_count; c++) {
        if (!(l->shown & (1u << c)))
            continue;
        const char *text = row ? row[c].text : titles[c];
        pending += first ? 0 : l->gap[c];
        write_cell(out, text ? text : "", row ? row[c].tone : TONE_BOLD, l->width[c],
                   t->columns[c].right, color, &pending);
        first = false;
    }
    buf_addch(out, '\n');
}

/* Titles of fewer lines stand at the bottom. */
static void write_titles(const struct table *t, const struct layout *l, size_t indent, bool color,
                         struct buf *out)
{
    const char *titles[TABLE_MAX_COLUMNS];
    size_t most = 1;
    for (size_t c = 0; c < t->column_count; c++) {
        size_t lines = title_lines(t->columns[c].title);
        if ((l->shown & (1u << c)) && lines > most)
            most = lines;
    }
    for (size_t i = 0; i < most; i++) {
        for (size_t c = 0; c < t->column_count; c++) {
            const char *title = t->columns[c].title;
            size_t skip = most - title_lines(title), line = i < skip ? 0 : i - skip;
            titles[c] = "";
            if (i < skip)
                continue;
            for (; line > 0; line--)
                title += strcspn(title, "\n") + 1;
            titles[c] = arena_strndup(t->arena, title, strcspn(title, "\n"));
        }
        write_line(t, l, NULL, titles, indent, color, out);
    }
}

void table_write(const struct table *t, size_t indent, size_t width, bool color, struct buf *out)
{
    struct layout l;
    lay_out(t, &l, indent, width);
    bool titles = false;
    for (size_t c = 0; c < t->column_count; c++)
        titles = titles || t->columns[c].title[0] != '\0';
    if (titles)
        write_titles(t, &l, indent, color, out);
    for (size_t r = 0; r < t->row_count; r++)
        write_line(t, &l, cell_at(t, r, 0), NULL, indent, color, out);
}
