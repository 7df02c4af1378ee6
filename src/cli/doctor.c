#include "cli/commands.h"

#include "base/buf.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/cli.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "report/table.h"

#include <string.h>

static const struct option_def required[] = {
    {.name = "require",
     .arg = "NAME,...",
     .kind = OPTION_LIST,
     .offset = offsetof(struct settings, require),
     .help = "exit 3 if this machine does not have what these lines of the table name, such as "
             "pmu,network"},
};
static const struct option_group group_required = {"What is needed", required, 1};

static const struct option_group *const groups[] = {&group_required, &group_plain, &group_help,
                                                    NULL};

static const char *const examples[] = {
    "abba doctor", "what this machine can and cannot measure, and what mends it",
    "abba doctor --require pmu,pid-namespace", "in front of a nightly series", NULL};

static enum tone tone_of(enum check_state state)
{
    return state == CHECK_OK ? TONE_GOOD : state == CHECK_NOTE ? TONE_WARN : TONE_BAD;
}

/* "name  state  what was found", the last part wrapped. */
static void row(const struct report_style *style, const char *name, size_t name_width,
                enum tone tone, const char *state, size_t state_width, const char *found,
                struct buf *out)
{
    size_t at = name_width + state_width + 4;
    tone_text(out, style->color, TONE_BOLD, name);
    buf_fill(out, ' ', name_width + 2 - text_width(name));
    tone_text(out, style->color, tone, state);
    if (found && found[0]) {
        buf_fill(out, ' ', state_width + 2 - strlen(state));
        text_wrap(out, found, at, at, (size_t)style->columns);
    }
    buf_addch(out, '\n');
}

static void checks_rows(const struct checks *c, const struct report_style *style, struct buf *out)
{
    static const char *const words[] = {
        [CHECK_OK] = "ok", [CHECK_NOTE] = "note", [CHECK_MISSING] = "no"};
    size_t widest = 0;
    for (size_t i = 0; i < c->count; i++) {
        size_t width = strlen(c->items[i].name);
        widest = width > widest ? width : widest;
    }
    for (size_t i = 0; i < c->count; i++) {
        const struct check *k = &c->items[i];
        row(style, k->name, widest, tone_of(k->state), words[k->state], 4, k->found, out);
    }
}

static void counters_rows(const struct checks *c, const struct report_style *style, struct buf *out)
{
    size_t widest = 0, state = 0;
    for (size_t i = 0; i < c->counter_count; i++) {
        size_t width = text_width(c->counters[i].event);
        size_t word = strlen(value_status_name(c->counters[i].status));
        widest = width > widest ? width : widest;
        state = word > state ? word : state;
    }
    buf_addch(out, '\n');
    for (size_t i = 0; i < c->counter_count; i++) {
        const struct machine_counter *k = &c->counters[i];
        row(style, k->event, widest, k->status == VALUE_OK ? TONE_GOOD : TONE_BAD,
            value_status_name(k->status), state, k->reason, out);
    }
}

static void mends(const struct checks *c, const struct report_style *style, struct buf *out)
{
    bool any = false;
    for (size_t i = 0; i < c->count; i++) {
        const struct check *k = &c->items[i];
        if (k->state == CHECK_OK || !k->mend)
            continue;
        if (!any)
            buf_addch(out, '\n');
        any = true;
        tone_text(out, style->color, TONE_HEAD, k->name);
        buf_addstr(out, ": ");
        text_wrap(out, k->mend, strlen(k->name) + 2, 4, (size_t)style->columns);
        buf_addch(out, '\n');
    }
}

/* Splits the texts of --require at commas into names, each of which must be a check's. */
static int split_required(struct settings *s, const struct checks *c, struct strings *names,
                          struct err *err)
{
    const char *known[CHECKS_MAX];
    for (size_t i = 0; i < c->count; i++)
        known[i] = c->items[i].name;
    for (size_t i = 0; i < s->require.count; i++) {
        const char *p = s->require.items[i];
        for (;; p++) {
            size_t len = strcspn(p, ",");
            const char *name = arena_strndup(&s->arena, p, len);
            if (!checks_find(c, name)) {
                struct buf all = BUF_INIT;
                for (size_t k = 0; k < c->count; k++)
                    buf_printf(&all, "%s%s", k ? ", " : "", known[k]);
                err_set(err, ERR_USAGE, "option '--require': found '%s', allowed are %s", name,
                        all.data);
                const char *near = text_nearest(name, known, c->count);
                buf_release(&all);
                return near ? err_hint(err, "did you mean '%s'?", near) : -1;
            }
            strings_add(names, &s->arena, name);
            p += len;
            if (*p != ',')
                break;
        }
    }
    return 0;
}

static int check_required(const struct checks *c, const struct strings *names, struct err *err)
{
    struct buf missing = BUF_INIT;
    const char *mend = NULL;
    for (size_t i = 0; i < names->count; i++) {
        const struct check *k = checks_find(c, names->items[i]);
        if (k->state == CHECK_OK)
            continue;
        buf_printf(&missing, "%s%s (%s)", missing.len ? ", " : "", k->name, k->found);
        mend = mend ? mend : k->mend;
    }
    int status = STATUS_PASSED;
    if (missing.len) {
        status = err_set(err, ERR_MEASURE, "required, and not to be had here: %s", missing.data);
        if (mend)
            err_hint(err, "%s", mend);
    }
    buf_release(&missing);
    return status;
}

static int doctor(struct settings *s, struct err *err)
{
    struct checks c = {0};
    struct buf out = BUF_INIT;
    struct strings names = {0};
    struct report_style style = terminal_style(s);
    int status = -1;

    checks_make(&c, &s->arena);
    if (split_required(s, &c, &names, err) != 0)
        goto out;
    checks_rows(&c, &style, &out);
    if (c.counter_count)
        counters_rows(&c, &style, &out);
    mends(&c, &style, &out);
    if (terminal_print(out.data, s->quiet ? 0 : out.len, err) == 0)
        status = check_required(&c, &names, err);
out:
    buf_release(&out);
    return status;
}

const struct command_def command_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "what this machine can and cannot measure, and what mends it",
    .about = "Tries what abba needs and looks for what disturbs measurements. 'no' is a thing that "
             "cannot be measured or done here, 'note' one that makes figures noisier; what mends "
             "it stands below the table. Nothing is changed. The host's settings are for you to "
             "change; most need root.",
    .groups = groups,
    .examples = examples,
    .run = doctor,
};
