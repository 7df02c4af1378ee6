#include "model/lab_file.h"

#include <string.h>

#include "base/clock.h"
#include "model/decode.h"
#include "model/variant.h"

#define PAIRS_MAX 10000
#define WARMUP_MAX 1000
#define HOUR_NS (3600 * NSEC_PER_SEC)
#define DAY_NS (24 * HOUR_NS)
#define TIMEOUT_MIN_NS NSEC_PER_MSEC

/* Keys that a comparison and the file as a whole may have. */
#define SETTINGS_KEYS "thresholds", "pairs", "confirm", "warmup", "pause", "timeout"

/* ---- settings ---- */

static int decode_settings(const struct fields *f, struct lab_settings *s, struct arena *arena,
                           struct err *err)
{
    if (decode_text(f, "thresholds", FIELDS_OPTIONAL, arena, &s->thresholds, err) < 0 ||
        decode_int(f, "pairs", FIELDS_OPTIONAL, 1, PAIRS_MAX, &s->pairs, err) < 0 ||
        decode_int(f, "confirm", FIELDS_OPTIONAL, 0, PAIRS_MAX, &s->confirm, err) < 0 ||
        decode_int(f, "warmup", FIELDS_OPTIONAL, 0, WARMUP_MAX, &s->warmup, err) < 0 ||
        decode_time(f, "pause", FIELDS_OPTIONAL, 0, HOUR_NS, &s->pause_ns, err) < 0)
        return -1;
    return decode_time(f, "timeout", FIELDS_OPTIONAL, TIMEOUT_MIN_NS, DAY_NS, &s->timeout_ns, err);
}

/* An object of texts as "K=V". */
static int decode_env(const struct fields *f, const char *key, struct strings *out,
                      struct arena *arena, struct err *err)
{
    struct fields object, item = {0};
    const char *value;

    if (fields_object(f, key, FIELDS_OPTIONAL, &object, err) < 0)
        return -1;
    while (fields_next(&object, &item)) {
        if (!variant_env_name_ok(item.key))
            return fields_error(&item, err, "'%s' is no name of an environment variable", item.key);
        if (fields_as_string(&item, &value, err) < 0)
            return -1;
        strings_add(out, arena, arena_printf(arena, "%s=%s", item.key, value));
    }
    return 0;
}

/* ---- variables ---- */

static int decode_variable(const struct fields *f, struct lab_variable *v, struct arena *arena,
                           struct err *err)
{
    const char *value;

    if (decode_key_is_name(f, "variable", err) < 0)
        return -1;
    v->name = arena_strdup(arena, f->key);
    if (json_kind(f->value) == JSON_NULL)
        return 0;
    if (json_kind(f->value) != JSON_STRING)
        return fields_error(f, err, "found a %s, allowed is a text, or null where it must be given",
                            json_kind_name(json_kind(f->value)));
    if (fields_as_string(f, &value, err) < 0)
        return -1;
    v->value = arena_strdup(arena, value);
    return 0;
}

static int decode_variables(const struct fields *f, struct lab_file *l, struct arena *arena,
                            struct err *err)
{
    struct fields object, item = {0};

    if (fields_object(f, "variables", FIELDS_OPTIONAL, &object, err) < 0)
        return -1;
    l->variables = decode_room(&object, arena, sizeof(*l->variables), &l->variable_count);
    for (size_t i = 0; fields_next(&object, &item); i++)
        if (decode_variable(&item, &l->variables[i], arena, err) < 0)
            return -1;
    return 0;
}

/* ---- comparisons ---- */

/* Either candidates, or "aa": true. */
static int check_candidates(const struct fields *f, const struct lab_file_comparison *c, bool aa,
                            struct err *err)
{
    if (aa && c->candidates.count > 0)
        return fields_error(f, err,
                            "'aa' compares the baseline with itself, found also candidates");
    if (aa || c->candidates.count > 0)
        return 0;
    return fields_error(f, err, "needs 'candidates', or \"aa\": true");
}

static int decode_name(const struct fields *f, const struct lab_file *l,
                       struct lab_file_comparison *c, struct arena *arena, struct err *err)
{
    struct fields name;

