#include "cli/commands.h"

#include "archive/reader.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/files.h"
#include "cli/cli.h"
#include "cli/execute.h"
#include "cli/held.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "plan/repository.h"
#include "report/figures.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The search is git's own (rev-list --bisect-all), the repository stays as it is: nothing is
 * checked out, no ref is written. Every commit is compared with GOOD; the culprit is compared with
 * its parent once more, which is the evidence.
 */

enum answer { ANSWER_GOOD, ANSWER_BAD, ANSWER_UNKNOWN };

/* What one comparison said, kept beyond its report. */
struct finding {
    enum answer answer;
    int status;
    const char *words;  /* "regressed, cpu_time +20.1%" */
    const char *folder; /* of its archive */
    const char *digest;
};

struct bisection {
    struct settings *s;
    struct repository repository;
    struct revision good, bad;
    struct strings known_good, skipped; /* full names */
    const char *folder;                 /* of all archives */
    unsigned steps;
    bool print; /* the next report is printed as well */
    struct finding found;
};

/* ---- one comparison ---- */

/* What is told of a step: its verdict and the judged figures that are worst. */
static const char *words_of(const struct report *r, struct arena *arena)
{
    const char *words = figure_verdict(r->verdict);

    for (size_t i = 0; i < r->profile_count; i++)
        for (size_t m = 0; m < r->profiles[i].metric_count; m++) {
            const struct report_metric *row = &r->profiles[i].metrics[m];
            char change[FIGURE_TEXT];

            if (!metric_judged(row) || row->verdict != r->verdict)
                continue;
            figure_change(row->median_change, change);
            words = arena_printf(arena, "%s, %s %s", words, row->metric, change);
        }
    return words;
}

static int on_done(void *user, const struct report *now, const struct archive *a,
                   const char *folder, const char *digest, struct err *err)
{
    struct bisection *b = user;
    struct arena *arena = &b->s->arena;
    int status = status_of_report(now, true);

    b->found = (struct finding){
        .answer = status == STATUS_PASSED      ? ANSWER_GOOD
                  : status == STATUS_REGRESSED ? ANSWER_BAD
                                               : ANSWER_UNKNOWN,
        .status = status,
        .words = words_of(now, arena),
        .folder = arena_strdup(arena, folder),
        .digest = arena_strdup(arena, digest),
    };
    if (b->print && execute_print(b->s, now, a, folder, digest, err) != 0)
        return -1;
    return status;
}

/* Compares two commits; what it said is in b->found. -1: nothing can go on. */
static int compare(struct bisection *b, const char *old, const char *new, struct err *err)
{
    struct settings *s = b->s;
    const struct execute_options options = {
        .keep = true, .must_judge = true, .done = on_done, .user = b};
    struct plan_request q = {.command =
                                 s->operands.count - s->after_dashes > 2 ? "run" : "compare"};
    size_t behind = s->operands.count - s->after_dashes;

    strings_add(&q.variants, &s->arena, arena_printf(&s->arena, "git:%s", old));
    strings_add(&q.variants, &s->arena, arena_printf(&s->arena, "git:%s", new));
    for (size_t i = 2; i < behind; i++)
        strings_add(&q.profiles, &s->arena, s->operands.items[i]);
    for (size_t i = behind; i < s->operands.count; i++)
        strings_add(&q.args, &s->arena, s->operands.items[i]);
    s->archive = arena_printf(&s->arena, "%s/%02u-%.12s", b->folder, ++b->steps, new);
    b->found = (struct finding){.answer = ANSWER_UNKNOWN, .folder = "", .digest = ""};
    if (execute(s, &q, &options, err) >= 0)
        return held_signal() ? err_set(err, ERR_INTERRUPTED, "ended by a signal") : 0;
    if (err->code != ERR_MEASURE)
        return -1;
    b->found.words = arena_strdup(&s->arena, err->msg); /* a commit that cannot be built */
    *err = (struct err){0};
    return 0;
}

static const char *subject_of(struct bisection *b, const char *commit)
{
    struct revision v;
    struct err ignored = {0};
    struct buf safe = BUF_INIT;
    const char *text;

    if (repository_find(&b->repository, commit, &v, &ignored) < 0)
        return "";
    safe_text(&safe, v.subject, strlen(v.subject));
    text = arena_strdup(&b->s->arena, safe.data);
    buf_release(&safe);
    return text;
}

static int step(struct bisection *b, const char *commit, struct err *err)
{
    static const char *const words[] = {"good", "bad", "cannot be told"};

    if (compare(b, b->good.commit, commit, err) != 0)
        return -1;
    terminal_note(b->s,
                  arena_printf(&b->s->arena, "step %u: %.12s %s: %s (%s)", b->steps, commit,
                               subject_of(b, commit), words[b->found.answer], b->found.words));
    return 0;
}

/* ---- the search ---- */

