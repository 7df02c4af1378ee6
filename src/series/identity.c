#include "series/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/reader.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/elf.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/version.h"

#define RUNS_ENOUGH 16 /* in which all roles were seen, where each shows something new */
#define UNSEEN "it ended before it could be looked at"
#define SHORT_NS ((uint64_t)(50 * NSEC_PER_MSEC)) /* runs that ticks of 5 ms see only in part */
#define LONG_NS ((uint64_t)NSEC_PER_SEC)          /* runs of which one more costs too much */

/* What a file was when it was seen, beside its record. */
struct sight {
    uint64_t inode;
    uint64_t size;
    int64_t mtime_ns;
};

struct identity {
    const struct plan *plan;
    struct programs *programs;
    struct loaded record;
    struct sight *sights; /* of record.files */
    size_t file_room, role_room;
    size_t *role_places; /* room of each role's list of files */
    struct sought {
        unsigned seen;    /* runs that showed every role; RUNS_ENOUGH: enough */
        uint64_t took_ns; /* the shortest run; 0: none came to its end */
        bool all_seen;    /* every role is in the record */
        bool traced;
    } * sought; /* profile by variant */
    struct arena arena;
};

/* ---- files ---- */

/* Checksum and facts of an open file; the checksum is `known`, or is made. */
static int read_file(int fd, const char *path, const char *known, struct loaded_file *f,
                     struct arena *arena, struct err *err)
{
    char hex[DIGEST_HEX];
    struct elf_facts facts;

    if (!known && digest_sha256_fd(fd, path, hex, &f->size_bytes, err) < 0)
        return -1;
    f->sha256 = arena_strdup(arena, known ? known : hex);
    elf_look(fd, &facts, arena);
    f->build_id = facts.build_id;
    f->soname = facts.soname;
    f->package = facts.package;
    f->compilers = facts.compilers;
    return 0;
}

static bool is_as_seen(const struct stat *st, const struct mapped_file *m)
{
    return (uint64_t)st->st_dev == m->device && (uint64_t)st->st_ino == m->real_inode &&
           (uint64_t)st->st_size == m->size &&
           st->st_mtim.tv_sec * NSEC_PER_SEC + st->st_mtim.tv_nsec == m->mtime_ns;
}

static void changed(struct identity *id, struct loaded_file *f)
{
    char text[512];

    snprintf(text, sizeof(text), "'%.400s' changed while it ran", f->path);
    f->reason = "it changed while it ran";
    programs_changed(id->programs, text);
}

/* What the path leads to must be what was mapped, before and after it is read. */
static void read_seen(struct identity *id, const struct mapped_file *m, struct loaded_file *f)
{
    struct stat before, after;
    struct err err = {0};
    int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0 || fstat(fd, &before) != 0) {
        f->reason = arena_printf(&id->arena, "it cannot be read: %s", strerror(errno));
    } else if (!is_as_seen(&before, m)) {
        changed(id, f);
    } else if (read_file(fd, f->path, programs_sha256(id->programs, &before), f, &id->arena, &err) <
               0) {
        f->reason = arena_printf(&id->arena, "it cannot be read: %s", strerror(err.sys_errno));
    } else if (fstat(fd, &after) != 0 || !is_as_seen(&after, m)) {
        f->sha256 = NULL;
        f->size_bytes = 0;
        changed(id, f);
    } else {
        f->size_bytes = m->size;
        programs_watch(id->programs, "file", f->path, f->sha256, &after);
    }
    if (fd >= 0)
        close(fd);
}

static void look_at_file(struct identity *id, const struct mapped_file *m, struct loaded_file *f)
{
    f->path = arena_strdup(&id->arena, m->path);
    switch (m->state) {
    case MAPPED_HERE:
        read_seen(id, m, f);
        break;
    case MAPPED_DELETED:
        f->reason = "it has no path: made in memory, or deleted while it ran";
        break;
    case MAPPED_ELSEWHERE:
        f->reason = "its path leads elsewhere: replaced while it ran, or seen under another root";
        break;
    }
}

/* Room for one more file, which is empty. */
static struct loaded_file *file_add(struct identity *id)
{
    struct loaded *l = &id->record;

    if (l->file_count == id->file_room) {
        id->file_room = id->file_room ? 2 * id->file_room : 32;
        l->files = xreallocarray(l->files, id->file_room, sizeof(*l->files));
        id->sights = xreallocarray(id->sights, id->file_room, sizeof(*id->sights));
    }
    id->sights[l->file_count] = (struct sight){0};
    l->files[l->file_count] = (struct loaded_file){0};
    return &l->files[l->file_count];
}

/*
 * The place of an equal file that the archive brought and that has not been seen since, or
 * file_count. Its path may have lost a name.
 */
static size_t place_before(const struct identity *id, const struct loaded_file *f)
{
    const struct loaded *l = &id->record;

    for (size_t i = 0; i < l->file_count; i++)
        if (id->sights[i].inode == 0 && f->sha256 && l->files[i].sha256 &&
            strcmp(f->sha256, l->files[i].sha256) == 0 &&
            strcmp(files_basename(f->path), files_basename(l->files[i].path)) == 0)
            return i;
    return l->file_count;
}

