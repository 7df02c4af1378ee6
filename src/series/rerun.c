#include "series/rerun.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/verify.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/version.h"
#include "plan/plan.h"
#include "plan/profiles.h"
#include "plan/program.h"
#include "plan/variants.h"
#include "series/at_hand.h"
#include "series/keep.h"

static int open_whole(struct rerun *r, const char *folder, struct err *err)
{
    if (archive_open(&r->archive, folder, err) < 0)
        return err->code == ERR_UNFINISHED ? err_hint(err, "run the series anew") : -1;
    if (r->archive->plan->import)
        return err_set(err, ERR_CONFIG, "archive '%s' was imported: it holds no plan to run",
                       folder);
    if (archive_verify(r->archive, NULL, err) < 0)
        return err->code == ERR_UNFINISHED ? err_hint(err, "abba resume finishes it") : -1;
    return 0;
}

static void differs(struct strings *out, struct arena *arena, const char *what, const char *now,
                    const char *then)
{
    strings_add(out, arena,
                arena_printf(arena, "%s has SHA-256 %.16s..., had %.16s...", what, now, then));
}

/* ---- what the archive kept ---- */

static int make_folder(struct rerun *r, const char *sub, const char **folder, struct arena *arena,
                       struct err *err)
{
    const char *tmp = getenv("TMPDIR");

    if (!r->taken_out[0]) {
        snprintf(r->taken_out, sizeof r->taken_out, "%s/abba-XXXXXX",
                 tmp && tmp[0] == '/' && strlen(tmp) < 40 ? tmp : "/tmp");
        if (!mkdtemp(r->taken_out)) {
            r->taken_out[0] = '\0';
            return err_sys(err, ERR_SYSTEM, errno, "cannot make a folder for kept programs");
        }
    }
    *folder = files_join(arena, r->taken_out, sub);
    return files_mkdirs(*folder, err);
}

static size_t variant_place(const struct rerun *r, const struct variant *v)
{
    return (size_t)(v - r->plan.variants);
}

/* Everything that is found here and written into the plan is the plan's own. */
static void own_files(struct variant *v, struct arena *arena)
{
    struct variant_file *files = arena_array(arena, v->file_count, sizeof *files);

    if (v->file_count)
        memcpy(files, v->files, v->file_count * sizeof *files);
    v->files = files;
}

static struct variant copy_of(const struct variant *v, struct arena *arena)
{
    struct variant copy = *v;

    own_files(&copy, arena);
    copy.roles = arena_array(arena, v->role_count, sizeof *copy.roles);
    if (v->role_count)
        memcpy(copy.roles, v->roles, v->role_count * sizeof *copy.roles);
    for (size_t i = 0; i < v->role_count; i++)
        own_files(&copy.roles[i].part, arena);
    return copy;
}

static void forget_part(struct variant *v)
{
    v->sha256[0] = '\0';
    for (size_t i = 0; i < v->file_count; i++)
        v->files[i].sha256[0] = '\0';
}

static void compare_part(const struct variant *then, const struct variant *now, struct strings *out,
                         struct arena *arena)
{
    if (strcmp(then->sha256, now->sha256) != 0)
        differs(out, arena, arena_printf(arena, "program '%s'", now->path), now->sha256,
                then->sha256);
    for (size_t i = 0; i < then->file_count; i++)
        if (strcmp(then->files[i].sha256, now->files[i].sha256) != 0)
            differs(out, arena, arena_printf(arena, "file '%s'", now->files[i].path),
                    now->files[i].sha256, then->files[i].sha256);
}

static bool part_is_kept(const struct rerun *r, const struct variant *v, struct arena *arena)
{
    bool kept = keep_find(r->archive, v->sha256, arena) != NULL;

    for (size_t i = 0; i < v->file_count; i++)
        kept = kept && keep_find(r->archive, v->files[i].sha256, arena);
    return kept;
}

static bool variant_is_kept(const struct rerun *r, const struct variant *v, struct arena *arena)
{
    bool kept = part_is_kept(r, v, arena);

    for (size_t i = 0; i < v->role_count; i++)
        kept = kept && part_is_kept(r, &v->roles[i].part, arena);
    return kept;
}

