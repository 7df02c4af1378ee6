#include "base/sorted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"

#define PIECE ((size_t)16 << 10) /* of a part in memory; a line fits */

struct sorted_part {
    off_t begin, end; /* in the file */
    off_t at;         /* what of it is to be read next */
    char *piece;      /* what was read */
    size_t from, to;  /* of the piece: not yet given */
};

/* ---- adding ---- */

static int refuse(const char *what, struct err *err)
{
    err_sys(err, ERR_SYSTEM, errno, "cannot %s in '%s', which holds a long list", what,
            files_large_folder());
    return err_hint(err, "TMPDIR names another folder");
}

static int by_line(const void *a, const void *b, void *text)
{
    const char *all = text;

    return strcmp(all + *(const uint32_t *)a, all + *(const uint32_t *)b);
}

static void sort_memory(struct sorted *s)
{
    if (s->count > 1)
        qsort_r(s->starts, s->count, sizeof *s->starts, by_line, s->text);
}

static int write_lines(const struct sorted *s)
{
    char *out = xmalloc(s->used + 1);
    size_t len = 0;

    for (size_t i = 0; i < s->count; i++) {
        const char *end = stpcpy(out + len, s->text + s->starts[i]);

        len = (size_t)(end - out) + 1;
    }
    int rc = files_write_all(s->fd, out, len);
    free(out);
    return rc;
}

/* What is in memory becomes a part of the file. */
static int spill(struct sorted *s, struct err *err)
{
    if (!s->spilled) {
        s->fd = files_open_nameless(files_large_folder());
        if (s->fd < 0)
            return refuse("make a file", err);
        s->spilled = true;
    }
    sort_memory(s);
    if (write_lines(s) < 0)
        return refuse("write a file", err);
    if (s->part_count == s->part_room) {
        s->part_room = s->part_room ? 2 * s->part_room : 16;
        s->parts = xreallocarray(s->parts, s->part_room, sizeof *s->parts);
    }
    s->parts[s->part_count++] =
        (struct sorted_part){.begin = s->size, .end = s->size + (off_t)s->used};
    s->size += (off_t)s->used;
    s->used = s->count = 0;
    return 0;
}

int sorted_add(struct sorted *s, const char *line, struct err *err)
{
    const size_t size = strlen(line) + 1;

    ABBA_ASSERT(!s->reading);
    if (size > SORTED_LINE)
        return err_set(err, ERR_SYSTEM, "a line of %zu bytes is too long for a list", size - 1);
    if (s->used + size > SORTED_ROOM && spill(s, err) < 0)
        return -1;
    if (!s->text)
        s->text = xmalloc(SORTED_ROOM);
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 256;
        s->starts = xreallocarray(s->starts, s->room, sizeof *s->starts);
    }
    s->starts[s->count++] = (uint32_t)s->used;
    memcpy(s->text + s->used, line, size);
    s->used += size;
    return 0;
}

/* ---- merging ---- */

/* Reads on until a whole line is there, if the part has one. */
static int fill(const struct sorted *s, struct sorted_part *p, struct err *err)
{
    if (memchr(p->piece + p->from, '\0', p->to - p->from))
        return 0;
    memmove(p->piece, p->piece + p->from, p->to - p->from);
    p->to -= p->from;
    p->from = 0;
    while (p->to < PIECE && p->at < p->end) {
        size_t want = PIECE - p->to;
        ssize_t n;

        if ((off_t)want > p->end - p->at)
            want = (size_t)(p->end - p->at);
        n = pread(s->fd, p->piece + p->to, want, p->at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n < 0 ? errno : EIO;
            return refuse("read back a file", err);
        }
        p->to += (size_t)n;
        p->at += n;
    }
    return 0;
}

static const char *line_of(const struct sorted *s, size_t place)
{
    const struct sorted_part *p = &s->parts[s->heap[place]];

    return p->piece + p->from;
}

static void swap(struct sorted *s, size_t a, size_t b)
{
    size_t part = s->heap[a];

    s->heap[a] = s->heap[b];
    s->heap[b] = part;
}

static void sink(struct sorted *s, size_t place)
{
    for (;;) {
        size_t least = place;

        for (size_t child = 2 * place + 1; child <= 2 * place + 2 && child < s->heap_count; child++)
            if (strcmp(line_of(s, child), line_of(s, least)) < 0)
                least = child;
        if (least == place)
            return;
        swap(s, least, place);
        place = least;
    }
}

static int begin_merge(struct sorted *s, struct err *err)
{
    s->heap = xreallocarray(s->heap, s->part_count, sizeof *s->heap);
    s->heap_count = 0;
    for (size_t i = 0; i < s->part_count; i++) {
        struct sorted_part *p = &s->parts[i];

        if (!p->piece)
            p->piece = xmalloc(PIECE);
        p->at = p->begin;
        p->from = p->to = 0;
        if (fill(s, p, err) < 0)
            return -1;
        s->heap[s->heap_count++] = i;
    }
    for (size_t i = s->heap_count; i-- > 0;)
        sink(s, i);
    return 0;
}

static int begin_reading(struct sorted *s, struct err *err)
{
    s->reading = true;
    s->next = 0;
    if (!s->spilled) {
        sort_memory(s);
        return 0;
    }
    if (s->count > 0 && spill(s, err) < 0)
        return -1;
    free(s->text); /* the pieces take its place */
    s->text = NULL;
    if (!s->last)
        s->last = xmalloc(SORTED_LINE);
    return begin_merge(s, err);
}

static int next_of_file(struct sorted *s, const char **line, struct err *err)
{
    struct sorted_part *p;
    size_t size;

    if (s->heap_count == 0)
        return 0;
    p = &s->parts[s->heap[0]];
    size = strlen(p->piece + p->from) + 1;
    memcpy(s->last, p->piece + p->from, size);
    *line = s->last;
    p->from += size;
    if (fill(s, p, err) < 0)
        return -1;
    if (p->from == p->to)
        s->heap[0] = s->heap[--s->heap_count];
    sink(s, 0);
    return 1;
}

int sorted_next(struct sorted *s, const char **line, struct err *err)
{
    if (!s->reading && begin_reading(s, err) < 0)
        return -1;
    if (s->spilled)
        return next_of_file(s, line, err);
    if (s->next == s->count)
        return 0;
    *line = s->text + s->starts[s->next++];
    return 1;
}

int sorted_rewind(struct sorted *s, struct err *err)
{
    if (!s->reading)
        return begin_reading(s, err);
    s->next = 0;
    return s->spilled ? begin_merge(s, err) : 0;
}

void sorted_release(struct sorted *s)
{
    for (size_t i = 0; i < s->part_count; i++)
        free(s->parts[i].piece);
    if (s->spilled)
        close(s->fd);
    free(s->parts);
    free(s->heap);
    free(s->starts);
    free(s->text);
    free(s->last);
    *s = (struct sorted)SORTED_INIT;
}
