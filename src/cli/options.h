/*
 * options: what a sub-command understands, as tables, and the one parser that walks them.
 *
 * A table drives parsing, --help, the manual page and shell completion, so they cannot disagree.
 * Options that several sub-commands share stand in groups. A default that can be applied is
 * written as the text a person would give and goes through the same parser.
 *
 * getopt_long splits the words: short options bundle, --name=value and --name value are the same,
 * "--" ends the options, options may follow operands. On top of it: an option given twice that may
 * not be, and values that do not fit, are errors. Everything lives in the arena of the settings.
 */
#ifndef ABBA_CLI_OPTIONS_H
#define ABBA_CLI_OPTIONS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct settings;

enum option_kind {
    OPTION_FLAG,    /* bool */
    OPTION_TEXT,    /* const char * */
    OPTION_LIST,    /* struct strings; may be given several times */
    OPTION_INTEGER, /* int64_t within [min, max] */
    OPTION_TIME,    /* int64_t ns within [min, max]: a quantity with its unit */
    OPTION_CHOICE,  /* int: place in `choices` */
};

/* What the argument names, for shell completion. */
enum option_names {
    NAMES_NOTHING,
    NAMES_FILE,
    NAMES_FOLDER,
    NAMES_PROFILE,
    NAMES_METRIC,
    NAMES_EVENT
};

struct option_def {
    char letter;      /* short form; 0: none */
    const char *name; /* long form, without dashes */
    const char *arg;  /* what the argument is called; NULL: takes none */
    const char *help; /* one sentence, no full stop */
    enum option_kind kind;
    size_t offset;      /* of the field in struct settings */
    const char *preset; /* applied before parsing, as text; NULL: none */
    const char *absent; /* what holds without the option, in words, if `preset` does not say it */
    int64_t min, max; /* of a list: `max` 1 where a second one is refused later, with both named */
    const char *const *choices; /* NULL-terminated */
    enum option_names names;
};

struct option_group {
    const char *title;
    const struct option_def *options;
    size_t count;
};

struct command_def {
    const char *name;
    const char *operands;                     /* "BASELINE CANDIDATE...", "" */
    const char *summary;                      /* one line for the list of sub-commands */
    const char *about;                        /* paragraphs separated by an empty line */
    const struct option_group *const *groups; /* NULL-terminated */
    const char *const *examples;              /* command, meaning, command, meaning, NULL */
    int min_operands, max_operands;           /* max -1: any number */
    enum option_names names;                  /* of the operands */
    /* Does it. Returns an exit status; -1 with err set where it failed. */
    int (*run)(struct settings *s, struct err *err);
};

/* Visits all options of a command, in the order of the groups. NULL after the last. */
const struct option_def *option_at(const struct command_def *command, size_t i);

/* The option of that long name, or NULL. */
const struct option_def *option_find(const struct command_def *command, const char *name);

/*
 * Applies presets, then the words after the sub-command. `settings` must be initialised; its
 * operands are filled in. Does not look at the number of operands. ERR_USAGE.
 */
int options_parse(const struct command_def *command, int argc, char **argv, struct settings *s,
                  struct err *err);

/* Whether the number of operands fits. ERR_USAGE. Not asked of a command that was given --help. */
int options_check_operands(const struct command_def *command, const struct settings *s,
                           struct err *err);

#endif