/* The place of a file in the record; a new one is read. */
static size_t file_place(struct identity *id, const struct mapped_file *m)
{
    struct loaded *l = &id->record;
    size_t place;

    for (size_t i = 0; i < l->file_count; i++)
        if (id->sights[i].inode == m->inode && id->sights[i].size == m->size &&
            id->sights[i].mtime_ns == m->mtime_ns && strcmp(l->files[i].path, m->path) == 0)
            return i;
    look_at_file(id, m, file_add(id));
    place = place_before(id, &l->files[l->file_count]);
    id->sights[place] = (struct sight){m->inode, m->size, m->mtime_ns};
    if (place == l->file_count)
        l->file_count++;
    return place;
}

/* ---- roles ---- */

static size_t role_place(struct identity *id, const char *variant, const char *profile,
                         const char *role)
{
    struct loaded *l = &id->record;

    for (size_t i = l->role_count; i-- > 0;)
        if (l->roles[i].variant == variant && l->roles[i].profile == profile &&
            strcmp(l->roles[i].role, role) == 0)
            return i;
    if (l->role_count == id->role_room) {
        id->role_room = id->role_room ? 2 * id->role_room : 16;
        l->roles = xreallocarray(l->roles, id->role_room, sizeof(*l->roles));
        id->role_places = xreallocarray(id->role_places, id->role_room, sizeof(*id->role_places));
    }
    l->roles[l->role_count] = (struct loaded_role){
        .variant = variant, .profile = profile, .role = role, .reason = UNSEEN};
    id->role_places[l->role_count] = 0;
    return l->role_count++;
}

/* Enters a file in the role's ascending list. False: it is there. */
static bool enter(struct identity *id, size_t role, size_t place)
{
    struct loaded_role *r = &id->record.roles[role];
    size_t at = r->file_count;

    while (at > 0 && r->files[at - 1] > place)
        at--;
    if (at > 0 && r->files[at - 1] == place)
        return false;
    if (r->file_count == id->role_places[role]) {
        id->role_places[role] = r->file_count ? 2 * r->file_count : 8;
        r->files = xreallocarray(r->files, id->role_places[role], sizeof(*r->files));
    }
    memmove(&r->files[at + 1], &r->files[at], (r->file_count - at) * sizeof(*r->files));
    r->files[at] = place;
    r->file_count++;
    return true;
}

static const char *why_unseen(struct identity *id, const struct role_outcome *o)
{
    if (o->trace_errno != 0)
        return arena_printf(&id->arena, UNSEEN ", and it cannot be traced: %s",
                            strerror(o->trace_errno));
    if (o->end == ROLE_NOT_STARTED || o->end == ROLE_START_FAILED)
        return "it did not start";
    if (o->look_errno != 0)
        return arena_printf(&id->arena, "its memory map cannot be read: %s",
                            strerror(o->look_errno));
    return UNSEEN;
}

/* True if the role has something new. */
static bool take_role(struct identity *id, size_t place, uint64_t run, const struct role_outcome *o)
{
    bool news = false;
    struct loaded_role *r = &id->record.roles[place];

    if (o->mapped_count == 0) {
        const char *why = r->file_count > 0 ? NULL : why_unseen(id, o);

        if (why && strcmp(why, UNSEEN) == 0 && strncmp(r->reason, UNSEEN, strlen(UNSEEN)) == 0)
            why = r->reason; /* which may say more: it was tried to trace it */
        news = why && strcmp(why, r->reason) != 0;
        r->reason = why;
        return news;
    }
    if (r->run == 0)
        r->run = run;
    r->reason = NULL;
    r->looks += o->looks;
    for (size_t i = 0; i < o->mapped_count; i++)
        news |= enter(id, place, file_place(id, &o->mapped[i]));
    return news;
}

static struct sought *sought_of(const struct identity *id, size_t profile, size_t variant)
{
    return &id->sought[profile * id->plan->variant_count + variant];
}

bool identity_wants(const struct identity *id, size_t profile, size_t variant)
{
    return sought_of(id, profile, variant)->seen < RUNS_ENOUGH;
}

/* The roles of a run, one by one; `run` is 0 where it was traced. */
static bool take_roles(struct identity *id, size_t profile, size_t variant, uint64_t run,
                       const struct outcome *outcome, bool *all)
{
    const struct profile *p = &id->plan->profiles[profile];
    const struct variant *v = &id->plan->variants[variant];
    const struct runner *runner = plan_runner(id->plan, p, v);
    struct sought *sought = sought_of(id, profile, variant);
    bool news = false;

    ABBA_ASSERT(runner->role_count == outcome->role_count);
    *all = sought->all_seen = true;
    for (size_t i = 0; i < outcome->role_count; i++) {
        size_t place = role_place(id, v->name, p->name, runner->roles[i].name);

        news |= take_role(id, place, run, &outcome->roles[i]);
        id->record.roles[place].traced |= run == 0 && outcome->roles[i].looks > 0;
        *all &= outcome->roles[i].looks > 0;
        sought->all_seen &= id->record.roles[place].file_count > 0;
    }
    return news;
}