/* The commit to be tried next; NULL: none is left but `bad` and what cannot be told. */
static const char *next_of(const struct bisection *b, const struct strings *left, const char *bad)
{
    for (size_t i = 0; i < left->count; i++)
        if (strcmp(left->items[i], bad) != 0 && !strings_has(&b->skipped, left->items[i]))
            return left->items[i];
    return NULL;
}

/* Narrows down to *culprit; `left` are the commits that it may be. */
static int search(struct bisection *b, const char **culprit, struct strings *left, struct err *err)
{
    const char *commit;

    *culprit = b->bad.commit;
    strings_add(&b->known_good, &b->s->arena, b->good.commit);
    for (;;) {
        *left = (struct strings){0};
        if (repository_between(&b->repository, *culprit, &b->known_good, left, err) < 0)
            return -1;
        commit = next_of(b, left, *culprit);
        if (!commit)
            return 0;
        terminal_note(b->s, arena_printf(&b->s->arena, "%zu commits left", left->count));
        if (step(b, commit, err) != 0)
            return -1;
        if (b->found.answer == ANSWER_BAD)
            *culprit = commit;
        else
            strings_add(b->found.answer == ANSWER_GOOD ? &b->known_good : &b->skipped, &b->s->arena,
                        commit);
    }
}

/* ---- what it ends with ---- */

static int say(struct bisection *b, const char *text, struct err *err)
{
    if (b->s->format == FORMAT_TEXT && !b->s->output)
        return terminal_print(text, strlen(text), err);
    fputs(text, stderr);
    return 0;
}

static int undecided(struct bisection *b, const struct strings *left, struct err *err)
{
    struct buf text = BUF_INIT;
    int rc;

    buf_printf(&text, "the culprit is one of %zu commits, which could not all be told apart:\n",
               left->count);
    for (size_t i = 0; i < left->count; i++)
        buf_printf(&text, "  %s %s\n", left->items[i], subject_of(b, left->items[i]));
    rc = say(b, text.data, err);
    buf_release(&text);
    return rc == 0 ? STATUS_INCONCLUSIVE : -1;
}

/* Against the culprit's parent; where that one cannot be built, against GOOD. */
static int compare_with_parent(struct bisection *b, const char *parent, const char *culprit,
                               struct err *err)
{
    int rc = compare(b, parent, culprit, err);

    if (rc == 0 || err->code != ERR_CONFIG)
        return rc;
    terminal_note(b->s, arena_printf(&b->s->arena, "its parent cannot be tested, so it is '%s': %s",
                                     b->good.asked, err->msg));
    *err = (struct err){0};
    return compare(b, b->good.commit, culprit, err);
}

/* The culprit against its own parent, printed. */
static int evidence(struct bisection *b, const char *culprit, struct err *err)
{
    const char *parent;
    struct buf text = BUF_INIT;
    int rc;

    if (repository_parent(&b->repository, culprit, &parent, err) < 0)
        return -1;
    buf_printf(&text, "culprit    %s\n           %s\n", culprit, subject_of(b, culprit));
    buf_printf(&text, "found in   %u comparisons with %s, in %s\nevidence   %.12s against %s\n\n",
               b->steps, b->good.asked, b->folder, culprit, parent ? "its parent" : b->good.asked);
    rc = say(b, text.data, err);
    buf_release(&text);
    b->print = true;
    if (rc != 0 || compare_with_parent(b, parent ? parent : b->good.commit, culprit, err) != 0)
        return -1;
    if (b->found.answer == ANSWER_BAD)
        return STATUS_PASSED;
    terminal_note(b->s, "the culprit's own comparison does not show it: not confirmed");
    return STATUS_INCONCLUSIVE;
}

/* BAD itself does not show it. */
static int not_worse(struct bisection *b, struct err *err)
{
    if (b->found.answer == ANSWER_GOOD) {
        err_set(err, ERR_MEASURE, "'%s' is not worse than '%s': %s", b->bad.asked, b->good.asked,
                b->found.words);
        return err_hint(err, "there is nothing to be found; more pairs (-n) or a closer threshold "
                             "see more");
    }
    if (b->found.status == STATUS_INCONCLUSIVE) {
        terminal_note(b->s, arena_printf(&b->s->arena, "'%s' is not shown to be worse than '%s'",
                                         b->bad.asked, b->good.asked));
        return STATUS_INCONCLUSIVE;
    }
    err_set(err, ERR_MEASURE, "'%s' cannot be compared with '%s': %s", b->bad.asked, b->good.asked,
            b->found.words);
    return err_hint(err, "name a later good or an earlier bad commit that can be built and run");
}

static int bisect_all(struct bisection *b, struct err *err)
{
    struct strings left;
    const char *culprit;

    if (step(b, b->bad.commit, err) != 0)
        return -1;
    if (b->found.answer != ANSWER_BAD)
        return not_worse(b, err);
    if (search(b, &culprit, &left, err) != 0)
        return -1;
    return left.count == 1 ? evidence(b, culprit, err) : undecided(b, &left, err);
}