/* Under their own names, in a folder of their own: programs look at theirs. */
static int use_kept_part(struct rerun *r, struct variant *v, const char *program,
                         const char *folder_name, struct arena *arena, struct err *err)
{
    const char *folder, *name = files_basename(program);

    if (make_folder(r, folder_name, &folder, arena, err) < 0 ||
        keep_take_out(r->archive, v->sha256, folder, name, err) < 0)
        return -1;
    v->path = files_join(arena, folder, name);
    for (size_t i = 0; i < v->file_count; i++) {
        struct variant_file *f = &v->files[i];
        const char *sub, *in = arena_printf(arena, "%s.file%zu", folder_name, i);

        if (make_folder(r, in, &sub, arena, err) < 0 ||
            keep_take_out(r->archive, f->sha256, sub, files_basename(f->file), err) < 0)
            return -1;
        f->path = files_join(arena, sub, files_basename(f->file));
    }
    return 0;
}

static int use_kept(struct rerun *r, struct variant *v, struct arena *arena, struct err *err)
{
    const struct runner *runner = plan_runner(&r->plan, &r->plan.profiles[0], v);
    const char *program = v->program ? v->program : runner->program;
    size_t place = variant_place(r, v);

    if (use_kept_part(r, v, program, arena_printf(arena, "%zu", place), arena, err) < 0)
        return -1;
    for (size_t i = 0; i < v->role_count; i++) {
        struct variant *part = &v->roles[i].part;

        part->name = v->name;
        part->runner = v->runner;
        if (use_kept_part(r, part, part->program ? part->program : program,
                          arena_printf(arena, "%zu.role%zu", place, i), arena, err) < 0)
            return -1;
    }
    strings_add(&r->kept, arena,
                arena_printf(arena, "program '%s' of '%s'%s is the archive's copy",
                             files_basename(program), v->name,
                             v->file_count + v->role_count ? ", with its files," : ""));
    return 0;
}

/* What a variant brings as it is here, else the archive's, else a difference. */
static int find_variant(struct rerun *r, struct variant *v, struct arena *arena, struct err *err)
{
    const struct variant then = copy_of(v, arena);
    struct strings found = {0};
    int rc;

    if (variant_lacks_secret(v))
        return err_set(err, ERR_CONFIG, "variant '%s' was given a secret, and archives hold none",
                       v->name);
    forget_part(v);
    for (size_t i = 0; i < v->role_count; i++)
        forget_part(&v->roles[i].part);
    rc = variant_resolve_program(&r->plan, v, arena, err);
    if (rc == 0) {
        compare_part(&then, v, &found, arena);
        for (size_t i = 0; i < v->role_count; i++)
            compare_part(&then.roles[i].part, &v->roles[i].part, &found, arena);
        if (found.count == 0)
            return 0;
    }
    if (variant_is_kept(r, &then, arena)) {
        *v = copy_of(&then, arena);
        return use_kept(r, v, arena, err);
    }
    for (size_t i = 0; i < found.count; i++)
        strings_add(&r->differs, arena,
                    arena_printf(arena, "variant '%s': %s", v->name, found.items[i]));
    return rc;
}

static int find_input(struct rerun *r, struct arena *arena, struct err *err)
{
    struct plan *p = &r->plan;
    char then[sizeof p->input_sha256];
    int rc;

    if (!p->input)
        return 0;
    memcpy(then, p->input_sha256, sizeof then);
    rc = plan_find_input(p, p->input_sha256, arena, err);
    if (rc == 0 && strcmp(then, p->input_sha256) == 0)
        return 0;
    if (keep_find(r->archive, then, arena)) {
        memcpy(p->input_sha256, then, sizeof then);
        p->input_path = keep_find(r->archive, then, arena);
        strings_add(&r->kept, arena, "the input is the archive's copy");
        return 0;
    }
    if (rc == 0)
        differs(&r->differs, arena, arena_printf(arena, "input '%s'", p->input_path),
                p->input_sha256, then);
    return rc;
}

