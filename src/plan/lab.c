#include "plan/lab.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "plan/load.h"

/* A series file while its plans are made. */
struct making {
    const struct lab_file *file;
    const char *path;
    struct lab_variable *variables; /* with the values that hold */
    struct arena *arena;
};

/* ---- variables ---- */

static struct lab_variable *find_variable(const struct making *m, const char *name, size_t len)
{
    for (size_t i = 0; i < m->file->variable_count; i++)
        if (strlen(m->variables[i].name) == len && memcmp(m->variables[i].name, name, len) == 0)
            return &m->variables[i];
    return NULL;
}

/* "'a' is no variable of 'FILE'", with what may have been meant. */
static int unknown_variable(const struct making *m, const char *name, enum err_code code,
                            struct err *err)
{
    struct strings names = {0};
    const char *near;

    for (size_t i = 0; i < m->file->variable_count; i++)
        strings_add(&names, m->arena, m->variables[i].name);
    err_set(err, code, "'%s' is no variable of '%s'", name, m->path);
    if (names.count == 0)
        return err_hint(err, "it has none");
    near = text_nearest(name, names.items, names.count);
    return err_hint(err, near ? "did you mean '%s'?" : "one is '%s'", near ? near : names.items[0]);
}

static int set_variable(struct making *m, const char *setting, struct strings *given,
                        struct err *err)
{
    const char *equals = strchr(setting, '=');
    const char *name;
    struct lab_variable *v;

    if (!equals || equals == setting)
        return err_set(err, ERR_USAGE, "option '--set': found '%s', allowed is NAME=VALUE",
                       setting);
    name = arena_strndup(m->arena, setting, (size_t)(equals - setting));
    v = find_variable(m, name, strlen(name));
    if (!v) {
        unknown_variable(m, name, ERR_USAGE, err);
        return err_wrap(err, "option '--set'");
    }
    if (strings_has(given, name))
        return err_set(err, ERR_USAGE, "option '--set': '%s' is given twice", name);
    strings_add(given, m->arena, name);
    v->value = equals + 1;
    return 0;
}

static int set_variables(struct making *m, const struct strings *settings, struct err *err)
{
    size_t count = m->file->variable_count;
    struct strings given = {0};

    m->variables = arena_array(m->arena, count + 1, sizeof(*m->variables));
    if (count)
        memcpy(m->variables, m->file->variables, count * sizeof(*m->variables));
    for (size_t i = 0; i < settings->count; i++)
        if (set_variable(m, settings->items[i], &given, err) < 0)
            return -1;
    for (size_t i = 0; i < count; i++) {
        if (m->variables[i].value)
            continue;
        err_set(err, ERR_USAGE, "'%s' needs a value for its variable '%s'", m->path,
                m->variables[i].name);
        return err_hint(err, "--set %s=VALUE", m->variables[i].name);
    }
    return 0;
}

/* One {NAME} at `text`; *end is what follows it. */
static int fill_one(const struct making *m, const char *text, const char **end, struct buf *out,
                    struct err *err)
{
    size_t len = strcspn(text + 1, "}");
    const struct lab_variable *v = find_variable(m, text + 1, len);

    if (text[1 + len] != '}')
        return err_set(err, ERR_CONFIG, "'%s': a '{' without '}' in '%s'", m->path, text);
    if (!v)
        return unknown_variable(m, arena_strndup(m->arena, text + 1, len), ERR_CONFIG, err);
    buf_addstr(out, v->value);
    *end = text + len + 2;
    return 0;
}

/* Replaces {NAME} by its value; "{{" is a brace. */
static int fill(const struct making *m, const char **text, struct err *err)
{
    struct buf out = BUF_INIT;
    const char *at = *text;
    int rc = 0;

    while (rc == 0 && at && *at) {
        if (*at == '{' && at[1] != '{') {
            rc = fill_one(m, at, &at, &out, err);
            continue;
        }
        at += *at == '{' ? 1 : 0;
        buf_addch(&out, *at++);
    }
    if (*text)
        *text = arena_strndup(m->arena, out.data, out.len);
    buf_release(&out);
    return rc;
}

