#include "cli/again.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "judge/judge.h"
#include "judge/reproduce.h"

int again_status(enum reproduced outcome)
{
    switch (outcome) {
    case REPRODUCED:
    case NOTHING_JUDGED:
        return STATUS_PASSED;
    case NOT_REPRODUCED:
        return STATUS_REGRESSED;
    case CANNOT_TELL:
        break;
    }
    return STATUS_INCOMPLETE;
}

/* Every network must be had with the back end that it had. */
static int check_backends(const struct again *x, struct networks *n, struct err *err)
{
    const struct archive *a = x->rerun.archive;

    for (size_t i = 0; i < a->plan->profile_count; i++) {
        const struct profile *p = &a->plan->profiles[i];
        const char *backend = archive_backend(a, p->name), *why;
        struct network network;

        if (!backend)
            continue;
        network = p->network;
        network.backend = net_backend_of(backend);
        if (networks_find_tables(p, err) < 0 || networks_look(n, &x->s->arena, err) < 0)
            return -1;
        why = networks_why_not(n, &network);
        if (why)
            return err_set(err, ERR_CONFIG,
                           "profile '%s' was run with the back end '%s', which is not to be had "
                           "here: %s",
                           p->name, backend, why);
    }
    return 0;
}

static const char *isolation_here(const struct plan *plan, struct planning *g, struct err *err)
{
    if (!plan_has_network(plan))
        return g->isolation;
    return networks_look(&g->networks, &g->s->arena, err) < 0 ? NULL : g->networks.isolation;
}

static void note(const struct again *x, const char *text)
{
    terminal_note(x->s, x->name ? arena_printf(&x->s->arena, "comparison '%s': %s", x->name, text)
                                : text);
}

static void note_all(const struct again *x, const struct strings *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        note(x, texts->items[i]);
}

/* Lists what is not as it was; more than that is asked for. */
static int check_files(const struct again *x, struct err *err)
{
    const struct strings *d = &x->rerun.differs;

    note_all(x, &x->rerun.notes);
    note_all(x, &x->rerun.kept);
    if (d->count > 1 || x->s->allow_different)
        note_all(x, d);
    if (d->count == 0 || x->s->allow_different)
        return 0;
    if (d->count == 1)
        err_set(err, ERR_CONFIG, "not what the archive was measured with: %s", d->items[0]);
    else
        err_set(err, ERR_CONFIG, "%zu things are not what the archive was measured with", d->count);
    return err_hint(err, "--allow-different runs with what is here");
}

int again_check(const struct again *x, struct planning *g, struct err *err)
{
    return check_files(x, err) < 0 ? -1 : check_backends(x, &g->networks, err);
}

int again_open(struct again *x, const char *folder, struct planning *g, struct err *err)
{
    struct archive *look = NULL;
    const char *isolation = NULL;

    arena_init(&x->arena);
    if (archive_open(&look, folder, err) < 0)
        return -1;
    isolation = isolation_here(look->plan, g, err);
    archive_close(look);
    if (!isolation || rerun_open(&x->rerun, folder, isolation, &x->s->arena, err) < 0)
        return -1;
    return judge_archive(x->rerun.archive, &x->then, &x->arena, err);
}

void again_close(struct again *x)
{
    rerun_close(&x->rerun);
    arena_release(&x->arena);
}

void again_compare(struct again *x, const struct report *now, const struct archive *a,
                   struct reproduction *out)
{
    reproduce(out, &x->then, now, &x->arena);
    out->files = x->rerun.differs;
    out->kept = x->rerun.kept;
    if (out->files.count == 0)
        rerun_strangers(x->rerun.archive->loaded, a->loaded, &out->files, &x->arena);
    machine_differences(x->rerun.archive->machine, a->machine, &out->machine, &x->arena);
}