/* The library of memory passes: the one that is here, else the archive's, else a difference. */
static int find_heap_library(struct rerun *r, struct arena *arena, struct err *err)
{
    struct plan *p = &r->plan;
    char then[sizeof p->heap_sha256];
    const char *folder;

    memcpy(then, p->heap_sha256, sizeof then);
    if (!then[0])
        return 0;
    int rc = plan_find_heap_library(p, p->heap_sha256, arena, err);
    if (rc == 0 && strcmp(then, p->heap_sha256) == 0)
        return 0;
    if (keep_find(r->archive, then, arena)) {
        if (make_folder(r, "heap", &folder, arena, err) < 0 ||
            keep_take_out(r->archive, then, folder, "libabba-heap.so", err) < 0)
            return -1;
        memcpy(p->heap_sha256, then, sizeof then);
        p->heap_library = files_join(arena, folder, "libabba-heap.so");
        strings_add(&r->kept, arena, "the library that counts allocations is the archive's copy");
        return 0;
    }
    if (rc == 0)
        differs(&r->differs, arena, arena_printf(arena, "library '%s'", p->heap_library),
                p->heap_sha256, then);
    return rc;
}

/* ---- libraries ---- */

static bool is_loader(const struct loaded_file *f)
{
    return strncmp(f->soname, "ld-", 3) == 0 || strncmp(f->soname, "ld64", 4) == 0;
}

/* A script or a static program cannot be started through a loader, and gets nothing then. */
static void set_libraries(struct variant *v, const char *folder, const char *loader)
{
    if (loader && !program_is_dynamic(v->path))
        return;
    v->library_path = folder;
    v->loader = loader;
}

/* Puts the libraries that a variant was seen with into a folder of its own. */
static int use_kept_libraries(struct rerun *r, struct variant *v, bool loader, struct arena *arena,
                              struct err *err)
{
    const struct loaded *l = r->archive->loaded;
    const char *folder, *with = NULL;

    if (make_folder(r, arena_printf(arena, "%zu.lib", variant_place(r, v)), &folder, arena, err) <
        0)
        return -1;
    for (size_t i = 0; i < l->role_count; i++)
        for (size_t k = 0; k < l->roles[i].file_count; k++) {
            const struct loaded_file *f = &l->files[l->roles[i].files[k]];

            if (strcmp(l->roles[i].variant, v->name) != 0 || !f->soname || !f->sha256 ||
                strchr(f->soname, '/') || files_exists(files_join(arena, folder, f->soname)))
                continue;
            if (keep_take_out(r->archive, f->sha256, folder, f->soname, err) < 0)
                return -1;
            if (loader && is_loader(f))
                with = files_join(arena, folder, f->soname);
        }
    set_libraries(v, folder, with);
    for (size_t i = 0; i < v->role_count; i++)
        set_libraries(&v->roles[i].part, folder, with);
    return 0;
}

static int use_libraries(struct rerun *r, bool loader, struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < r->plan.variant_count; i++)
        if (use_kept_libraries(r, &r->plan.variants[i], loader, arena, err) < 0)
            return -1;
    strings_add(&r->kept, arena,
                loader
                    ? "libraries and their loader are the archive's copies; programs are started "
                      "through that loader, which costs a little of their start, and what they "
                      "start themselves uses this machine's"
                    : "libraries are the archive's copies, by LD_LIBRARY_PATH");
    return 0;
}

static bool part_brings(const struct variant *v, const char *sha256)
{
    for (size_t i = 0; i < v->file_count; i++)
        if (strcmp(v->files[i].sha256, sha256) == 0)
            return true;
    return strcmp(v->sha256, sha256) == 0;
}

/* Whether a variant brings the file, or abba for a memory pass: that was looked at. */
static bool is_brought(const struct plan *p, const struct loaded_file *f)
{
    if (f->sha256 && strcmp(p->heap_sha256, f->sha256) == 0)
        return true;
    for (size_t i = 0; f->sha256 && i < p->variant_count; i++) {
        const struct variant *v = &p->variants[i];

        if (part_brings(v, f->sha256))
            return true;
        for (size_t k = 0; k < v->role_count; k++)
            if (part_brings(&v->roles[k].part, f->sha256))
                return true;
    }
    return false;
}

/* Libraries and other files that ran: the variants' programs were looked at. */
static int look_at_loaded(struct rerun *r, struct arena *arena, struct err *err)
{
    const struct loaded *l = r->archive->loaded;
    bool libraries = false, loader = false;

    if (!l) {
        strings_add(&r->notes, arena, "the archive does not say which libraries ran");
        return 0;
    }
    for (size_t i = 0; i < l->file_count; i++) {
        const struct loaded_file *f = &l->files[i];
        const char *fault = is_brought(r->archive->plan, f) ? NULL : at_hand_fault(f, arena);

        if (fault && f->soname && keep_find(r->archive, f->sha256, arena)) {
            libraries = true;
            loader = loader || is_loader(f);
        } else if (fault) {
            strings_add(&r->differs, arena, fault);
        }
    }
    return libraries ? use_libraries(r, loader, arena, err) : 0;
}

