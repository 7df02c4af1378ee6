#include "cli/commands.h"

#include "base/buf.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "model/metric.h"
#include "plan/lookup.h"
#include "report/table.h"
#include "run/events.h"

#include <string.h>

static const struct option_def listing[] = {
    {.name = "names",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, names),
     .help = "names only, one a line"},
};
static const struct option_group group_listing = {"What is shown", listing, 1};

static const struct option_group *const groups[] = {&group_listing, &group_plain, &group_help,
                                                    NULL};

static const char *const examples[] = {"abba list profiles", "all profiles that can be run",
                                       "abba list --names events | grep -i cache",
                                       "counters whose name has 'cache' in it", NULL};

/* One list while it is made. */
struct listing {
    struct settings *s;
    struct report_style style;
    struct buf *out;
    struct table table;
};

static const struct table_column columns[] = {
    {.title = ""},
    {.title = "", .gap = 2},
    {.title = "", .gap = 2},
};

static void begin(struct listing *l)
{
    table_init(&l->table, columns, 3, &l->s->arena);
}

static void entry(struct listing *l, const char *name, const char *fact, const char *text)
{
    if (l->s->names) {
        buf_printf(l->out, "%s\n", name);
        return;
    }
    struct buf safe = BUF_INIT;
    text_neutral(&safe, text, strlen(text), 0);
    table_row(&l->table);
    table_set(&l->table, 0, TONE_BOLD, name);
    table_set(&l->table, 1, TONE_DIM, fact);
    table_set(&l->table, 2, TONE_PLAIN, safe.data);
    buf_release(&safe);
}

static void end(struct listing *l)
{
    if (!l->s->names)
        table_write(&l->table, 0, 0, l->style.color, l->out);
}

/* A text member of a file, "" if there is none; what is wrong with the file if it is faulty. */
static const char *member(struct listing *l, const char *path, const char *key)
{
    struct buf text = BUF_INIT;
    struct err err = {0};
    const char *found = "";
    struct json *root = NULL;
    if (files_read(path, 1 << 20, &text, &err) == 0)
        root = json_parse(text.data, text.len, files_basename(path), &err);
    const struct json *value = root && json_kind(root) == JSON_OBJECT ? json_get(root, key) : NULL;
    if (!root)
        found = arena_printf(&l->s->arena, "(faulty: %s)", err.msg);
    else if (value && json_kind(value) == JSON_STRING)
        found = arena_strdup(&l->s->arena, json_string(value));
    json_free(root);
    buf_release(&text);
    return found;
}

static void list_files(struct listing *l, enum lookup_kind kind, const char *fact_key)
{
    struct strings names = {0};
    lookup_names(kind, &names, &l->s->arena);
    begin(l);
    for (size_t i = 0; i < names.count; i++) {
        const char *path = NULL;
        struct err err = {0};
        if (lookup_file(kind, names.items[i], &path, &l->s->arena, &err) != 0) {
            entry(l, names.items[i], "", err.msg);
            continue;
        }
        entry(l, names.items[i], fact_key ? member(l, path, fact_key) : "",
              member(l, path, "description"));
    }
    end(l);
}

static void list_runners(struct listing *l)
{
    list_files(l, LOOKUP_RUNNER, NULL);
}

static void list_profiles(struct listing *l)
{
    list_files(l, LOOKUP_PROFILE, NULL);
}

static void list_series(struct listing *l)
{
    list_files(l, LOOKUP_SERIES, NULL);
}

static void list_thresholds(struct listing *l)
{
    list_files(l, LOOKUP_THRESHOLDS, "rule");
}

static void list_metrics(struct listing *l)
{
    size_t count;
    const struct metric_def *table = metric_table(&count);
    begin(l);
    for (size_t i = 0; i < count; i++)
        entry(l, table[i].name,
              arena_printf(&l->s->arena, "%s, %s is better%s", table[i].unit,
                           metric_better_name(table[i].better),
                           table[i].judgeable ? "" : ", never judged"),
              table[i].help);
    end(l);
}

static void one_event(void *user, const char *name, const char *description)
{
    entry(user, name, "", description ? description : "");
}

static void list_events(struct listing *l)
{
    begin(l);
    event_list(one_event, l);
    end(l);
}

static const struct {
    const char *name;
    void (*list)(struct listing *l);
} kinds[] = {
    {"runners", list_runners}, {"profiles", list_profiles}, {"thresholds", list_thresholds},
    {"series", list_series},   {"metrics", list_metrics},   {"events", list_events},
};
#define LISTED 4 /* the first kinds: files */
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void count_event(void *user, const char *name, const char *description)
{
    (void)name;
    (void)description;
    (*(size_t *)user)++;
}

/* Without a kind: all of them, metrics and events by number only. */
static void list_all(struct listing *l)
{
    size_t count, events = 0;
    for (size_t i = 0; i < LISTED; i++) {
        tone_text(l->out, l->style.color, TONE_HEAD, kinds[i].name);
        buf_addch(l->out, '\n');
        kinds[i].list(l);
        buf_addch(l->out, '\n');
    }
    metric_table(&count);
    event_list(count_event, &events);
    tone_text(l->out, l->style.color, TONE_HEAD, "metrics");
    buf_printf(l->out, "  %zu: abba list metrics\n", count);
    tone_text(l->out, l->style.color, TONE_HEAD, "events");
    buf_printf(l->out, "   %zu that libpfm4 knows here: abba list events\n", events);
}

static int list(struct settings *s, struct err *err)
{
    struct buf out = BUF_INIT;
    struct listing l = {.s = s, .style = terminal_style(s), .out = &out};
    const char *names[KINDS];
    size_t chosen = KINDS;
    for (size_t i = 0; i < KINDS; i++) {
        names[i] = kinds[i].name;
        if (s->operands.count && strcmp(s->operands.items[0], kinds[i].name) == 0)
            chosen = i;
    }
    if (s->operands.count == 0 && s->names)
        return err_set(err, ERR_USAGE, "option '--names' needs to know of what: %s",
                       "runners, profiles, thresholds, series, metrics or events");
    if (s->operands.count && chosen == KINDS) {
        err_set(
            err, ERR_USAGE,
            "found '%s', allowed is one of runners, profiles, thresholds, series, metrics, events",
            s->operands.items[0]);
        const char *near = text_nearest(s->operands.items[0], names, KINDS);
        return near ? err_hint(err, "did you mean '%s'?", near) : -1;
    }
    if (chosen < KINDS)
        kinds[chosen].list(&l);
    else
        list_all(&l);
    int rc = terminal_print(out.data, out.len, err);
    buf_release(&out);
    return rc;
}

const struct command_def command_list = {
    .name = "list",
    .operands = "[runners|profiles|thresholds|series|metrics|events]",
    .summary = "what can be run, judged, measured and counted here",
    .about = "Lists runners, profiles, sets of thresholds, series files, metrics, or the "
             "performance counters that libpfm4 knows on this machine. A counter that is listed "
             "need not work here: 'abba doctor' tries those that abba reads.",
    .groups = groups,
    .examples = examples,
    .max_operands = 1,
    .run = list,
};
