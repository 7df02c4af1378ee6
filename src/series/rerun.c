#include "series/rerun.h"

#include <sched.h>
#include <string.h>

#include "archive/verify.h"
#include "base/digest.h"
#include "base/mem.h"
#include "base/version.h"
#include "plan/plan.h"
#include "plan/profiles.h"
#include "plan/variants.h"
#include "series/at_hand.h"

static int open_whole(struct rerun *r, const char *folder, struct err *err)
{
    if (archive_open(&r->archive, folder, ROLES_OF_ALL, err) < 0)
        return err->code == ERR_UNFINISHED ? err_hint(err, "run the series anew") : -1;
    if (r->archive->plan->import)
        return err_set(err, ERR_CONFIG, "archive '%s' was imported: it holds no plan to run",
                       folder);
    if (archive_verify(r->archive, NULL, err) < 0)
        return err->code == ERR_UNFINISHED ? err_hint(err, "abba resume finishes it") : -1;
    return 0;
}

static void differs(struct rerun *r, struct arena *arena, const char *what, const char *now,
                    const char *then)
{
    strings_add(&r->differs, arena,
                arena_printf(arena, "%s has SHA-256 %.16s..., had %.16s...", what, now, then));
}

/* The program of a variant as it is here, whatever the archive says of it. */
static int find_program(struct rerun *r, struct variant *v, struct arena *arena, struct err *err)
{
    char then[sizeof v->sha256];

    memcpy(then, v->sha256, sizeof then);
    v->sha256[0] = '\0';
    if (variant_resolve_program(&r->plan, v, arena, err) < 0)
        return -1;
    if (strcmp(then, v->sha256) != 0)
        differs(r, arena, arena_printf(arena, "program '%s' of '%s'", v->path, v->name), v->sha256,
                then);
    return 0;
}

static int find_input(struct rerun *r, struct arena *arena, struct err *err)
{
    struct plan *p = &r->plan;
    char then[sizeof p->input_sha256];

    if (!p->input)
        return 0;
    memcpy(then, p->input_sha256, sizeof then);
    if (plan_find_input(p, p->input_sha256, arena, err) < 0)
        return -1;
    if (strcmp(then, p->input_sha256) != 0)
        differs(r, arena, arena_printf(arena, "input '%s'", p->input_path), p->input_sha256, then);
    return 0;
}

/* Libraries and the like: the programs themselves were looked at. */
static void look_at_loaded(struct rerun *r, struct arena *arena)
{
    const struct plan *p = r->archive->plan;
    struct loaded others;

    if (!r->archive->loaded) {
        strings_add(&r->notes, arena, "the archive does not say which libraries ran");
        return;
    }
    others = *r->archive->loaded;
    others.files = arena_array(arena, others.file_count, sizeof *others.files);
    others.file_count = 0;
    for (size_t i = 0; i < r->archive->loaded->file_count; i++) {
        const struct loaded_file *f = &r->archive->loaded->files[i];
        bool program = false;

        for (size_t v = 0; f->sha256 && v < p->variant_count; v++)
            program = program || strcmp(p->variants[v].sha256, f->sha256) == 0;
        if (!program)
            others.files[others.file_count++] = *f;
    }
    at_hand_differences(&others, &r->differs, arena);
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
    memcpy(p->variants, r->archive->plan->variants, p->variant_count * sizeof *p->variants);
    for (size_t i = 0; i < p->variant_count; i++)
        if (find_program(r, &p->variants[i], arena, err) < 0)
            return -1;
    if (find_input(r, arena, err) < 0 || check_profiles(p, err) < 0)
        return -1;
    look_at_loaded(r, arena);
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
    archive_close(r->archive);
    *r = (struct rerun){0};
}
