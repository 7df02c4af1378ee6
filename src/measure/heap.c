#include "measure/heap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/text.h"

#define TEXT_MAX ((size_t)16 << 20) /* of a role */

/* A record's file: PID.NUMBER. */
struct entry {
    unsigned pid, number;
};

/* ---- the folder ---- */

static int by_number(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* The records of a folder in order; more than there may be: one more than that. */
static size_t list_records(int folder, struct entry **entries)
{
    int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = own < 0 ? NULL : fdopendir(own);
    const struct dirent *at;
    size_t count = 0, room = 0;
    struct entry e;
    char again[32];

    *entries = NULL;
    while (dir && count <= HEAP_PROCESSES_MAX && (at = readdir(dir)) != NULL) {
        if (sscanf(at->d_name, "%9u.%9u", &e.pid, &e.number) != 2)
            continue;
        snprintf(again, sizeof again, "%u.%u", e.pid, e.number);
        if (strcmp(again, at->d_name) != 0)
            continue;
        if (count == room) {
            room = room ? 2 * room : 16;
            *entries = xreallocarray(*entries, room, sizeof **entries);
        }
        (*entries)[count++] = e;
    }
    if (dir)
        closedir(dir);
    if (count)
        qsort(*entries, count, sizeof **entries, by_number);
    return count;
}

/* The head, and the slots that were taken: most of the file is empty. 0: it is not whole. */
static ssize_t read_parts(int fd, struct heap_record *r)
{
    const size_t head = offsetof(struct heap_record, slot);
    ssize_t n = pread(fd, r, head, 0);
    size_t slots;

    if (n != (ssize_t)head)
        return n < 0 ? -1 : 0;
    slots = r->slots <= HEAP_SLOTS ? r->slots * sizeof r->slot[0] : 0;
    return pread(fd, r->slot, slots, (off_t)head) == (ssize_t)slots ? n : 0;
}

/* A process that ended while it made its record, before its first line, has left an empty one. */
enum found { FOUND_NOTHING, FOUND_RECORD, FOUND_DAMAGE };

static enum found read_record(int folder, const struct entry *e, struct heap_record *r)
{
    char name[32];
    ssize_t n = -1;
    int fd;

    snprintf(name, sizeof name, "%u.%u", e->pid, e->number);
    fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0) {
        n = read_parts(fd, r);
        close(fd);
    }
    if (n < 0)
        return FOUND_DAMAGE;
    if (n == 0 || r->magic[0] == '\0')
        return FOUND_NOTHING;
    return memcmp(r->magic, HEAP_RECORD_MAGIC, sizeof r->magic) == 0 &&
                   r->version == HEAP_RECORD_VERSION && r->slots <= HEAP_SLOTS
               ? FOUND_RECORD
               : FOUND_DAMAGE;
}

/* ---- one process ---- */

static void add_sums(struct heap_sums *to, const struct heap_sums *s)
{
    to->calls += s->calls;
    to->bytes += s->bytes;
    to->frees += s->frees;
}

static void say_sums(struct buf *text, const struct heap_sums *s)
{
    buf_printf(text, " calls=%" PRIu64 " bytes=%" PRIu64 " frees=%" PRIu64 "\n", s->calls, s->bytes,
               s->frees);
}

/* Those that are kept: more may have been closed. */
static uint32_t windows_of(const struct heap_record *r)
{
    return r->closed < HEAP_WINDOWS ? r->closed : HEAP_WINDOWS;
}

/* Why the figures of a process must not be believed; NULL: they may be. */
static const char *fault_of(const struct heap_record *r)
{
    if (r->flags & HEAP_SHADOWED)
        return "the program has an allocator of its own before the library's";
    if (r->flags & HEAP_TWICE)
        return "a window was begun while one was open";
    if (r->flags & HEAP_STRAY)
        return "a window was ended while none was open";
    if (r->flags & HEAP_LOST)
        return "there were more threads at a time than are counted";
    if (r->flags & HEAP_MANY || r->closed > HEAP_WINDOWS)
        return "more windows were marked than are kept";
    return r->open ? "a window was open when the process ended" : NULL;
}

/* What faults are is decided when all processes are known: those without a window may not matter.
 */
struct faults {
    const char *marked, *any; /* of a process with a window, of any; the first of each */
    bool shadowed;            /* the first of any is that */
};

static void note_fault(struct faults *all, const struct heap_record *r, const char *fault)
{
    bool marks = r->closed || r->open || r->flags & (HEAP_TWICE | HEAP_STRAY);

    if (!all->any)
        all->shadowed = r->flags & HEAP_SHADOWED;
    all->any = all->any ? all->any : fault;
    if (marks && !all->marked)
        all->marked = fault;
}

static struct heap_sums process_sums(const struct heap_record *r)
{
    struct heap_sums s = {0};

    for (uint32_t i = 0; i < r->slots; i++)
        add_sums(&s, &(struct heap_sums){r->slot[i].calls, r->slot[i].bytes, r->slot[i].frees});
    return s;
}

/* Its lines, as measure/heap.h has them. They are added whole or not at all: once the text is full
 * nothing follows. */
static void tell_process(struct buf *text, const struct heap_record *r,
                         const struct heap_sums *process, uint64_t window, const char *fault)
{
    struct buf name = BUF_INIT, own = BUF_INIT;

    text_neutral(&name, r->program, strnlen(r->program, sizeof r->program), 100);
    buf_printf(&own, "process=%d program=%s", (int)r->pid, name.data);
    say_sums(&own, process);
    for (uint32_t i = 0; i < windows_of(r); i++) {
        buf_printf(&own, "window=%" PRIu64, ++window);
        say_sums(&own, &r->windows[i]);
    }
    if (fault)
        buf_printf(&own, "fault=%s\n", fault);
    if (!text->overflow)
        buf_add(text, own.data, own.len);
    buf_release(&own);
    buf_release(&name);
}