/* ---- beginning ---- */

/* "archive/20240506T070809Z-bisect"; of several that begin at once, the others with a number. */
static int dated_folder(struct bisection *b, struct err *err)
{
    char time[CLOCK_TEXT];

    if (files_mkdirs("archive", err) != 0)
        return -1;
    clock_format_utc_name(clock_real_ns(), time);
    b->folder = arena_printf(&b->s->arena, "archive/%s-bisect", time);
    for (unsigned i = 2; mkdir(b->folder, 0777) != 0; i++) {
        if (errno != EEXIST)
            return err_sys(err, ERR_SYSTEM, errno, "cannot make the folder '%s'", b->folder);
        b->folder = arena_printf(&b->s->arena, "archive/%s-bisect-%u", time, i);
    }
    return 0;
}

static int choose_folder(struct bisection *b, struct err *err)
{
    if (!b->s->archive)
        return dated_folder(b, err);
    b->folder = b->s->archive;
    if (files_exists(b->folder))
        return err_set(err, ERR_USAGE, "option '--archive': '%s' exists already", b->folder);
    return files_mkdirs(b->folder, err);
}

static int find_ends(struct bisection *b, struct err *err)
{
    const struct strings *operands = &b->s->operands;
    struct strings good = {0}, left = {0};

    if (repository_find(&b->repository, operands->items[0], &b->good, err) < 0 ||
        repository_find(&b->repository, operands->items[1], &b->bad, err) < 0)
        return -1;
    strings_add(&good, &b->s->arena, b->good.commit);
    if (repository_between(&b->repository, b->bad.commit, &good, &left, err) < 0)
        return -1;
    if (left.count)
        return 0;
    err_set(err, ERR_USAGE, "'%s' has no commit that '%s' lacks", b->bad.asked, b->good.asked);
    return err_hint(err, "the good revision comes first");
}

static int bisect(struct settings *s, struct err *err)
{
    struct bisection b = {.s = s};
    struct held held;
    int status = -1;

    if (s->operands.count - s->after_dashes < 2)
        return err_set(err, ERR_USAGE, "'abba bisect' needs GOOD and BAD in front of '--'");
    if (s->operands.count - s->after_dashes > 2 && s->after_dashes)
        return err_set(err, ERR_USAGE,
                       "both profiles and words behind '--' are given: the first "
                       "are for runners, the second for a command");
    if (s->plan)
        return err_set(err, ERR_USAGE, "option '--plan': what is run depends on what is found");
    s->no_merge_base = true;
    held_begin(&held);
    if (repository_open(&b.repository, &s->arena, err) == 0 && find_ends(&b, err) == 0 &&
        choose_folder(&b, err) == 0)
        status = bisect_all(&b, err);
    repository_close(&b.repository);
    held_end(&held);
    return status;
}

static const struct option_def times[] = {
    {.letter = 'd',
     .name = "duration",
     .arg = "MS",
     .kind = OPTION_INTEGER,
     .offset = offsetof(struct settings, duration_ms),
     .preset = "5000",
     .min = 1,
     .max = 86400000,
     .help = "without profiles and -n: how long each command of a comparison is run in total"},
};
static const struct option_group group_times = {"How long", times, 1};

static const struct option_group *const groups[] = {
    &group_git,     &group_run_pairs, &group_times,  &group_runs, &group_judging,
    &group_machine, &group_keeping,   &group_output, &group_help, NULL};

static const char *const examples[] = {
    "abba bisect v1.2 main --build make --product prog --threshold cpu_time=10%",
    "which commit made the command slower",
    "abba bisect v1.2 main flow/10x-50M --build make --product build/flow",
    "the same by a profile, judged by the default thresholds", NULL};

const struct command_def command_bisect = {
    .name = "bisect",
    .operands = "GOOD BAD [PROFILE...] [-- ARG...]",
    .summary = "find the commit that made it worse, and show the evidence",
    .about =
        "Builds commits between GOOD and BAD, each in a clean folder, compares them with GOOD, and "
        "narrows down as git bisect does; the repository stays as it is. With profiles the "
        "comparisons are those of 'abba run', without them those of 'abba compare', with the words "
        "behind -- as arguments. A commit that cannot be built or judged is passed over.\n\n"
        "At the end the culprit is compared with its parent, and that report is printed. All "
        "archives lie in one folder. Exit status: 0 the culprit was found and its own comparison "
        "shows it, 2 GOOD cannot be built, 3 BAD is not worse than GOOD or cannot be compared with "
        "it, 4 no single commit could be found or shown.",
    .groups = groups,
    .examples = examples,
    .min_operands = 2,
    .max_operands = -1,
    .run = bisect,
};
