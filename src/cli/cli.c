#include "cli/cli.h"

#include "base/buf.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/settings.h"
#include "cli/terminal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
const struct command_def *const cli_commands[] = {
    &command_compare,
    &command_run,
    &command_bisect,
    &command_report,
    &command_verify,
    &command_resume,
    &command_rerun,
    &command_pack,
    &command_unpack,
    &command_push,
    &command_pull,
    &command_notify,
    &command_import,
    &command_prune,
    &command_pin,
    &command_list,
    &command_net,
    &command_doctor,
    &command_completion,
    &command_manual,
    &command_help,
    &command_version,
    NULL,
};
/* clang-format on */

static int signal_later;

void cli_raise_later(int signal)
{
    signal_later = signal;
}

/* ---- statuses ---- */

static int status_of_error(const struct err *err)
{
    switch (err->code) {
    case ERR_USAGE:
    case ERR_CONFIG:
        return STATUS_USAGE;
    case ERR_ARCHIVE:
        return STATUS_ARCHIVE;
    default:
        return STATUS_INCOMPLETE;
    }
}

int status_of_report(const struct report *r, bool must_judge)
{
    if (!r->finished && r->verdict != VERDICT_INVALID && r->verdict != VERDICT_REGRESSED)
        return STATUS_INCOMPLETE;
    switch (r->verdict) {
    case VERDICT_REGRESSED:
        return STATUS_REGRESSED;
    case VERDICT_INCOMPLETE:
    case VERDICT_INVALID:
        return STATUS_INCOMPLETE;
    case VERDICT_INCONCLUSIVE:
        return STATUS_INCONCLUSIVE;
    case VERDICT_NEW:
    case VERDICT_NOT_JUDGED:
        if (must_judge)
            return STATUS_INCOMPLETE;
        for (size_t i = 0; i < r->profile_count; i++) {
            const struct report_profile *p = &r->profiles[i];
            if (p->complete_pairs < p->min_complete)
                return STATUS_INCOMPLETE;
        }
        return STATUS_PASSED;
    default:
        return STATUS_PASSED;
    }
}

/* For `git bisect run`: 0 good, 1 bad, 125 cannot tell, 255 stop. */
static int status_for_bisect(int status)
{
    switch (status) {
    case STATUS_PASSED:
    case STATUS_REGRESSED:
        return status;
    case STATUS_INCOMPLETE:
    case STATUS_INCONCLUSIVE:
        return 125;
    default:
        return 255;
    }
}

/* ---- which sub-command ---- */

static bool is_word(const char *text, const char *letter, const char *name)
{
    return strcmp(text, letter) == 0 || strcmp(text, name) == 0;
}

/* Whether a program of that name can be started. */
static bool is_program(const char *name)
{
    struct arena arena = ARENA_INIT;
    struct err ignored = {0};
    char *path;
    int rc = files_resolve_program(name, getenv("PATH"), &arena, &path, &ignored);
    arena_release(&arena);
    return rc == 0;
}

/* The first word is neither a sub-command nor an option: a command to compare, or a slip. */
static int check_first_word(const char *word, struct err *err)
{
    const char *names[32];
    size_t n = 0;
    if (strpbrk(word, " \t/") || is_program(word))
        return 0;
    for (; cli_commands[n]; n++)
        names[n] = cli_commands[n]->name;
    const char *near = text_nearest(word, names, n);
    err_set(err, ERR_USAGE, "'%s' is neither a sub-command of abba nor a program", word);
    if (near)
        return err_hint(err, "did you mean 'abba %s'?", near);
    return err_hint(err, "see 'abba --help'");
}

/* The sub-command that the words ask for, and how many words name it. NULL with an error. */
static const struct command_def *choose(int argc, char **argv, int *named, struct err *err)
{
    *named = 0;
    if (argc < 2)
        return &command_help;
    if (is_word(argv[1], "-h", "--help") && argc == 2)
        return &command_help;
    if (is_word(argv[1], "-V", "--version") && argc == 2)
        return &command_version;
    const struct command_def *command = cli_find(argv[1]);
    if (command) {
        *named = 1;
        return command;
    }
    if (argv[1][0] != '-' && check_first_word(argv[1], err) != 0)
        return NULL;
    return &command_compare; /* the poop way */
}

/* Options in front of a sub-command would make its name a command to be compared. */
static int check_bare(const struct settings *s, struct err *err)
{
    const char *first = s->operands.count ? s->operands.items[0] : "";
    if (!cli_find(first))
        return 0;
    err_set(err, ERR_USAGE, "'%s' is a sub-command: its options go behind it", first);
    return err_hint(err, "abba %s [options] ...", first);
}

static int show_help(const struct command_def *command, struct err *err)
{
    struct buf text = BUF_INIT;
    help_command(command, &text, terminal_help_columns());
    int rc = terminal_print(text.data, text.len, err);
    buf_release(&text);
    return rc;
}

static int dispatch(int argc, char **argv, struct settings *s, struct err *err)
{
    int named;
    const struct command_def *command = choose(argc, argv, &named, err);
    if (!command)
        return -1;
    bool whole = argc > 1 && argv[1][0] == '-' && command != &command_compare;
    if (options_parse(command, whole ? 1 : argc - named, argv + named, s, err) != 0)
        return -1;
    if (s->help)
        return show_help(command, err);
    if (argc < 2) {
        err_set(err, ERR_USAGE, "nothing to compare");
        return err_hint(err, "abba BASELINE CANDIDATE, such as abba 'gzip -k FILE' 'xz -k FILE'; "
                             "see 'abba --help'");
    }
    if (named == 0 && command == &command_compare && check_bare(s, err) != 0)
        return -1;
    if (options_check_operands(command, s, err) != 0)
        return -1;
    return command->run(s, err);
}

/* A handler, and not SIG_IGN, which programs under test would inherit: write() fails and tells. */
static void write_fails(int signal)
{
    (void)signal;
}

struct cli_end cli_main(int argc, char **argv)
{
    struct settings s;
    struct err err = {0};
    struct sigaction action = {.sa_handler = write_fails, .sa_flags = SA_RESTART};

    sigaction(SIGPIPE, &action, NULL); /* the reader has gone */
    sigaction(SIGXFSZ, &action, NULL); /* the largest size of a file (ulimit -f) is reached */
    settings_init(&s);
    int status = dispatch(argc, argv, &s, &err);
    if (status < 0) {
        if (err.code != ERR_INTERRUPTED || !signal_later)
            terminal_error(&err);
        status = status_of_error(&err);
    }
    if (s.bisect)
        status = status_for_bisect(status);
    settings_release(&s);
    return (struct cli_end){.status = status, .signal = signal_later};
}
