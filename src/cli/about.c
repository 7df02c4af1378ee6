#include "cli/commands.h"

#include "base/buf.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/settings.h"
#include "cli/terminal.h"

#include <string.h>

/* Sub-commands about abba itself: help, version, manual, completion. */

static const struct option_group *const groups[] = {&group_help, NULL};

static int print(struct buf *text, struct err *err)
{
    int rc = terminal_print(text->data, text->len, err);
    buf_release(text);
    return rc;
}

static int help(struct settings *s, struct err *err)
{
    struct buf text = BUF_INIT;
    if (s->operands.count == 0) {
        help_all(&text, terminal_help_columns());
        return print(&text, err);
    }
    const struct command_def *command = cli_find(s->operands.items[0]);
    if (command) {
        help_command(command, &text, terminal_help_columns());
        return print(&text, err);
    }
    const char *names[32];
    size_t n = 0;
    for (; cli_commands[n]; n++)
        names[n] = cli_commands[n]->name;
    err_set(err, ERR_USAGE, "abba has no sub-command '%s'", s->operands.items[0]);
    const char *near = text_nearest(s->operands.items[0], names, n);
    return near ? err_hint(err, "did you mean '%s'?", near) : err_hint(err, "see 'abba --help'");
}

static int version(struct settings *s, struct err *err)
{
    struct buf text = BUF_INIT;
    (void)s;
    buf_printf(&text, "abba %s\n", abba_version());
    return print(&text, err);
}

static int manual(struct settings *s, struct err *err)
{
    struct buf text = BUF_INIT;
    (void)s;
    help_manual(&text);
    return print(&text, err);
}

static int completion(struct settings *s, struct err *err)
{
    struct buf text = BUF_INIT;
    if (strcmp(s->operands.items[0], "bash") != 0)
        return err_set(err, ERR_USAGE, "no completion for '%s'; there is one for bash",
                       s->operands.items[0]);
    help_bash(&text);
    return print(&text, err);
}

const struct command_def command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "explain abba, or one of its sub-commands",
    .about = "Explains abba, or one of its sub-commands, as --help does.",
    .groups = groups,
    .max_operands = 1,
    .run = help,
};

const struct command_def command_version = {
    .name = "version",
    .operands = "",
    .summary = "tell the version",
    .about = "Tells which abba this is, as --version does.",
    .groups = groups,
    .run = version,
};

static const char *const manual_examples[] = {"abba manual | man -l -", "read it", NULL};

const struct command_def command_manual = {
    .name = "manual",
    .operands = "",
    .summary = "print the manual page",
    .about = "Prints abba's manual page, in the form that man reads.",
    .groups = groups,
    .examples = manual_examples,
    .run = manual,
};

static const char *const completion_examples[] = {"source <(abba completion bash)",
                                                  "complete abba's words in this shell", NULL};

const struct command_def command_completion = {
    .name = "completion",
    .operands = "bash",
    .summary = "print a script that completes abba's words",
    .about = "Prints a script that makes a shell complete sub-commands, options, profiles, metrics "
             "and events.",
    .groups = groups,
    .examples = completion_examples,
    .min_operands = 1,
    .max_operands = 1,
    .run = completion,
};
