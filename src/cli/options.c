#include "cli/options.h"

#include "base/text.h"
#include "base/units.h"
#include "cli/settings.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPTIONS 64

/* getopt's value of the i-th option; above any character. */
#define VALUE_OF(i) (256 + (int)(i))

const struct option_def *option_at(const struct command_def *command, size_t i)
{
    for (const struct option_group *const *g = command->groups; *g; g++) {
        if (i < (*g)->count)
            return &(*g)->options[i];
        i -= (*g)->count;
    }
    return NULL;
}

const struct option_def *option_find(const struct command_def *command, const char *name)
{
    const struct option_def *o;
    for (size_t i = 0; (o = option_at(command, i)) != NULL; i++) {
        if (strcmp(o->name, name) == 0)
            return o;
    }
    return NULL;
}

/* ---- values ---- */

static void *field(const struct option_def *option, struct settings *s)
{
    return (char *)s + option->offset;
}

static int store_integer(const struct option_def *o, const char *text, int64_t *out,
                         struct err *err)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool digits = text[0] >= '0' && text[0] <= '9';
    if (!digits || *end != '\0' || errno != 0 || value < o->min || value > o->max)
        return err_set(err, ERR_USAGE,
                       "option '--%s': found '%s', allowed is a whole number from %lld to %lld",
                       o->name, text, (long long)o->min, (long long)o->max);
    *out = value;
    return 0;
}

static int store_time(const struct option_def *o, const char *text, int64_t *out, struct err *err)
{
    char low[UNITS_TEXT], high[UNITS_TEXT];
    if (units_parse_time(text, out, err) != 0) {
        err->code = ERR_USAGE;
        return err_wrap(err, "option '--%s'", o->name);
    }
    if (*out >= o->min && *out <= o->max)
        return 0;
    units_canonical_time(o->min, low);
    units_canonical_time(o->max, high);
    return err_set(err, ERR_USAGE, "option '--%s': found '%s', allowed is a time from %s to %s",
                   o->name, text, low, high);
}

static int store_choice(const struct option_def *o, const char *text, int *out, struct err *err)
{
    struct buf all = BUF_INIT;
    size_t n = 0;
    for (; o->choices[n]; n++) {
        if (strcmp(o->choices[n], text) == 0) {
            *out = (int)n;
            buf_release(&all);
            return 0;
        }
        buf_printf(&all, "%s%s", n ? ", " : "", o->choices[n]);
    }
    err_set(err, ERR_USAGE, "option '--%s': found '%s', allowed is one of %s", o->name, text,
            all.data);
    const char *near = text_nearest(text, o->choices, n);
    if (near)
        err_hint(err, "did you mean '%s'?", near);
    buf_release(&all);
    return -1;
}

/* Stores the value of one option given as text. ERR_USAGE. */
static int option_store(const struct option_def *option, const char *text, struct settings *s,
                        struct err *err)
{
    void *to = field(option, s);
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)to = true;
        return 0;
    case OPTION_TEXT:
        if (text[0] == '\0')
            return err_set(err, ERR_USAGE, "option '--%s': found an empty text, needed is %s",
                           option->name, option->arg);
        *(const char **)to = text;
        return 0;
    case OPTION_LIST:
        strings_add(to, &s->arena, text);
        return 0;
    case OPTION_INTEGER:
        return store_integer(option, text, to, err);
    case OPTION_TIME:
        return store_time(option, text, to, err);
    case OPTION_CHOICE:
        return store_choice(option, text, to, err);
    }
    ABBA_ASSERT(false && "an option of unknown kind");
    return -1;
}

/* ---- words ---- */

/* The table in getopt's form. */
struct split {
    struct option longs[MAX_OPTIONS + 1];
    char shorts[2 * MAX_OPTIONS + 2];
    const char *names[MAX_OPTIONS]; /* for "did you mean" */
    size_t count;
};

static void split_init(struct split *sp, const struct command_def *command)
{
    size_t len = 0;
    memset(sp, 0, sizeof(*sp));
    sp->shorts[len++] = ':'; /* a missing argument is told from an unknown option */
    const struct option_def *o;
    for (size_t i = 0; (o = option_at(command, i)) != NULL; i++) {
        ABBA_ASSERT(i < MAX_OPTIONS);
        sp->longs[i].name = o->name;
        sp->longs[i].has_arg = o->arg ? required_argument : no_argument;
        sp->longs[i].val = VALUE_OF(i);
        sp->names[i] = o->name;
        sp->count = i + 1;
        if (o->letter) {
            sp->shorts[len++] = o->letter;
            if (o->arg)
                sp->shorts[len++] = ':';
        }
    }
}

