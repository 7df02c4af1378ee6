/*
 * terminal: what abba writes to: width, colour, character set; and the two ways of writing.
 *
 * Results go to standard output or a file, progress and notes to standard error.
 */
#ifndef ABBA_CLI_TERMINAL_H
#define ABBA_CLI_TERMINAL_H

#include "base/err.h"
#include "base/files.h"
#include "report/report.h"

#include <stdbool.h>

struct buf;
struct settings;

/* Columns of a text that no terminal bounds. */
#define TERMINAL_PLAIN_COLUMNS 100

/* Whether the environment says UTF-8 (LC_ALL, LC_CTYPE, LANG, the first that is set). */
bool terminal_utf8(void);

/* Columns of the terminal behind a descriptor, 0 if it is none. */
int terminal_columns(int fd);

/* Columns to wrap help to: the terminal's, at most 100; 80 elsewhere. */
int terminal_help_columns(void);

/* Style of a report that goes where the settings say; archive and digest are left to the caller. */
struct report_style terminal_style(const struct settings *s);

/* Writes a result to standard output, or to --output (whole or not at all). ERR_SYSTEM. */
int terminal_result(const struct settings *s, const struct buf *text, struct err *err);

/* The same for a result that comes piece by piece: after 0, terminal_end is due, with 0 or the -1
 * of what makes the pieces. */
int terminal_begin(const struct settings *s, struct files_draft *d, struct err *err);
int terminal_piece(struct files_draft *d, const struct buf *text, struct err *err);
int terminal_end(struct files_draft *d, int rc, struct err *err);

/* Writes to standard output. ERR_SYSTEM; a reader that has gone is no error. */
int terminal_print(const char *text, size_t len, struct err *err);

/* "abba: text" on standard error, unless --quiet. */
void terminal_note(const struct settings *s, const char *text);

/* The message and its hint on standard error. */
void terminal_error(const struct err *err);

#endif