static void take_process(struct heap_role *h, const struct heap_record *r, struct faults *faults,
                         struct buf *text)
{
    const struct heap_sums all = process_sums(r);
    const char *fault = fault_of(r);

    tell_process(text, r, &all, h->windows, fault);
    add_sums(&h->process, &all);
    for (uint32_t i = 0; i < windows_of(r); i++)
        add_sums(&h->marked, &r->windows[i]);
    h->windows += windows_of(r);
    if (fault)
        note_fault(faults, r, fault);
}

/* ---- a role ---- */

static struct value status_of(const struct heap_role *h, const struct faults *f,
                              const char *obstacle, size_t damaged, size_t records)
{
    if (f->marked)
        return value_none(VALUE_INVALID, f->marked);
    if (damaged)
        return value_none(VALUE_INVALID, "a record of a process is damaged");
    if (h->windows)
        return value_ok(0);
    if (obstacle)
        return value_none(VALUE_UNSUPPORTED, obstacle);
    if (records == 0)
        return value_none(VALUE_UNSUPPORTED, "the library that counts was in no process of it");
    if (f->any)
        return value_none(f->shadowed ? VALUE_UNSUPPORTED : VALUE_INVALID, f->any);
    return value_ok(0);
}

static void read_all(struct heap_role *h, int folder, const char *obstacle, struct arena *arena)
{
    struct heap_record *r = xmalloc(sizeof *r);
    struct buf text = BUF_INIT_MAX(TEXT_MAX);
    struct faults faults = {0};
    struct entry *entries;
    size_t count = list_records(folder, &entries), damaged = 0, records = 0;

    if (count > HEAP_PROCESSES_MAX) {
        h->status = value_none(VALUE_INVALID, "it had more processes than are counted");
    } else {
        for (size_t i = 0; i < count; i++) {
            enum found found = read_record(folder, &entries[i], r);

            damaged += found == FOUND_DAMAGE;
            records += found == FOUND_RECORD;
            if (found == FOUND_RECORD)
                take_process(h, r, &faults, &text);
        }
        h->status = text.overflow
                        ? value_none(VALUE_INVALID, "its records have more than 16 MiB of text")
                        : status_of(h, &faults, obstacle, damaged, records);
    }
    h->text = text.len ? arena_strdup(arena, text.data) : "";
    h->len = text.len;
    buf_release(&text);
    free(entries);
    free(r);
}

static void read_role(struct heap_role *h, const char *scratch, const struct role_outcome *role,
                      const char *obstacle, struct arena *arena)
{
    const char *path = arena_printf(arena, "%s/" HEAP_FOLDER "/%s", scratch, role->name);
    int folder;

    *h = (struct heap_role){.text = ""};
    if (role->end == ROLE_NOT_STARTED || role->end == ROLE_START_FAILED) {
        h->status = value_none(VALUE_MISSING, "no program was started");
        return;
    }
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder < 0) {
        h->status = value_none(VALUE_MISSING, "the folder of its records is gone");
        return;
    }
    read_all(h, folder, obstacle, arena);
    close(folder);
}

/* ---- all roles ---- */

struct heap_role *heap_read(const char *scratch, const struct outcome *o,
                            const char *const *obstacles, struct arena *arena)
{
    struct heap_role *roles = arena_array(arena, o->role_count, sizeof *roles);

    for (size_t i = 0; i < o->role_count; i++)
        read_role(&roles[i], scratch, &o->roles[i], obstacles[i], arena);
    return roles;
}

void heap_withhold(struct metric_list *f, const struct runner *runner)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct runner_metric *m = runner_find_metric(runner, f->items[i].name);

        if (!metric_is_heap(f->items[i].name) && !(m && m->counts))
            f->items[i].value = value_none(VALUE_NOT_COUNTED, SAMPLE_MEMORY_PASS);
    }
}

static void add(struct metric_list *f, const char *name, struct value value)
{
    metric_list_add(f, name, metric_find(name)->unit, value, 0);
}

/* Bytes and calls are of one heap: where the runner tells one of them, the other is not of another.
 */
static bool is_told(struct metric_list *f)
{
    const struct value none =
        value_none(VALUE_UNSUPPORTED, "the runner's own counter has no such figure");

    if (!metric_list_find(f, "heap_bytes") && !metric_list_find(f, "heap_calls"))
        return false;
    add(f, "heap_bytes", none);
    add(f, "heap_calls", none);
    return true;
}

void heap_derive(struct metric_list *f, const struct heap_role *roles, size_t count)
{
    struct heap_sums marked = {0}, process = {0}, *sums;
    uint64_t windows = 0;

    if (is_told(f))
        return;
    for (size_t i = 0; i < count; i++) {
        if (roles[i].status.status != VALUE_OK) {
            add(f, "heap_bytes", roles[i].status);
            add(f, "heap_calls", roles[i].status);
            return;
        }
        windows += roles[i].windows;
        add_sums(&marked, &roles[i].marked);
        add_sums(&process, &roles[i].process);
    }
    sums = windows ? &marked : &process;
    add(f, "heap_bytes", value_ok((double)sums->bytes));
    add(f, "heap_calls", value_ok((double)sums->calls));
}