    if (decode_text(f, "comparison", FIELDS_REQUIRED, arena, &c->name, err) < 0 ||
        fields_child(f, "comparison", FIELDS_REQUIRED, &name, err) < 0)
        return -1;
    if (!decode_is_name(c->name))
        return fields_error(&name, err, "'%s' is no name: a letter or digit, then those and . _ -",
                            c->name);
    for (size_t i = 0; i < l->comparison_count; i++)
        if (strcmp(l->comparisons[i].name, c->name) == 0)
            return fields_error(&name, err, "two comparisons are named '%s'", c->name);
    return 0;
}

static int decode_comparison(const struct fields *f, const struct lab_file *l,
                             struct lab_file_comparison *c, struct arena *arena, struct err *err)
{
    static const char *const keys[] = {
        "comparison",   "description",   "baseline",      "candidates",
        "aa",           "profiles",      "baseline_args", "candidate_args",
        "baseline_env", "candidate_env", SETTINGS_KEYS,   NULL};
    bool aa = false;

    if (fields_as_object(f, err) < 0 || fields_known(f, keys, err) < 0 ||
        decode_name(f, l, c, arena, err) < 0 ||
        decode_text(f, "description", FIELDS_OPTIONAL, arena, &c->description, err) < 0 ||
        decode_text(f, "baseline", FIELDS_REQUIRED, arena, &c->baseline, err) < 0 ||
        decode_strings(f, "candidates", FIELDS_OPTIONAL, arena, &c->candidates, err) < 0 ||
        fields_bool(f, "aa", FIELDS_OPTIONAL, &aa, err) < 0 ||
        check_candidates(f, c, aa, err) < 0 ||
        decode_strings(f, "profiles", FIELDS_REQUIRED, arena, &c->profiles, err) < 0)
        return -1;
    if (c->profiles.count == 0)
        return fields_error(f, err, "'profiles' is empty: a comparison needs one");
    if (decode_strings(f, "baseline_args", FIELDS_OPTIONAL, arena, &c->baseline_args, err) < 0 ||
        decode_strings(f, "candidate_args", FIELDS_OPTIONAL, arena, &c->candidate_args, err) < 0 ||
        decode_env(f, "baseline_env", &c->baseline_env, arena, err) < 0 ||
        decode_env(f, "candidate_env", &c->candidate_env, arena, err) < 0)
        return -1;
    return decode_settings(f, &c->settings, arena, err);
}

static int decode_comparisons(const struct fields *f, struct lab_file *l,
                              const struct lab_settings *common, struct arena *arena,
                              struct err *err)
{
    struct fields list, item = {0};
    size_t count;

    if (fields_array(f, "comparisons", FIELDS_REQUIRED, &list, err) < 0)
        return -1;
    l->comparisons = decode_room(&list, arena, sizeof(*l->comparisons), &count);
    if (count == 0 || count > LAB_COMPARISONS_MAX)
        return fields_error(&list, err, "%zu comparisons, allowed are 1 to %d", count,
                            LAB_COMPARISONS_MAX);
    while (fields_next(&list, &item)) {
        struct lab_file_comparison *c = &l->comparisons[l->comparison_count];

        c->settings = *common;
        if (decode_comparison(&item, l, c, arena, err) < 0)
            return -1;
        l->comparison_count++;
    }
    return 0;
}

int lab_file_decode(struct lab_file *l, const struct json *root, const char *file,
                    struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"series",      "description", "variables", "seed",
                                       "comparisons", SETTINGS_KEYS, NULL};
    struct lab_settings common = {
        .pairs = -1, .confirm = -1, .warmup = -1, .pause_ns = -1, .timeout_ns = -1};
    struct fields f, name;

    *l = (struct lab_file){0};
    if (fields_init(&f, file, root, err) < 0 || fields_known(&f, keys, err) < 0 ||
        decode_text(&f, "series", FIELDS_REQUIRED, arena, &l->name, err) < 0 ||
        fields_child(&f, "series", FIELDS_REQUIRED, &name, err) < 0)
        return -1;
    if (!decode_is_path_name(l->name))
        return fields_error(&name, err, "'%s' is no name", l->name);
    if (decode_text(&f, "description", FIELDS_OPTIONAL, arena, &l->description, err) < 0 ||
        decode_text(&f, "seed", FIELDS_OPTIONAL, arena, &l->seed, err) < 0 ||
        decode_settings(&f, &common, arena, err) < 0 || decode_variables(&f, l, arena, err) < 0)
        return -1;
    return decode_comparisons(&f, l, &common, arena, err);
}
