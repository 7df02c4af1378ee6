#include "model/thresholds.h"

#include "base/json_writer.h"
#include "model/decode.h"
#include "model/metric.h"

#include <fnmatch.h>
#include <string.h>

#define PAIRS 8
#define PAIRS_MAX 10000

static const char *const rule_names[] = {"bounded", "median", NULL};

const char *rule_name(enum rule rule)
{
    return rule_names[rule];
}

/* ---- decoding ---- */

/* "worse": null says in so many words that the metric is not judged. */
static int decode_worse(const struct fields *f, struct limit *limit, struct arena *arena,
                        struct err *err)
{
    struct fields at;

    if (fields_child(f, "worse", FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    if (!at.value || json_kind(at.value) == JSON_NULL)
        return 0;
    return decode_percent(f, "worse", FIELDS_REQUIRED, arena, &limit->worse_text, &limit->worse,
                          err);
}

static int decode_limit(const struct fields *f, struct limit *limit, struct arena *arena,
                        struct err *err)
{
    static const char *const keys[] = {"worse", "claim", "asked", NULL};
    static const char *const claims[] = {"better", NULL};
    const struct metric_def *def = metric_find(f->key);
    int claim = -1;

    if (decode_key_is_name(f, "metric", err) < 0)
        return -1;
    if (def && !def->judgeable)
        return fields_error(f, err,
                            "'%s' is shown, never judged: its split is sampled by the "
                            "kernel's tick; judge 'cpu_time'",
                            f->key);
    limit->metric = arena_strdup(arena, f->key);
    if (fields_as_object(f, err) < 0 || fields_known(f, keys, err) < 0 ||
        decode_worse(f, limit, arena, err) < 0 ||
        fields_choice(f, "claim", FIELDS_OPTIONAL, claims, &claim, err) < 0 ||
        fields_bool(f, "asked", FIELDS_OPTIONAL, &limit->asked, err) < 0)
        return -1;
    limit->claim = claim < 0 ? CLAIM_NONE : CLAIM_BETTER;
    if (!fields_has(f, "worse") && limit->claim == CLAIM_NONE)
        return fields_error(f, err, "needs 'worse' (such as \"10%%\") or 'claim'");
    return 0;
}

/* The members of `list` as limits; NULL value: none. */
static int decode_limits(const struct fields *list, struct limit **limits, size_t *count,
                         struct arena *arena, struct err *err)
{
    struct fields item = {0};

    *limits = decode_room(list, arena, sizeof(**limits), count);
    for (size_t i = 0; fields_next(list, &item); i++)
        if (decode_limit(&item, &(*limits)[i], arena, err) < 0)
            return -1;
    decode_sort(*limits, *count, sizeof(**limits));
    return 0;
}

static int decode_overrides(const struct fields *f, struct thresholds *t, struct arena *arena,
                            struct err *err)
{
    struct fields list, item = {0};

    if (fields_object(f, "profiles", FIELDS_OPTIONAL, &list, err) < 0)
        return -1;
    t->overrides = decode_room(&list, arena, sizeof(*t->overrides), &t->override_count);
    for (size_t i = 0; fields_next(&list, &item); i++) {
        struct limit_override *o = &t->overrides[i];

        o->glob = arena_strdup(arena, item.key);
        if (fields_as_object(&item, err) < 0 ||
            decode_limits(&item, &o->limits, &o->limit_count, arena, err) < 0)
            return -1;
    }
    decode_sort(t->overrides, t->override_count, sizeof(*t->overrides));
    return 0;
}

int thresholds_decode(struct thresholds *t, const struct json *root, const char *file,
                      struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"thresholds", "description", "rule",     "pairs",
                                       "confirm",    "limits",      "profiles", NULL};
    struct fields f, limits, at;
    int rule = RULE_BOUNDED;

    *t = (struct thresholds){.pairs = PAIRS};
    if (fields_init(&f, file, root, err) < 0 || fields_known(&f, keys, err) < 0 ||
        decode_text(&f, "thresholds", FIELDS_REQUIRED, arena, &t->name, err) < 0 ||
        fields_child(&f, "thresholds", FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    if (!decode_is_path_name(t->name))
        return fields_error(&at, err, "'%s' cannot name a set of thresholds", t->name);
    if (decode_text(&f, "description", FIELDS_OPTIONAL, arena, &t->description, err) < 0 ||
        fields_choice(&f, "rule", FIELDS_OPTIONAL, rule_names, &rule, err) < 0 ||
        decode_int(&f, "pairs", FIELDS_OPTIONAL, 1, PAIRS_MAX, &t->pairs, err) < 0 ||
        decode_int(&f, "confirm", FIELDS_OPTIONAL, 0, PAIRS_MAX, &t->confirm, err) < 0 ||
        fields_object(&f, "limits", FIELDS_OPTIONAL, &limits, err) < 0 ||
        decode_limits(&limits, &t->limits, &t->limit_count, arena, err) < 0)
        return -1;
    t->rule = (enum rule)rule;
    return decode_overrides(&f, t, arena, err);
}

/* ---- encoding ---- */

static void encode_limits(struct json_writer *w, const struct limit *limits, size_t count)
{
    jw_object_begin(w);
    for (size_t i = 0; i < count; i++) {
        jw_key(w, limits[i].metric);
        jw_object_begin(w);
        jw_key(w, "worse"), jw_string(w, limits[i].worse_text);
        if (limits[i].claim == CLAIM_BETTER)
            jw_key(w, "claim"), jw_string(w, "better");
        if (limits[i].asked)
            jw_key(w, "asked"), jw_bool(w, true);
        jw_object_end(w);
    }
    jw_object_end(w);
}

void thresholds_encode(const struct thresholds *t, struct json_writer *w)
{
    jw_object_begin(w);
    jw_key(w, "thresholds"), jw_string(w, t->name);
    if (t->description)
        jw_key(w, "description"), jw_string(w, t->description);
    jw_key(w, "rule"), jw_string(w, rule_name(t->rule));
    jw_key(w, "pairs"), jw_int(w, t->pairs);
    jw_key(w, "confirm"), jw_int(w, t->confirm);
    jw_key(w, "limits");
    encode_limits(w, t->limits, t->limit_count);
    jw_key(w, "profiles");
    jw_object_begin(w);
    for (size_t i = 0; i < t->override_count; i++) {
        jw_key(w, t->overrides[i].glob);
        encode_limits(w, t->overrides[i].limits, t->overrides[i].limit_count);
    }
    jw_object_end(w);
    jw_object_end(w);
}

/* ---- questions ---- */

static const struct limit *find_limit(const struct limit *limits, size_t count, const char *metric)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(limits[i].metric, metric) == 0)
            return &limits[i];
    return NULL;
}

/* Characters of a glob that stand for themselves. */
static size_t glob_weight(const char *glob)
{
    size_t weight = 0;

    for (; *glob; glob++)
        weight += strchr("*?[]", *glob) == NULL;
    return weight;
}

const struct limit *thresholds_limit(const struct thresholds *t, const char *profile,
                                     const char *metric)
{
    const struct limit *best = find_limit(t->limits, t->limit_count, metric);
    size_t best_weight = 0;

    for (size_t i = 0; i < t->override_count; i++) {
        const struct limit_override *o = &t->overrides[i];
        const struct limit *limit = find_limit(o->limits, o->limit_count, metric);
        size_t weight = glob_weight(o->glob);

        if (!limit || fnmatch(o->glob, profile, 0) != 0 || weight < best_weight)
            continue;
        best = limit;
        best_weight = weight;
    }
    return best;
}
