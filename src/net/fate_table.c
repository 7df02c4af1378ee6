#include "net/fate.h"

#include "base/buf.h"
#include "base/files.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (1 << 20)

/* Where distributions build iproute2 to look; Debian has them below its library folder. */
static const char *const folders[] = {
    "/usr/lib/tc",
#ifdef __x86_64__
    "/usr/lib/x86_64-linux-gnu/tc",
#elif defined __aarch64__
    "/usr/lib/aarch64-linux-gnu/tc",
#elif defined __riscv
    "/usr/lib/riscv64-linux-gnu/tc",
#endif
    "/usr/lib64/tc",
    "/usr/share/tc",
};

/* The file's path, or NULL. The name is a plain one: no folder, not hidden. */
static const char *find(const char *name, struct arena *arena)
{
    const char *own = getenv("TC_LIB_DIR");
    const char *file = arena_printf(arena, "%s.dist", name);

    if (own) {
        const char *path = files_join(arena, own, file);
        return files_exists(path) ? path : NULL;
    }
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        const char *path = files_join(arena, folders[i], file);
        if (files_exists(path))
            return path;
    }
    return NULL;
}

struct lines {
    const char *path;
    int line;
    int16_t *values;
    size_t count;
};

/* The numbers of one line, up to `end`; a comment has none. */
static int read_line(struct lines *in, const char *p, const char *end, struct err *err)
{
    if (*p == '#')
        return 0;
    for (;;) {
        char *after;
        long x;

        p += strspn(p, " \t\r\v\f");
        if (p >= end)
            return 0;
        errno = 0;
        x = strtol(p, &after, 0);
        if (after == p || (after < end && !strchr(" \t\r\v\f", *after)))
            return err_set(err, ERR_CONFIG, "'%s': line %d: not a number", in->path, in->line);
        if (errno || x < INT16_MIN || x > INT16_MAX)
            return err_set(err, ERR_CONFIG, "'%s': line %d: %.*s is out of -32768 .. 32767",
                           in->path, in->line, (int)(after - p < 24 ? after - p : 24), p);
        if (in->count == FATE_TABLE_MAX)
            return err_set(err, ERR_CONFIG, "'%s': line %d: more than %d numbers", in->path,
                           in->line, FATE_TABLE_MAX);
        in->values[in->count++] = (int16_t)x;
        p = after;
    }
}

static int read_lines(struct lines *in, const struct buf *text, struct err *err)
{
    const char *p = text->data, *stop = text->data + text->len;

    if (memchr(p, '\0', text->len))
        return err_set(err, ERR_CONFIG, "'%s': not a text file", in->path);
    for (in->line = 1; p < stop; in->line++) {
        const char *end = memchr(p, '\n', (size_t)(stop - p));

        end = end ? end : stop;
        if (p < end && read_line(in, p, end, err) < 0)
            return -1;
        p = end + 1;
    }
    return in->count ? 0 : err_set(err, ERR_CONFIG, "'%s': no numbers in it", in->path);
}

int fate_table_read(struct fate_table *t, const char *name, struct arena *arena, struct err *err)
{
    struct lines in = {.path = NULL};
    struct buf text = BUF_INIT;
    int status = -1;

    *t = (struct fate_table){NULL, 0};
    in.path = strchr(name, '/') || name[0] == '.' ? NULL : find(name, arena);
    if (!in.path && strcmp(name, "uniform") == 0)
        return 0;
    if (!in.path) {
        err_set(err, ERR_CONFIG, "no distribution '%s': there is no %s.dist", name, name);
        return err_hint(err, "the tables normal, pareto, paretonormal and experimental come with "
                             "the package iproute2; TC_LIB_DIR names another folder");
    }
    in.values = arena_array(arena, FATE_TABLE_MAX, sizeof(*in.values));
    if (files_read(in.path, FILE_MAX, &text, err) < 0)
        err->code = ERR_CONFIG;
    else
        status = read_lines(&in, &text, err);
    buf_release(&text);
    if (status == 0)
        *t = (struct fate_table){in.values, in.count};
    return status;
}
