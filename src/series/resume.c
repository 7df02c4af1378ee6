#include "series/resume.h"

#include <string.h>

#include "archive/mend.h"
#include "archive/verify.h"
#include "archive/writer.h"
#include "base/digest.h"
#include "base/mem.h"
#include "base/version.h"
#include "plan/plan.h"
#include "series/at_hand.h"

/*
 * The lines at the end whose files a power cut took do not count. A finished archive was synced:
 * what lacks there is damage.
 */
static int leave_out_lost(struct resumption *r, struct err *err)
{
    struct archive *a = r->archive;
    size_t whole;

    if (a->finished)
        return 0;
    if (mend_whole_samples(a, &whole, err) < 0)
        return -1;
    r->lost = a->sample_count - whole;
    a->sample_count = whole;
    return 0;
}

/* What was first seen in a run that does not count any more was not seen. */
static void forget_lost_roles(struct resumption *r, struct arena *arena)
{
    const struct archive *a = r->archive;
    struct loaded *l;

    if (!a->loaded)
        return;
    l = arena_alloc(arena, sizeof *l);
    *l = *a->loaded;
    l->roles = arena_array(arena, l->role_count, sizeof *l->roles);
    l->role_count = 0;
    for (size_t i = 0; i < a->loaded->role_count; i++)
        if (a->loaded->roles[i].run <= a->sample_count)
            l->roles[l->role_count++] = a->loaded->roles[i];
    r->archive->loaded = l;
}

static int check_archive(struct resumption *r, struct arena *arena, struct err *err)
{
    if (leave_out_lost(r, err) < 0)
        return -1;
    forget_lost_roles(r, arena);
    if (archive_verify(r->archive, NULL, err) < 0 && err->code != ERR_UNFINISHED)
        return -1;
    if (sequence_next(r->archive, &r->next, err) < 0)
        return -1;
    r->left = sequence_left(r->archive->plan, &r->next);
    return 0;
}

/* Another abba may measure otherwise. */
static int check_tool(const struct archive *a, struct err *err)
{
    const char *then = a->loaded ? a->loaded->tool_sha256 : NULL;
    char now[DIGEST_HEX];
    struct err ignored = {0};

    if (strncmp(a->tool, "abba ", 5) != 0 || strcmp(a->tool + 5, abba_version()) != 0)
        err_set(err, ERR_CONFIG, "'%s' was begun by %s, and this is abba %s", a->folder, a->tool,
                abba_version());
    else if (then && digest_sha256_file("/proc/self/exe", now, NULL, &ignored) == 0 &&
             strcmp(then, now) != 0)
        err_set(err, ERR_CONFIG,
                "'%s' was begun by another build of abba: its SHA-256 was %.16s..., is %.16s...",
                a->folder, then, now);
    else
        return 0;
    return err_hint(err, "a series is measured by one abba from its first run to its last");
}

/* Libraries, and programs that the programs started, as far as they were seen. */
static int check_loaded(const struct archive *a, struct err *err)
{
    struct strings differ = {0};
    struct arena arena = ARENA_INIT;
    int rc = 0;

    if (a->loaded)
        at_hand_differences(a->loaded, &differ, &arena);
    if (differ.count > 0)
        rc = err_set(err, ERR_CONFIG, "'%s' cannot go on: %s", a->folder, differ.items[0]);
    arena_release(&arena);
    return rc;
}

/* The archive's plan, which gets the places of programs: its variants are a copy. */
static int find_programs(struct resumption *r, struct arena *arena, struct err *err)
{
    struct plan *p = &r->plan;

    *p = *r->archive->plan;
    p->variants = arena_array(arena, p->variant_count, sizeof *p->variants);
    memcpy(p->variants, r->archive->plan->variants, p->variant_count * sizeof *p->variants);
    if (plan_find_programs(p, arena, err) == 0)
        return 0;
    if (err->hint[0])
        return -1;
    return err_hint(err, "programs are looked for as the series was given them: resume it in the "
                         "same folder, with the same files");
}

int resume_open(struct resumption *r, const char *folder, struct arena *arena, struct err *err)
{
    *r = (struct resumption){0};
    if (archive_writer_open(&r->writer, folder, err) < 0)
        return -1;
    if (archive_open(&r->archive, folder, err) < 0)
        return err->code == ERR_UNFINISHED
                   ? err_hint(err, "only warm-up runs can be in it: run the series again")
                   : -1;
    if (r->archive->plan->import)
        return err_set(err, ERR_CONFIG, "archive '%s' was imported: it holds no plan to run",
                       folder);
    if (check_archive(r, arena, err) < 0 || check_tool(r->archive, err) < 0)
        return -1;
    return find_programs(r, arena, err) < 0 ? -1 : check_loaded(r->archive, err);
}

void resume_close(struct resumption *r)
{
    archive_writer_free(r->writer);
    archive_close(r->archive);
    *r = (struct resumption){0};
}

int resume_check_machine(const struct resumption *r, const struct machine *now, struct err *err)
{
    struct strings found = {0};
    struct arena arena = ARENA_INIT;
    int rc = 0;

    machine_differences(r->archive->machine, now, &found, &arena);
    if (found.count > 0) {
        rc = err_set(err, ERR_CONFIG, "this is not the machine that '%s' was begun on: %s",
                     r->archive->folder, found.items[0]);
        err_hint(err, "abba rerun runs the same plan anew, and compares");
    }
    arena_release(&arena);
    return rc;
}
