#include "cli/help.h"

#include "base/buf.h"
#include "base/text.h"
#include "cli/options.h"

#include <string.h>

/* clang-format off */
const char *const exit_meanings[] = {
    "0", "passed, or nothing was judged",
    "1", "regressed: a metric went beyond its threshold",
    "2", "wrong usage, or a fault in a runner, profile, thresholds or variant file",
    "3", "incomplete or invalid measurement: a run failed, or abba could not measure",
    "4", "inconclusive: the data neither show nor exclude a regression",
    "5", "the archive is damaged, or is not one",
    NULL};
/* clang-format on */

const struct command_def *cli_find(const char *name)
{
    for (const struct command_def *const *c = cli_commands; *c; c++) {
        if (strcmp((*c)->name, name) == 0)
            return *c;
    }
    return NULL;
}

/* Adds words of one paragraph, `indent` before every line but the first. `at` is the column. */
static void wrap(struct buf *out, const char *text, size_t len, size_t indent, size_t at,
                 size_t columns)
{
    size_t start = 0;
    bool first = true;
    while (start < len) {
        size_t word = strcspn(text + start, " \n");
        if (word > len - start)
            word = len - start;
        size_t width = text_width_n(text + start, word);
        if (word > 0) {
            if (!first && at + 1 + width > columns) {
                buf_addch(out, '\n');
                buf_fill(out, ' ', indent);
                at = indent;
            } else if (!first) {
                buf_addch(out, ' ');
                at++;
            }
            buf_add(out, text + start, word);
            at += width;
            first = false;
        }
        start += word + 1;
    }
}

static void paragraphs(struct buf *out, const char *text, size_t columns)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t len = end ? (size_t)(end - text) : strlen(text);
        wrap(out, text, len, 0, 0, columns);
        buf_addstr(out, "\n\n");
        text += len;
        while (*text == '\n')
            text++;
    }
}

/* "-n, --pairs N" */
static void option_words(const struct option_def *o, struct buf *out)
{
    if (o->letter)
        buf_printf(out, "-%c, ", o->letter);
    else
        buf_addstr(out, "    ");
    buf_printf(out, "--%s", o->name);
    if (o->arg)
        buf_printf(out, " %s", o->arg);
}

void help_option_text(const struct option_def *o, struct buf *out)
{
    buf_addstr(out, o->help);
    if (o->kind == OPTION_LIST && o->max != 1)
        buf_addstr(out, strstr(o->help, "several times") ? "" : "; may be given several times");
    if (o->preset && o->absent)
        buf_printf(out, " (default: %s, %s)", o->preset, o->absent);
    else if (o->preset || o->absent)
        buf_printf(out, " (default: %s)", o->preset ? o->preset : o->absent);
}

#define HELP_COLUMN 26

static void option_lines(const struct option_def *o, struct buf *out, size_t columns)
{
    struct buf words = BUF_INIT, text = BUF_INIT;
    option_words(o, &words);
    help_option_text(o, &text);
    buf_printf(out, "  %s", words.data);
    size_t at = 2 + words.len;
    if (at + 2 > HELP_COLUMN) {
        buf_addch(out, '\n');
        at = 0;
    }
    buf_fill(out, ' ', HELP_COLUMN - at);
    wrap(out, text.data, text.len, HELP_COLUMN, HELP_COLUMN, columns);
    buf_addch(out, '\n');
    buf_release(&words);
    buf_release(&text);
}

static void statuses(struct buf *out, size_t columns)
{
    buf_addstr(out, "Exit status\n");
    for (const char *const *m = exit_meanings; *m; m += 2) {
        buf_printf(out, "  %s  ", m[0]);
        wrap(out, m[1], strlen(m[1]), 5, 5, columns);
        buf_addch(out, '\n');
    }
    buf_addstr(out, "  SIGINT, SIGTERM: the archive is closed, then the signal is raised again"
                    "\n");
}

void help_command(const struct command_def *command, struct buf *out, int columns)
{
    size_t width = (size_t)columns;
    buf_printf(out, "Usage: abba %s [options]%s%s\n\n", command->name,
               command->operands[0] ? " " : "", command->operands);
    paragraphs(out, command->about, width);
    for (const struct option_group *const *g = command->groups; *g; g++) {
        buf_printf(out, "%s\n", (*g)->title);
        for (size_t i = 0; i < (*g)->count; i++)
            option_lines(&(*g)->options[i], out, width);
        buf_addch(out, '\n');
    }
    if (command->examples) {
        buf_addstr(out, "Examples\n");
        for (const char *const *e = command->examples; *e; e += 2)
            buf_printf(out, "  %s\n      %s\n", e[0], e[1]);
        buf_addch(out, '\n');
    }
    statuses(out, width);
}

void help_all(struct buf *out, int columns)
{
    size_t width = (size_t)columns;
    buf_addstr(out, "Usage: abba [options] BASELINE CANDIDATE...\n"
                    "       abba COMMAND [options] ...\n\n");
    paragraphs(
        out,
        "abba compares programs: it runs a baseline and a candidate in turn, in pairs, reads "
        "time, memory, CPU and counters of every run, and tells by how much the candidate "
        "differs, and whether that is more than was allowed beforehand.",
        width);
    buf_addstr(out, "Commands\n");
    for (const struct command_def *const *c = cli_commands; *c; c++) {
        buf_printf(out, "  %-12s", (*c)->name);
        wrap(out, (*c)->summary, strlen((*c)->summary), 14, 14, width);
        buf_addch(out, '\n');
    }
    buf_addstr(out, "\n  abba COMMAND --help explains a command, abba --version tells the "
                    "version.\n\nExamples\n"
                    "  abba 'gzip -kf FILE' 'pigz -kf FILE'\n"
                    "      compare two commands for about five seconds each\n"
                    "  abba --threshold wall_time=5% './old x' './new x'\n"
                    "      the same, and fail if the candidate is more than 5% slower\n"
                    "  abba run flow/pingpong --baseline ./old --candidate ./new\n"
                    "      run a profile with its thresholds and keep an archive\n"
                    "  abba doctor\n"
                    "      what this machine can and cannot measure\n\n");
    statuses(out, width);
}