/* Whether a file of that name ran then, and none of that content did. */
static bool is_stranger(const struct loaded *then, const struct loaded_file *f)
{
    bool name = false;

    for (size_t i = 0; i < then->file_count; i++) {
        const struct loaded_file *t = &then->files[i];

        if (!t->sha256 || !f->sha256)
            continue;
        if (strcmp(t->sha256, f->sha256) == 0)
            return false;
        name = name || strcmp(files_basename(t->path), files_basename(f->path)) == 0;
    }
    return name;
}

void rerun_strangers(const struct loaded *then, const struct loaded *now, struct strings *out,
                     struct arena *arena)
{
    for (size_t i = 0; then && now && i < now->file_count; i++)
        if (is_stranger(then, &now->files[i]))
            strings_add(out, arena,
                        arena_printf(arena,
                                     "'%s' ran, which is not the file of that name that ran "
                                     "then",
                                     now->files[i].path));
}

static void look_at_tool(struct rerun *r, struct arena *arena)
{
    const struct archive *a = r->archive;
    const char *then = a->loaded ? a->loaded->tool_sha256 : NULL;
    struct err ignored = {0};
    char now[DIGEST_HEX];

    if (strncmp(a->tool, "abba ", 5) != 0 || strcmp(a->tool + 5, abba_version()) != 0)
        strings_add(
            &r->notes, arena,
            arena_printf(arena, "it was measured by %s, this is abba %s", a->tool, abba_version()));
    else if (then && digest_sha256_file("/proc/self/exe", now, NULL, &ignored) == 0 &&
             strcmp(then, now) != 0)
        strings_add(&r->notes, arena, "it was measured by another build of this abba");
    if (r->notes.count > 0 && then && keep_find(a, then, arena))
        strings_add(&r->notes, arena,
                    arena_printf(arena, "the abba that measured it is kept as '%s'",
                                 keep_find(a, then, arena)));
}

/* A profile that was run is run again, or nothing is. */
static int check_profiles(const struct plan *p, struct err *err)
{
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof allowed, &allowed) < 0)
        return 0;
    for (size_t i = 0; i < p->profile_count; i++) {
        const char *missing = profile_missing_cpus(&p->profiles[i], &allowed);

        if (missing)
            return err_set(err, ERR_CONFIG,
                           "profile '%s': not all of its CPUs (%s) may be used here",
                           p->profiles[i].name, missing);
    }
    return 0;
}

static int make_ready(struct rerun *r, const char *isolation, struct arena *arena, struct err *err)
{
    struct plan *p = &r->plan;

    *p = *r->archive->plan;
    p->variants = arena_array(arena, p->variant_count, sizeof *p->variants);
    for (size_t i = 0; i < p->variant_count; i++) {
        p->variants[i] = copy_of(&r->archive->plan->variants[i], arena);
        if (find_variant(r, &p->variants[i], arena, err) < 0)
            return -1;
    }
    if (find_input(r, arena, err) < 0 || find_heap_library(r, arena, err) < 0 ||
        check_profiles(p, err) < 0)
        return -1;
    if (look_at_loaded(r, arena, err) < 0)
        return -1;
    look_at_tool(r, arena);
    if (strcmp(p->isolation, isolation) != 0)
        strings_add(&r->differs, arena,
                    arena_printf(arena, "isolation was %s, is %s", p->isolation, isolation));
    p->isolation = isolation;
    return plan_seal(p, err);
}

int rerun_open(struct rerun *r, const char *folder, const char *isolation, struct arena *arena,
               struct err *err)
{
    *r = (struct rerun){0};
    return open_whole(r, folder, err) < 0 ? -1 : make_ready(r, isolation, arena, err);
}

void rerun_close(struct rerun *r)
{
    struct err ignored = {0};

    if (r->taken_out[0])
        (void)files_remove_tree(r->taken_out, &ignored);
    archive_close(r->archive);
    *r = (struct rerun){0};
}
