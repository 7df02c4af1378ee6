#include "cli/commands.h"

#include "cli/execute.h"
#include "cli/settings.h"

static const struct option_group *const groups[] = {
    &group_pairs,   &group_variants, &group_git,    &group_runs, &group_fetching,
    &group_judging, &group_keeping,  &group_output, &group_help, NULL};

static const char *const examples[] = {
    "abba 'gzip -kf FILE' 'pigz -kf FILE'",
    "two commands, about five seconds each",
    "abba -n 20 './old x' './new x' './newer x'",
    "twenty pairs of the baseline with each of two candidates",
    "abba --threshold wall_time=5% ./old ./new",
    "fail (exit 1) if the candidate is more than 5% slower",
    "abba compare --aa './old x'",
    "how much two runs of the same program differ here",
    "abba compare -b git:main -c worktree --build make --product prog -- ARG",
    "the files as they stand against their common ancestor with main",
    "git bisect run sh -c 'make || exit 125; abba --bisect ... /tmp/good ./new'",
    "find the commit that made it slower than a copy of a good build",
    NULL};

/* Commands are operands, or variants are options and the operands their arguments. */
static int take_variants(struct settings *s, struct plan_request *q, struct err *err)
{
    size_t given = s->operands.count;

    if (s->baselines.count || s->candidates.count) {
        q->args = s->operands;
        return variants_given(s, &q->variants, err);
    }
    q->variants = s->operands;
    if (given == 0)
        return err_set(err, ERR_USAGE, "'abba compare' needs %s", s->command->operands);
    if (s->aa && given != 1)
        return err_set(err, ERR_USAGE, "--aa compares one command with itself, found %zu", given);
    if (s->aa || given > 1)
        return 0;
    err_set(err, ERR_USAGE, "only one command, '%s': there is nothing to compare it with",
            s->operands.items[0]);
    return err_hint(err, "each command is one word for the shell: abba 'ls -l' 'ls -lR'; "
                         "--aa compares one with itself");
}

static int compare(struct settings *s, struct err *err)
{
    struct plan_request request = {
        .command = "compare",
        .baseline_args = s->baseline_args,
        .candidate_args = s->candidate_args,
        .baseline_env = s->baseline_env,
        .candidate_env = s->candidate_env,
    };
    const struct execute_options options = {.keep = false, .must_judge = false};

    if (take_variants(s, &request, err) != 0)
        return -1;
    return execute(s, &request, &options, err);
}
const struct command_def command_compare = {
    .name = "compare",
    .operands = "BASELINE CANDIDATE...",
    .summary = "compare commands (abba BASELINE CANDIDATE... is short for it)",
    .about =
        "Runs commands in pairs, in alternating order, and shows by how much each candidate "
        "differs from the baseline, the first command.\n"
        "\n"
        "Each command is one argument. It is split into words as a shell does, with quotes and "
        "backslashes, but no shell runs: nothing is expanded, and there are no pipes or "
        "redirections. Output of the commands is not shown; with --archive it is kept, and a "
        "command whose runs take less than 50 ms is run once more after its first pair, traced, "
        "so that the archive can tell which files it loads; that run is in no figure.",
    .groups = groups,
    .examples = examples,
    .min_operands = 0,
    .max_operands = -1,
    .names = NAMES_FILE,
    .run = compare,
};
