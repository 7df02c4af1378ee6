#include "cli/commands.h"

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/execute.h"
#include "cli/planning.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "judge/judge.h"
#include "judge/reproduce.h"
#include "report/report.h"
#include "series/rerun.h"

#include <string.h>

static const struct option_def options[] = {
    {.name = "archive",
     .arg = "DIR",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, archive),
     .names = NAMES_FOLDER,
     .absent = "archive/UTC-PROFILE-PLAN/",
     .help = "the new archive, which must not exist"},
    {.name = "allow-different",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, allow_different),
     .help = "run also where programs, libraries, input or isolation are not the archived ones; "
             "the report says which"},
    {.name = "identify",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, identify),
     .help = "keep host name, user and addresses in the new archive"},
    {.name = "keep-programs",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, keep_programs),
     .help = "put copies of what runs into the new archive, too"},
    {.name = "sign",
     .arg = "KEY",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, sign),
     .names = NAMES_FILE,
     .help = "sign the new archive with this key of ssh"},
    {.name = "no-lock",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, no_lock),
     .help = "do not wait for another series on this machine to end"},
    {.name = "plan",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, plan),
     .help = "check what is at hand and print the plan; run nothing"},
    {.letter = 'o',
     .name = "output",
     .arg = "FILE",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, output),
     .names = NAMES_FILE,
     .absent = "standard output",
     .help = "write what came of it to this file"},
};
static const struct option_group group_rerun = {"Running again", options,
                                                sizeof options / sizeof *options};

static const struct option_group *const groups[] = {&group_rerun, &group_plain, &group_help, NULL};

static const char *const examples[] = {
    "abba rerun archive/20240506T070809Z-flow-pingpong-1a2b3c4d",
    "the same plan, programs and seeds: do the verdicts come out again?",
    "abba rerun ARCHIVE --allow-different", "with what is here now, whatever it is", NULL};

/* An archive that is run again, from command line to outcome. */
struct again {
    struct settings *s;
    struct rerun rerun;
    struct report then;
    struct arena arena;
};

static int status_of(enum reproduced outcome)
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

static int on_done(void *user, const struct report *now, const struct archive *a,
                   const char *folder, const char *digest, struct err *err)
{
    struct again *x = user;
    struct report_style style = terminal_style(x->s);
    struct reproduction r;
    struct buf text = BUF_INIT;

    reproduce(&r, &x->then, now, &x->arena);
    r.files = x->rerun.differs;
    r.kept = x->rerun.kept;
    if (r.files.count == 0)
        rerun_strangers(x->rerun.archive->loaded, a->loaded, &r.files, &x->arena);
    machine_differences(x->rerun.archive->machine, a->machine, &r.machine, &x->arena);
    style.archive = folder;
    style.digest = digest;
    reproduction_text(&r, &style, &text);
    int rc = terminal_result(x->s, &text, err);
    buf_release(&text);
    return rc < 0 ? -1 : status_of(r.outcome);
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

/* Lists what is not as it was; more than that is asked for. */
static int check_files(const struct again *x, struct err *err)
{
    const struct strings *d = &x->rerun.differs;

    for (size_t i = 0; i < x->rerun.notes.count; i++)
        terminal_note(x->s, x->rerun.notes.items[i]);
    for (size_t i = 0; i < x->rerun.kept.count; i++)
        terminal_note(x->s, x->rerun.kept.items[i]);
    for (size_t i = 0; i < d->count && (d->count > 1 || x->s->allow_different); i++)
        terminal_note(x->s, d->items[i]);
    if (d->count == 0 || x->s->allow_different)
        return 0;
    if (d->count == 1)
        err_set(err, ERR_CONFIG, "not what the archive was measured with: %s", d->items[0]);
    else
        err_set(err, ERR_CONFIG, "%zu things are not what the archive was measured with", d->count);
    return err_hint(err, "--allow-different runs with what is here");
}

static int open_again(struct again *x, struct planning *g, struct err *err)
{
    const char *folder = x->s->operands.items[0];
    struct archive *look = NULL;
    const char *isolation = NULL;

    if (archive_open(&look, folder, err) < 0)
        return -1;
    isolation = isolation_here(look->plan, g, err);
    archive_close(look);
    if (!isolation || rerun_open(&x->rerun, folder, isolation, &x->s->arena, err) < 0 ||
        judge_archive(x->rerun.archive, &x->then, &x->arena, err) < 0)
        return -1;
    return check_files(x, err) < 0 ? -1 : check_backends(x, &g->networks, err);
}

static int rerun(struct settings *s, struct err *err)
{
    struct again x = {.s = s, .arena = ARENA_INIT};
    struct planning planning;
    int status = -1;

    if (lab_is_one(s->operands.items[0])) {
        err_set(err, ERR_USAGE, "'%s' holds several archives", s->operands.items[0]);
        return err_hint(err, "name one of them, such as '%s/01-...'", s->operands.items[0]);
    }
    if (planning_init(&planning, s, err) == 0 && open_again(&x, &planning, err) == 0)
        status = s->plan ? planning_show(s, &x.rerun.plan, err)
                         : execute_again(s, &x.rerun.plan, x.rerun.archive, on_done, &x, err);
    rerun_close(&x.rerun);
    arena_release(&x.arena);
    return status;
}

const struct command_def command_rerun = {
    .name = "rerun",
    .operands = "ARCHIVE",
    .summary = "run an archive's plan again and say whether its verdicts are reproduced",
    .about =
        "Runs the archive's own plan, with its seeds, into a new archive, and compares. "
        "'reproduced': every metric that was judged gets the same verdict, and the bounds of its "
        "change have a point in common with those of before. 'cannot tell': one of both series is "
        "incomplete or invalid.\n\n"
        "Programs, libraries and input must be those of the archive, else the differing ones are "
        "named and nothing is run without --allow-different. Programs are looked for as the series "
        "was given them: give the command in the same folder. Of an archive made with "
        "--keep-programs "
        "the kept ones are taken where those at hand are missing or differ: libraries by "
        "LD_LIBRARY_PATH, or, where the dynamic loader differs as well, through the kept loader; "
        "the report says so. A network is made by the back end "
        "that it had; where that is not to be had, nothing is run. On another machine only changes "
        "are compared, never absolute figures.\n\n"
        "Exit 0: reproduced, or nothing was judged; 1: not reproduced; 2: something differs, or "
        "wrong usage; 3: cannot tell; 5: the archive is damaged, or is not one.",
    .groups = groups,
    .examples = examples,
    .min_operands = 1,
    .max_operands = 1,
    .names = NAMES_FOLDER,
    .run = rerun,
};
