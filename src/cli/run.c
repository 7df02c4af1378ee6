#include "cli/commands.h"

#include "cli/execute.h"
#include "cli/settings.h"

static const struct option_group *const groups[] = {
    &group_variants, &group_run_pairs, &group_runs,   &group_fetching, &group_judging,
    &group_machine,  &group_keeping,   &group_output, &group_help,     NULL};

static const char *const examples[] = {
    "abba run flow/pingpong --baseline ./old --candidate ./new",
    "one profile, judged by the default thresholds, archived below archive/",
    "abba run flow/pingpong flow/1x-1K -b old.json -c new.json --format markdown",
    "two profiles, two variants' files; a report for a pull request",
    "abba run flow/pingpong --aa --baseline ./old",
    "the noise of this machine under that profile",
    "abba run flow/pingpong --plan --baseline ./old --candidate ./new",
    "what would be run, and what it could see",
    NULL};

/* Baseline first, then the candidates. */
static int gather(struct settings *s, struct strings *variants, struct err *err)
{
    if (s->baselines.count == 0) {
        err_set(err, ERR_USAGE, "no baseline");
        return err_hint(err, "--baseline PROGRAM --candidate PROGRAM");
    }
    if (s->baselines.count > 1)
        return err_set(err, ERR_USAGE, "two baselines, '%s' and '%s'; there can be only one",
                       s->baselines.items[0], s->baselines.items[1]);
    if (s->aa && s->candidates.count > 0)
        return err_set(err, ERR_USAGE,
                       "--aa compares the baseline with itself, found also the candidate '%s'",
                       s->candidates.items[0]);
    if (!s->aa && s->candidates.count == 0) {
        err_set(err, ERR_USAGE, "no candidate");
        return err_hint(err, "--candidate PROGRAM, or --aa to compare the baseline with itself");
    }
    strings_add(variants, &s->arena, s->baselines.items[0]);
    for (size_t i = 0; i < s->candidates.count; i++)
        strings_add(variants, &s->arena, s->candidates.items[i]);
    return 0;
}

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

    if (gather(s, &request.variants, err) != 0)
        return -1;
    return execute(s, &request, &options, err);
}

const struct command_def command_run = {
    .name = "run",
    .operands = "PROFILE...",
    .summary = "run profiles with a baseline and candidates, judge, and keep an archive",
    .about =
        "Runs every profile with the baseline and each candidate, in pairs, and judges the median "
        "of the paired changes of every metric that has a threshold. All raw data go to an "
        "archive, from which the report is computed; its digest is the last line printed.\n\n"
        "A profile is a name (see 'abba list profiles') or a JSON file. A series that could "
        "judge nothing is incomplete (exit 3).",
    .groups = groups,
    .examples = examples,
    .min_operands = 1,
    .max_operands = -1,
    .names = NAMES_PROFILE,
    .run = run,
};