static int fill_list(const struct making *m, const struct strings *from, struct strings *to,
                     struct err *err)
{
    for (size_t i = 0; i < from->count; i++) {
        const char *text = from->items[i];

        if (fill(m, &text, err) < 0)
            return -1;
        strings_add(to, m->arena, text);
    }
    return 0;
}

/* ---- one comparison ---- */

/* What the command line does not say the series file may. */
static int apply_settings(const struct making *m, const struct lab_settings *s,
                          struct plan_request *q, struct err *err)
{
    const char *thresholds = s->thresholds;

    if (fill(m, &thresholds, err) < 0)
        return -1;
    if (!q->thresholds_file)
        q->thresholds_file = thresholds;
    if (q->pairs < 0)
        q->pairs = s->pairs;
    if (q->confirm < 0)
        q->confirm = s->confirm;
    if (q->warmup < 0)
        q->warmup = s->warmup;
    if (q->pause_ns < 0)
        q->pause_ns = s->pause_ns;
    if (q->timeout_ns < 0)
        q->timeout_ns = s->timeout_ns;
    if (!q->seed)
        q->seed = m->file->seed;
    return 0;
}

static int make_request(const struct making *m, const struct lab_file_comparison *c,
                        struct plan_request *q, struct err *err)
{
    const char *baseline = c->baseline;

    if (fill(m, &baseline, err) < 0)
        return -1;
    q->command = "run";
    q->series = arena_printf(m->arena, "%s:%s", m->file->name, c->name);
    q->aa = c->candidates.count == 0;
    strings_add(&q->variants, m->arena, baseline);
    if (fill_list(m, &c->candidates, &q->variants, err) < 0 ||
        fill_list(m, &c->profiles, &q->profiles, err) < 0 ||
        fill_list(m, &c->baseline_args, &q->baseline_args, err) < 0 ||
        fill_list(m, &c->candidate_args, &q->candidate_args, err) < 0 ||
        fill_list(m, &c->baseline_env, &q->baseline_env, err) < 0 ||
        fill_list(m, &c->candidate_env, &q->candidate_env, err) < 0)
        return -1;
    return apply_settings(m, &c->settings, q, err);
}

static int make_comparison(const struct making *m, size_t i, const struct plan_request *common,
                           struct lab_comparison *out, struct err *err)
{
    const struct lab_file_comparison *c = &m->file->comparisons[i];
    struct plan_request q = *common;

    *out = (struct lab_comparison){
        .name = c->name,
        .description = c->description,
        .folder = arena_printf(m->arena, "%02zu-%.60s", i + 1, c->name),
    };
    if (make_request(m, c, &q, err) == 0 && plan_build(&out->plan, &q, m->arena, err) == 0)
        return 0;
    return err_wrap(err, "comparison '%s'", c->name);
}

/* ---- the whole ---- */

int lab_build(struct lab *l, const char *name, const struct strings *settings,
              const struct plan_request *common, struct arena *arena, struct err *err)
{
    struct lab_file file;
    struct making m = {.file = &file, .arena = arena};

    if (load_series(name, &file, &m.path, arena, err) < 0 || set_variables(&m, settings, err) < 0)
        return -1;
    *l = (struct lab){
        .name = file.name,
        .description = file.description,
        .comparisons = arena_array(arena, file.comparison_count, sizeof(*l->comparisons)),
        .comparison_count = file.comparison_count,
    };
    for (size_t i = 0; i < file.comparison_count; i++)
        if (make_comparison(&m, i, common, &l->comparisons[i], err) < 0)
            return -1;
    lab_seal(l);
    return 0;
}

uint64_t lab_expected_ns(const struct lab *l)
{
    uint64_t ns = 0;

    for (size_t i = 0; i < l->comparison_count; i++) {
        uint64_t one = plan_expected_ns(&l->comparisons[i].plan);

        if (one == 0)
            return 0;
        ns += one;
    }
    return ns;
}