bool identity_take(struct identity *id, size_t profile, size_t variant, uint64_t run,
                   const struct outcome *outcome)
{
    size_t before = id->record.role_count;
    struct sought *sought = sought_of(id, profile, variant);
    bool all, news = take_roles(id, profile, variant, run, outcome, &all);

    if (outcome->end == RUN_DONE && (sought->took_ns == 0 || outcome->wall_ns < sought->took_ns))
        sought->took_ns = outcome->wall_ns;
    if (all)
        sought->seen = news ? sought->seen + 1 : RUNS_ENOUGH;
    return news || id->record.role_count > before;
}

bool identity_wants_traced(const struct identity *id, size_t profile, size_t variant)
{
    const struct sought *sought = sought_of(id, profile, variant);

    return !sought->traced && sought->took_ns > 0 &&
           sought->took_ns < (sought->all_seen ? SHORT_NS : LONG_NS);
}

void identity_take_traced(struct identity *id, size_t profile, size_t variant,
                          const struct outcome *outcome)
{
    struct sought *sought = sought_of(id, profile, variant);
    bool all;

    sought->traced = true;
    take_roles(id, profile, variant, 0, outcome, &all);
    if (all)
        sought->seen = RUNS_ENOUGH;
}

const struct loaded *identity_record(const struct identity *id)
{
    return &id->record;
}

/* ---- the whole ---- */

static void look_at_self(struct identity *id)
{
    struct loaded_file self = {0};
    struct err ignored = {0};
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    id->record.tool = arena_printf(&id->arena, "abba %s", abba_version());
    if (fd >= 0 && read_file(fd, "abba", NULL, &self, &id->arena, &ignored) == 0) {
        id->record.tool_sha256 = self.sha256;
        id->record.tool_build_id = self.build_id;
    }
    if (fd >= 0)
        close(fd);
}

struct identity *identity_new(const struct plan *plan, struct programs *programs)
{
    struct identity *id = xcalloc(1, sizeof(*id));

    arena_init(&id->arena);
    id->plan = plan;
    id->programs = programs;
    id->sought = xcalloc(plan->profile_count * plan->variant_count + 1, sizeof(*id->sought));
    look_at_self(id);
    return id;
}

/* The plan's own texts, which are compared as pointers; false: not in the plan. */
static bool plan_names(const struct identity *id, const char **variant, const char **profile,
                       const char **role)
{
    const struct profile *p = plan_find_profile(id->plan, *profile);
    const struct variant *v = NULL;

    for (size_t i = 0; i < id->plan->variant_count; i++)
        if (strcmp(id->plan->variants[i].name, *variant) == 0)
            v = &id->plan->variants[i];
    if (!p || !v)
        return false;
    const struct runner *r = plan_runner(id->plan, p, v);

    *profile = p->name;
    *variant = v->name;
    for (size_t i = 0; i < r->role_count; i++)
        if (strcmp(r->roles[i].name, *role) == 0) {
            *role = r->roles[i].name;
            return true;
        }
    return false;
}

static void take_over_roles(struct identity *id, const struct archive *a)
{
    for (size_t i = 0; i < a->loaded->role_count; i++) {
        const struct loaded_role *before = &a->loaded->roles[i];
        const char *variant = before->variant, *profile = before->profile, *role = before->role;

        if (before->run > a->sample_count || !plan_names(id, &variant, &profile, &role))
            continue;
        size_t place = role_place(id, variant, profile, role);
        struct loaded_role *r = &id->record.roles[place];

        r->run = before->run;
        r->looks = before->looks;
        r->traced = before->traced;
        r->reason = before->reason;
        for (size_t k = 0; k < before->file_count; k++)
            enter(id, place, before->files[k]);
    }
}

/* Abba may have ended between a run's line and its record. */
static void add_unnoted_roles(struct identity *id, const struct archive *a)
{
    for (size_t i = 0; i < archive_role_count(a); i++) {
        struct archive_role r = *archive_role(a, i);

        if (plan_names(id, &r.variant, &r.profile, &r.role))
            role_place(id, r.variant, r.profile, r.role);
    }
}

void identity_go_on(struct identity *id, const struct archive *a)
{
    if (a->loaded) {
        for (size_t i = 0; i < a->loaded->file_count; i++) {
            *file_add(id) = a->loaded->files[i];
            id->record.file_count++;
        }
        take_over_roles(id, a);
    }
    add_unnoted_roles(id, a);
}

void identity_free(struct identity *id)
{
    if (!id)
        return;
    for (size_t i = 0; i < id->record.role_count; i++)
        free(id->record.roles[i].files);
    free(id->record.roles);
    free(id->record.files);
    free(id->role_places);
    free(id->sights);
    free(id->sought);
    arena_release(&id->arena);
    free(id);
}
