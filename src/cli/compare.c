#include "cli/commands.h"

#include "cli/execute.h"
#include "cli/settings.h"

#include <stddef.h>

static const struct option_def same[] = {
    {.name = "aa",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, aa),
     .help = "compare one command with itself: shows how far this machine can be trusted"},
};
static const struct option_group group_same = {"What is compared", same, 1};

static const struct option_group *const groups[] = {&group_pairs,    &group_same,    &group_runs,
                                                    &group_fetching, &group_judging, &group_keeping,
                                                    &group_output,   &group_help,    NULL};

static const char *const examples[] = {
    "abba 'gzip -kf FILE' 'pigz -kf FILE'",
    "two commands, about five seconds each",
    "abba -n 20 './old x' './new x' './newer x'",
    "twenty pairs of the baseline with each of two candidates",
    "abba --threshold wall_time=5% ./old ./new",
    "fail (exit 1) if the candidate is more than 5% slower",
    "abba compare --aa './old x'",
    "how much two runs of the same program differ here",
    "git bisect run sh -c 'make || exit 125; abba --bisect ... /tmp/good ./new'",
    "find the commit that made it slower than a copy of a good build",
    NULL};

static int compare(struct settings *s, struct err *err)
{
    struct plan_request request = {.command = "compare", .variants = s->operands};
    const struct execute_options options = {.keep = false, .must_judge = false};
    size_t given = s->operands.count;

    if (s->aa && given != 1)
        return err_set(err, ERR_USAGE, "--aa compares one command with itself, found %zu", given);
    if (!s->aa && given < 2) {
        err_set(err, ERR_USAGE, "only one command, '%s': there is nothing to compare it with",
                s->operands.items[0]);
        return err_hint(err, "each command is one word for the shell: abba 'ls -l' 'ls -lR'; "
                             "--aa compares one with itself");
    }
    return execute(s, &request, &options, err);
}

const struct command_def command_compare = {
    .name = "compare",
    .operands = "BASELINE CANDIDATE...",
    .summary = "compare commands (abba BASELINE CANDIDATE... is short for it)",
    .about =
        "Runs commands in pairs, in alternating order, and shows by how much each candidate "
        "differs from the baseline, the first command.\n\n"
        "Each command is one argument. It is split into words as a shell does, with quotes and "
        "backslashes, but no shell runs: nothing is expanded, and there are no pipes or "
        "redirections. Output of the commands is not shown; with --archive it is kept.",
    .groups = groups,
    .examples = examples,
    .min_operands = 1,
    .max_operands = -1,
    .names = NAMES_FILE,
    .run = compare,
};
