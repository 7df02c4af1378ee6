#include "cli/commands.h"

#include "cli/execute.h"
#include "cli/lab.h"
#include "cli/settings.h"

static const struct option_def several[] = {
    {.name = "series",
     .arg = "FILE",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, series),
     .names = NAMES_FILE,
     .help = "run all comparisons that a series file describes (see 'abba list series'), each with "
             "its own variants, profiles and thresholds; the same command again goes on where it "
             "was stopped"},
    {.name = "set",
     .arg = "NAME=VALUE",
     .kind = OPTION_LIST,
     .offset = offsetof(struct settings, set),
     .help = "a variable of the series file, such as the path of a variant"},
};
static const struct option_group group_series = {"Several comparisons", several, 2};

static const struct option_group *const groups[] = {
    &group_variants, &group_git,     &group_series,  &group_run_pairs, &group_runs, &group_fetching,
    &group_judging,  &group_machine, &group_keeping, &group_output,    &group_help, NULL};

static const char *const examples[] = {
    "abba run flow/pingpong --baseline ./old --candidate ./new",
    "one profile, judged by the default thresholds, archived below archive/",
    "abba run flow/pingpong flow/1x-1K -b old.json -c new.json --format markdown",
    "two profiles, two variants' files; a report for a pull request",
    "abba run flow/pingpong --aa --baseline ./old",
    "the noise of this machine under that profile",
    "abba run flow/pingpong --plan --baseline ./old --candidate ./new",
    "what would be run, and what it could see",
    "abba run --series flow/lab --set old=./old --set new=./new --archive lab",
    "all comparisons of a series file, one report; the same again goes on",
    "abba run flow/pingpong -b git:main -c worktree --build make --product flow",
    "the files as they stand against their common ancestor with main",
    NULL};

static int run(struct settings *s, struct err *err)
{
    struct plan_request request = {
        .command = "run",
        .profiles = s->operands,
        .baseline_args = s->baseline_args,
        .candidate_args = s->candidate_args,
        .baseline_env = s->baseline_env,
        .candidate_env = s->candidate_env,
    };
    const struct execute_options options = {.keep = true, .must_judge = !s->aa};

    if (s->series)
        return lab_run(s, err);
    if (s->set.count)
        return err_set(err, ERR_USAGE, "option '--set' is for the variables of a '--series' file");
    if (s->operands.count == 0) {
        err_set(err, ERR_USAGE, "'abba run' needs PROFILE..., or --series FILE");
        return err_hint(err, "see 'abba run --help'");
    }
    if (variants_given(s, &request.variants, err) != 0)
        return -1;
    return execute(s, &request, &options, err);
}

const struct command_def command_run = {
    .name = "run",
    .operands = "[PROFILE...]",
    .summary = "run profiles with a baseline and candidates, judge, and keep an archive",
    .about =
        "Runs every profile with the baseline and each candidate, in pairs, and judges the median "
        "of the paired changes of every metric that has a threshold. All raw data go to an "
        "archive, from which the report is computed; its digest is the last line printed.\n\n"
        "A profile is a name (see 'abba list profiles') or a JSON file. git:REVISION and worktree "
        "are variants of the repository of this folder: both are built from clean folders with "
        "paths of equal length, and kept in ~/.cache/abba. A series that could judge nothing is "
        "incomplete (exit 3).\n\n"
        "--series runs several comparisons, each into an archive of its own below one folder, and "
        "reports on them together; the exit status is that of the worst: invalid, regressed, "
        "incomplete, inconclusive, passed, in this order.",
    .groups = groups,
    .examples = examples,
    .min_operands = 0,
    .max_operands = -1,
    .names = NAMES_PROFILE,
    .run = run,
};
