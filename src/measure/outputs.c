#include "measure/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/json.h"
#include "base/mem.h"
#include "measure/heap.h"

#define SCRATCH "{scratch}/"

void outputs_init(struct outputs *o)
{
    *o = (struct outputs){0};
}

static void output_forget(struct output *o)
{
    json_free(o->tree);
    buf_release(&o->owned);
}

static void forget_all(struct outputs *o)
{
    for (size_t i = 0; i < o->count; i++)
        output_forget(&o->items[i]);
    o->count = 0;
}

void outputs_release(struct outputs *o)
{
    forget_all(o);
    free(o->items);
    *o = (struct outputs){0};
}

void outputs_begin(struct outputs *o, const struct outcome *outcome, const char *scratch,
                   const struct heap_role *heap)
{
    forget_all(o);
    o->heap = heap;
    o->outcome = outcome;
    o->scratch = scratch;
}

void output_name(const struct extraction *from, char out[128])
{
    static const char *const streams[] = {"stdout", "stderr", "heap records"};

    if (from->source == SOURCE_FILE)
        snprintf(out, 128, "file '%.50s' of '%.50s'", from->file, from->role);
    else
        snprintf(out, 128, "%s of '%.50s'", streams[from->source], from->role);
}

/* ---- streams ---- */

/* Head and tail without the lines that the gap tore. */
static void join_around_gap(const struct capture *c, struct output *o)
{
    const char *last = memrchr(c->head, '\n', c->head_len);
    const char *first = memchr(c->tail, '\n', c->tail_len);

    if (last)
        buf_add(&o->owned, c->head, (size_t)(last - c->head) + 1);
    if (first)
        buf_add(&o->owned, first + 1, c->tail_len - (size_t)(first - c->tail) - 1);
}

static void load_stream(const struct capture *c, struct output *o)
{
    o->cut = c->cut;
    if (c->cut > 0) {
        join_around_gap(c, o);
    } else if (c->tail_len > 0) {
        capture_text(c, &o->owned);
    } else {
        o->data = c->head_len > 0 ? c->head : "";
        o->len = c->head_len;
        return;
    }
    o->data = o->owned.data;
    o->len = o->owned.len;
}

/* ---- files ---- */

static const char *below_scratch(const char *file)
{
    return strncmp(file, SCRATCH, strlen(SCRATCH)) == 0 ? file + strlen(SCRATCH) : file;
}

bool output_file_ok(const char *file)
{
    const char *at = below_scratch(file);

    if (strpbrk(at, "{}"))
        return false;
    for (;;) {
        size_t n = strcspn(at, "/");

        if (n == 0 || n > 255 || (at[0] == '.' && (n == 1 || (n == 2 && at[1] == '.'))))
            return false;
        if (!at[n])
            return true;
        at += n + 1;
    }
}

/* Opens a path below the scratch folder step by step, so that no link leads out of it. */
static int open_below(const char *scratch, const char *path)
{
    int at = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (at < 0)
        return -1;
    int fd = files_open_below(at, path, O_NONBLOCK);
    int cause = errno;
    close(at);
    errno = cause;
    return fd;
}

static int read_file(int fd, struct output *o, struct err *err)
{
    struct stat st;
    ssize_t n;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return err_set(err, ERR_MEASURE, "not a regular file");
    do {
        if (buf_reserve(&o->owned, 65536) < 0)
            return err_set(err, ERR_MEASURE, "larger than %zu bytes", OUTPUTS_FILE_MAX);
        n = read(fd, o->owned.data + o->owned.len, 65536);
        if (n > 0)
            o->owned.len += (size_t)n;
    } while (n > 0 || (n < 0 && errno == EINTR));
    if (n < 0)
        return err_sys(err, ERR_MEASURE, errno, "cannot be read");
    buf_reserve(&o->owned, 1);
    return 0;
}

static int load_file(const char *scratch, struct output *o, struct err *err)
{
    const char *path = below_scratch(o->file);

    if (!scratch)
        return err_set(err, ERR_MEASURE, "the run had no scratch folder");
    int fd = open_below(scratch, path);
    if (fd < 0)
        return err_sys(err, ERR_MEASURE, errno, "cannot be read");
    buf_init(&o->owned, OUTPUTS_FILE_MAX + 65536);
    int rc = read_file(fd, o, err);
    close(fd);
    o->data = o->owned.data;
    o->len = o->owned.len;
    return rc;
}

/* ---- one text ---- */

static bool same_source(const struct output *o, const struct extraction *from)
{
    return o->source == from->source && strcmp(o->role, from->role) == 0 &&
           (from->source != SOURCE_FILE || strcmp(o->file, from->file) == 0);
}

static const struct role_outcome *find_role(const struct outcome *o, const char *name)
{
    for (size_t i = 0; i < o->role_count; i++)
        if (strcmp(o->roles[i].name, name) == 0)
            return &o->roles[i];
    return NULL;
}

static int load_heap(struct outputs *all, const struct role_outcome *role, struct output *o,
                     struct err *err)
{
    if (!all->heap)
        return err_set(err, ERR_MEASURE, "only a memory pass has such");
    o->data = all->heap[role - all->outcome->roles].text;
    o->len = all->heap[role - all->outcome->roles].len;
    return 0;
}

static int load(struct outputs *all, struct output *o, struct err *err)
{
    const struct role_outcome *role = find_role(all->outcome, o->role);

    if (o->source == SOURCE_FILE)
        return load_file(all->scratch, o, err);
    if (!role)
        return err_set(err, ERR_MEASURE, "the run had no such role");
    if (o->source == SOURCE_HEAP)
        return load_heap(all, role, o, err);
    load_stream(o->source == SOURCE_STDERR ? &role->err : &role->out, o);
    return 0;
}

static struct output *add(struct outputs *all, const struct extraction *from)
{
    char name[128];

    if (all->count == all->room) {
        all->room = all->room ? 2 * all->room : 8;
        all->items = xreallocarray(all->items, all->room, sizeof *all->items);
    }
    struct output *o = &all->items[all->count++];
    *o =
        (struct output){.role = from->role, .source = from->source, .file = from->file, .data = ""};
    buf_init(&o->owned, 0);
    if (load(all, o, &o->err) < 0) {
        output_name(from, name);
        err_wrap(&o->err, "%s", name);
    }
    return o;
}

int outputs_get(struct outputs *o, const struct extraction *from, struct output **out,
                struct err *err)
{
    *out = NULL;
    for (size_t i = 0; i < o->count && !*out; i++)
        if (same_source(&o->items[i], from))
            *out = &o->items[i];
    if (!*out)
        *out = add(o, from);
    if ((*out)->err.code == ERR_NONE)
        return 0;
    *err = (*out)->err;
    return -1;
}

int output_document(struct output *o, const struct json **out, struct err *err)
{
    static const struct json_rules foreign = {.big_integers = true, .code = ERR_MEASURE};

    if (!o->parsed) {
        o->parsed = true;
        o->tree = json_parse_with(o->data, o->len, "output", &foreign, &o->tree_err);
    }
    *out = o->tree;
    if (o->tree)
        return 0;
    *err = o->tree_err;
    return -1;
}
