#include "cli/commands.h"

#include "archive/reader.h"
#include "archive/verify.h"
#include "cli/archives.h"
#include "cli/cli.h"
#include "cli/execute.h"
#include "cli/lab.h"
#include "cli/settings.h"
#include "judge/judge.h"

static const struct option_def judging[] = {
    {.name = "threshold",
     .arg = "METRIC=PERCENT",
     .kind = OPTION_LIST,
     .offset = offsetof(struct settings, thresholds),
     .names = NAMES_METRIC,
     .help = "judge by this instead of the plan's thresholds; the report is then marked "
             "exploratory"},
    {.name = "bisect",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, bisect),
     .help = "exit as 'git bisect run' wants it: 0 good, 1 bad, 125 cannot tell, 255 stop"},
};
static const struct option_group group_report = {"Judging", judging, 2};

static const struct option_group *const groups[] = {&group_report, &group_output, &group_help,
                                                    NULL};

static const char *const examples[] = {
    "abba report archive/20240506T070809Z-flow-pingpong-1a2b3c4d",
    "the report that the run printed",
    "abba report ARCHIVE --format markdown -o comment.md",
    "the same for a pull request",
    "abba report ARCHIVE --threshold wall_time=3%",
    "what a stricter threshold would have said",
    "abba report ARCHIVE --format csv -o samples.csv",
    "every figure of every run, a line each",
    NULL};

/* Until SHA256SUMS is there nothing says that all is: the series has no verdict yet. */
static void admit_unfinished(const struct archive *a, struct report *r)
{
    if (a->finished)
        return;
    r->finished = false;
    if (r->verdict != VERDICT_INVALID)
        r->verdict = VERDICT_INCOMPLETE;
}

static int report(struct settings *s, struct err *err)
{
    struct archive *a = NULL;
    struct thresholds t;
    struct report r;
    int status = -1;

    if (lab_is_one(s->operands.items[0]))
        return lab_report(s, s->operands.items[0], err);
    if (archive_open(&a, s->operands.items[0], err) != 0)
        return -1;
    if (a->finished && archive_check_sources(a, err) != 0)
        goto out;
    if (s->thresholds.count > 0) {
        if (archives_thresholds(a, &s->thresholds, &s->arena, &t, err) != 0 ||
            judge_archive_with(a, &t, &r, &s->arena, err) != 0)
            goto out;
    } else if (judge_archive(a, &r, &s->arena, err) != 0) {
        goto out;
    }
    admit_unfinished(a, &r);
    if (execute_print(s, &r, a, s->operands.items[0], a->digest, err) == 0)
        status = status_of_report(&r, false);
out:
    archive_close(a);
    return status;
}

const struct command_def command_report = {
    .name = "report",
    .operands = "ARCHIVE",
    .summary = "compute the report of an archive again and show it",
    .about =
        "Computes all verdicts from an archive's raw data and shows them. The exit status is "
        "that of the verdict, as when the series was run. An unfinished archive gives an "
        "incomplete report, one whose samples or plan were altered none (exit 5). The folder of "
        "'abba run --series' gives the report of all its comparisons.",
    .groups = groups,
    .examples = examples,
    .min_operands = 1,
    .max_operands = 1,
    .names = NAMES_FOLDER,
    .run = report,
};
