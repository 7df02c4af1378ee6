#include "archive/checksums.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define DIGITS (DIGEST_HEX - 1)

static void add(struct checksums *c, const char *path, size_t len, const char *sha256,
                uint64_t bytes)
{
    if (c->count == c->room) {
        c->room = c->room ? 2 * c->room : 64;
        c->items = xreallocarray(c->items, c->room, sizeof *c->items);
    }
    struct checksum *item = &c->items[c->count++];
    item->path = xstrndup(path, len);
    memcpy(item->sha256, sha256, DIGITS);
    item->sha256[DIGITS] = '\0';
    item->bytes = bytes;
}

void checksums_add(struct checksums *c, const char *path, const char *sha256, uint64_t bytes)
{
    ABBA_ASSERT(strlen(sha256) == DIGITS);
    add(c, path, strlen(path), sha256, bytes);
}

void checksums_release(struct checksums *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->items[i].path);
    free(c->items);
    *c = (struct checksums){0};
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct checksum *)a)->path, ((const struct checksum *)b)->path);
}

void checksums_sort(struct checksums *c)
{
    if (c->count > 1)
        qsort(c->items, c->count, sizeof *c->items, by_path);
}

static int path_order(const void *path, const void *item)
{
    return strcmp(path, ((const struct checksum *)item)->path);
}

const struct checksum *checksums_find(const struct checksums *c, const char *path)
{
    if (c->count == 0)
        return NULL;
    return bsearch(path, c->items, c->count, sizeof *c->items, path_order);
}

void checksums_write(const struct checksums *c, struct buf *out)
{
    for (size_t i = 0; i < c->count; i++) {
        buf_add(out, c->items[i].sha256, DIGITS);
        buf_addstr(out, "  ");
        buf_addstr(out, c->items[i].path);
        buf_addch(out, '\n');
    }
}

/* The end of a well-formed line (its newline), or NULL. */
static const char *line_end(const char *line, const char *end)
{
    const char *newline = memchr(line, '\n', (size_t)(end - line));

    if (!newline || newline - line <= DIGITS + 2 || memchr(line, '\0', (size_t)(newline - line)))
        return NULL;
    if (strspn(line, "0123456789abcdef") != DIGITS || memcmp(line + DIGITS, "  ", 2) != 0)
        return NULL;
    return newline;
}

int checksums_parse(struct checksums *c, const char *text, size_t len, const char *name,
                    struct err *err)
{
    const char *end = text + len;
    size_t number = 1;

    for (const char *line = text; line < end; number++) {
        const char *newline = line_end(line, end);

        if (!newline)
            return err_set(err, ERR_ARCHIVE, "'%s' line %zu: not a checksum and a path", name,
                           number);
        add(c, line + DIGITS + 2, (size_t)(newline - line) - DIGITS - 2, line, 0);
        if (c->count > 1 && by_path(&c->items[c->count - 2], &c->items[c->count - 1]) >= 0)
            return err_set(err, ERR_ARCHIVE, "'%s' line %zu: out of order, or twice", name, number);
        line = newline + 1;
    }
    return 0;
}

/* ---- line by line ---- */

void checksum_lines_open(struct checksum_lines *l, int fd, const char *name)
{
    *l = (struct checksum_lines){.stream = fdopen(fd, "r"), .name = name};
    if (!l->stream)
        mem_exhausted(sizeof(FILE));
}

void checksum_lines_close(struct checksum_lines *l)
{
    if (l->stream)
        fclose(l->stream);
    l->stream = NULL;
}

/* Fills l->line: its length, 0 at the end. A line that is too long is cut, and so has no newline.
 */
static size_t take_line(struct checksum_lines *l)
{
    size_t len = 0;
    int c;

    while (len + 1 < sizeof l->line && (c = getc_unlocked(l->stream)) != EOF) {
        l->line[len++] = (char)c;
        if (c == '\n')
            break;
    }
    l->line[len] = '\0';
    return len;
}

int checksum_lines_next(struct checksum_lines *l, struct err *err)
{
    memcpy(l->before, l->line, sizeof l->before);
    size_t len = take_line(l);

    if (len == 0)
        return ferror((FILE *)l->stream)
                   ? err_set(err, ERR_ARCHIVE, "cannot read '%s' to its end", l->name)
                   : 0;
    l->number++;
    if (!line_end(l->line, l->line + len))
        return err_set(err, ERR_ARCHIVE, "'%s' line %zu: not a checksum and a path", l->name,
                       l->number);
    l->line[len - 1] = '\0';
    l->path = l->line + DIGITS + 2;
    memcpy(l->sha256, l->line, DIGITS);
    l->sha256[DIGITS] = '\0';
    if (l->number > 1 && strcmp(l->before + DIGITS + 2, l->path) >= 0)
        return err_set(err, ERR_ARCHIVE, "'%s' line %zu: out of order, or twice", l->name,
                       l->number);
    return 1;
}