/* The place of the option that getopt's value means, or SIZE_MAX. */
static size_t place_of(const struct command_def *command, int value)
{
    if (value >= VALUE_OF(0))
        return (size_t)(value - VALUE_OF(0));
    const struct option_def *o;
    for (size_t i = 0; (o = option_at(command, i)) != NULL; i++) {
        if (o->letter && o->letter == value)
            return i;
    }
    return SIZE_MAX;
}

static int unknown_long(const struct command_def *command, const struct split *sp, const char *word,
                        struct err *err)
{
    size_t len = strcspn(word, "=");
    char name[64];
    if (len >= sizeof(name))
        len = sizeof(name) - 1;
    memcpy(name, word, len);
    name[len] = '\0';
    const char *first = NULL, *second = NULL;
    for (size_t i = 0; i < sp->count; i++) {
        if (strncmp(sp->names[i], name + 2, len - 2) == 0) {
            second = first ? sp->names[i] : NULL;
            first = first ? first : sp->names[i];
            if (second)
                break;
        }
    }
    if (second)
        return err_set(err, ERR_USAGE, "option '%s' could be '--%s' or '--%s'", name, first,
                       second);
    err_set(err, ERR_USAGE, "unknown option '%s'", name);
    const char *near = text_nearest(name + 2, sp->names, sp->count);
    if (near)
        return err_hint(err, "did you mean '--%s'?", near);
    return err_hint(err, "see 'abba %s --help'", command->name);
}

/* getopt said '?': an unknown option, an ambiguous one, or an argument that is not wanted. */
static int refuse(const struct command_def *command, const struct split *sp, char **argv,
                  struct err *err)
{
    if (optopt >= VALUE_OF(0))
        return err_set(err, ERR_USAGE, "option '--%s' takes no argument",
                       sp->names[optopt - VALUE_OF(0)]);
    if (optopt != 0) {
        err_set(err, ERR_USAGE, "unknown option '-%c'", optopt);
        return err_hint(err, "see 'abba %s --help'", command->name);
    }
    return unknown_long(command, sp, argv[optind - 1], err);
}

static int take(const struct option_def *o, bool *seen, struct settings *s, struct err *err)
{
    if (*seen && o->kind != OPTION_LIST)
        return err_set(err, ERR_USAGE, "option '--%s' is given twice", o->name);
    *seen = true;
    return option_store(o, optarg, s, err);
}

static int apply_presets(const struct command_def *command, struct settings *s, struct err *err)
{
    const struct option_def *o;
    for (size_t i = 0; (o = option_at(command, i)) != NULL; i++) {
        if (o->preset && option_store(o, o->preset, s, err) != 0)
            return -1;
    }
    return 0;
}

/* The place of the first "--", 0 without one: getopt moves the words before it behind it. */
static int find_dashes(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return i;
    return 0;
}

int options_parse(const struct command_def *command, int argc, char **argv, struct settings *s,
                  struct err *err)
{
    struct split sp;
    bool seen[MAX_OPTIONS] = {false};
    int value;

    s->command = command;
    int dashes = find_dashes(argc, argv);
    if (apply_presets(command, s, err) != 0)
        return -1;
    split_init(&sp, command);
    opterr = 0;
    optind = 0; /* glibc: start afresh */
    while ((value = getopt_long(argc, argv, sp.shorts, sp.longs, NULL)) != -1) {
        if (value == '?')
            return refuse(command, &sp, argv, err);
        size_t place = place_of(command, value == ':' ? optopt : value);
        const struct option_def *o = option_at(command, place);
        if (value == ':')
            return err_set(err, ERR_USAGE, "option '--%s' needs an argument: %s", o->name, o->arg);
        if (take(o, &seen[place], s, err) != 0)
            return -1;
    }
    if (dashes && strcmp(argv[optind - 1], "--") == 0)
        s->after_dashes = (size_t)(argc - 1 - dashes);
    for (int i = optind; i < argc; i++)
        strings_add(&s->operands, &s->arena, argv[i]);
    if (s->quiet && s->verbose)
        return err_set(err, ERR_USAGE, "options '--quiet' and '--verbose' exclude each other");
    return 0;
}

int options_check_operands(const struct command_def *command, const struct settings *s,
                           struct err *err)
{
    int given = (int)s->operands.count;
    if (given < command->min_operands)
        err_set(err, ERR_USAGE, "'abba %s' needs %s", command->name, command->operands);
    else if (command->max_operands == 0 && given > 0)
        err_set(err, ERR_USAGE, "'abba %s' takes no operands, found '%s'", command->name,
                s->operands.items[0]);
    else if (command->max_operands > 0 && given > command->max_operands)
        err_set(err, ERR_USAGE, "'abba %s' takes %s only, found also '%s'", command->name,
                command->operands, s->operands.items[command->max_operands]);
    else
        return 0;
    return err_hint(err, "see 'abba %s --help'", command->name);
}
