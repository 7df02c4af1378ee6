/*
 * help: what the option tables say, as --help, as a manual page and as shell completion.
 */
#ifndef ABBA_CLI_HELP_H
#define ABBA_CLI_HELP_H

#include <stddef.h>

struct buf;
struct command_def;
struct option_def;

/* All sub-commands, NULL-terminated (cli.c has the list). */
extern const struct command_def *const cli_commands[];

/* The sub-command of that name, or NULL. */
const struct command_def *cli_find(const char *name);

/* What an exit status means; NULL-terminated list of status and meaning in turn. */
extern const char *const exit_meanings[];

/* An option's sentence of help, with what holds without it. */
void help_option_text(const struct option_def *o, struct buf *out);

/* `abba --help`: the sub-commands. `columns` is the width to wrap to. */
void help_all(struct buf *out, int columns);

/* `abba COMMAND --help`. */
void help_command(const struct command_def *command, struct buf *out, int columns);

/* abba(1) in man's macros (man-pages(7), groff_man(7)). */
void help_manual(struct buf *out);

/* A completion script for bash. */
void help_bash(struct buf *out);

#endif
