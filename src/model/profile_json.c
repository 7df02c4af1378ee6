#include "model/profile.h"

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "model/decode.h"
#include "model/metric.h"
#include "model/runner_file.h"

#include <string.h>

#define HOUR_NS (3600 * NSEC_PER_SEC)
#define TIMEOUT_NS (60 * NSEC_PER_SEC)
#define PAIRS_MAX 10000

/* ---- decoding ---- */

#define REGIME_MAX 60 /* it is the title of a column */

static int decode_regime(const struct fields *f, struct profile *p, struct arena *arena,
                         struct err *err)
{
    struct fields at;

    if (decode_text(f, "regime", FIELDS_OPTIONAL, arena, &p->regime, err) < 0 ||
        fields_child(f, "regime", FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    if (p->regime && (p->regime[0] == '\0' || text_characters(p->regime) > REGIME_MAX))
        return fields_error(&at, err, "a regime has 1 to %d characters, such as \"latency-bound\"",
                            REGIME_MAX);
    return 0;
}

static int decode_head(const struct fields *f, struct profile *p, struct arena *arena,
                       struct err *err)
{
    struct fields at;

    if (decode_text(f, "profile", FIELDS_REQUIRED, arena, &p->name, err) < 0 ||
        decode_text(f, "runner", FIELDS_REQUIRED, arena, &p->runner, err) < 0 ||
        decode_text(f, "thresholds", FIELDS_OPTIONAL, arena, &p->thresholds, err) < 0 ||
        decode_text(f, "description", FIELDS_OPTIONAL, arena, &p->description, err) < 0 ||
        fields_child(f, "runner", FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    if (!decode_is_name(p->runner))
        return fields_error(&at, err, "'%s' cannot name a runner", p->runner);
    if (fields_child(f, "profile", FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    if (p->name[0] == '\0' || strlen(p->name) > 400)
        return fields_error(&at, err, "a profile's name has 1 to 400 characters");
    return 0;
}

/* An object of settings, by name. */
static int decode_settings(const struct fields *f, const char *key, enum fields_need need,
                           struct load_setting **out, size_t *count, struct arena *arena,
                           struct err *err)
{
    struct fields list, item = {0};

    if (fields_object(f, key, need, &list, err) < 0)
        return -1;
    *out = decode_room(&list, arena, sizeof(**out), count);
    for (size_t i = 0; fields_next(&list, &item); i++) {
        (*out)[i].name = arena_strdup(arena, item.key);
        if (decode_load_text(&item, arena, &(*out)[i].text, &(*out)[i].form, err) < 0)
            return -1;
    }
    decode_sort(*out, *count, sizeof(**out));
    return 0;
}

static bool is_cpu_choice(const char *list)
{
    struct err ignored;

    return strcmp(list, PROFILE_ALL_CPUS) == 0 || profile_check_cpus(list, NULL, &ignored) == 0;
}

/* Where an expanded profile comes from: plans have it, so that reports know its axes. */
static int decode_combination(const struct fields *f, struct profile *p, struct arena *arena,
                              struct err *err)
{
    static const char *const keys[] = {"of", "axes", NULL};
    const char *cpus;
    struct fields at;

    if (fields_object(f, "combination", FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    if (!at.value)
        return 0;
    if (p->matrix_count)
        return fields_error(&at, err, "does not go with a matrix: it is one combination of one");
    if (fields_known(&at, keys, err) < 0 ||
        decode_text(&at, "of", FIELDS_REQUIRED, arena, &p->combination_of, err) < 0 ||
        decode_settings(&at, "axes", FIELDS_REQUIRED, &p->combination, &p->combination_count, arena,
                        err) < 0)
        return -1;
    cpus = profile_axis(p, "cpus");
    return !cpus || is_cpu_choice(cpus)
               ? 0
               : fields_error(&at, err, "'%s' is no list of CPUs such as \"0-3,8\"", cpus);
}

static int decode_pass(const struct fields *f, struct profile *p, struct err *err)
{
    static const char *const passes[] = {"times", "memory", NULL};
    int pass = PASS_TIMES;

    if (fields_choice(f, "pass", FIELDS_OPTIONAL, passes, &pass, err) < 0 ||
        decode_int(f, "memory_pass", FIELDS_OPTIONAL, 1, PAIRS_MAX, &p->memory_pass, err) < 0)
        return -1;
    p->pass = (enum profile_pass)pass;
    if (p->pass == PASS_MEMORY && p->memory_pass)
        return fields_error(f, err, "'memory_pass' asks for a pass of its own, and this is one");
    return 0;
}

static int decode_counts(const struct fields *f, struct profile *p, struct err *err)
{
    p->confirm = -1;
    if (decode_int(f, "pairs", FIELDS_OPTIONAL, 1, PAIRS_MAX, &p->pairs, err) < 0 ||
        decode_int(f, "confirm", FIELDS_OPTIONAL, 0, PAIRS_MAX, &p->confirm, err) < 0 ||
        decode_int(f, "min_complete", FIELDS_OPTIONAL, 1, PAIRS_MAX, &p->min_complete, err) < 0 ||
        decode_int(f, "warmup", FIELDS_OPTIONAL, 0, PAIRS_MAX, &p->warmup, err) < 0)
        return -1;
    if (p->pairs && p->min_complete > p->pairs)
        return fields_error(f, err, "'min_complete' (%d) is above 'pairs' (%d)", p->min_complete,
                            p->pairs);
    return 0;
}

static int decode_times(const struct fields *f, struct profile *p, struct err *err)
{
    p->timeout_ns = TIMEOUT_NS;
    if (decode_time(f, "pause", FIELDS_OPTIONAL, 0, HOUR_NS, &p->pause_ns, err) < 0)
        return -1;
    if (decode_time(f, "takes", FIELDS_OPTIONAL, 1000000, 24 * HOUR_NS, &p->takes_ns, err) < 0)
        return -1;
    return decode_time(f, "timeout", FIELDS_OPTIONAL, 1000000, 24 * HOUR_NS, &p->timeout_ns, err);
}

/* Either one list for every role, or an object with a list a role. */
static int decode_cpus(const struct fields *f, struct profile *p, struct arena *arena,
                       struct err *err)
{
    struct fields at, item = {0};
    const char *list;

    if (fields_child(f, "cpus", FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    p->cpus = decode_room(&at, arena, sizeof(*p->cpus), &p->cpus_count);
    if (at.value && json_kind(at.value) == JSON_STRING) {
        p->cpus_count = 1;
        p->cpus[0] = (struct role_cpus){"*", arena_strdup(arena, json_string(at.value))};
        return profile_check_cpus(p->cpus[0].list, NULL, err) < 0
                   ? fields_error(&at, err, "'%s' is no list of CPUs such as \"0-3,8\"",
                                  p->cpus[0].list)
                   : 0;
    }
    if (at.value && fields_as_object(&at, err) < 0)
        return -1;
    for (size_t i = 0; fields_next(&at, &item); i++) {
        if (fields_as_string(&item, &list, err) < 0)
            return -1;
        if (profile_check_cpus(list, NULL, err) < 0)
            return fields_error(&item, err, "'%s' is no list of CPUs such as \"0-3,8\"", list);
        p->cpus[i] = (struct role_cpus){arena_strdup(arena, item.key), arena_strdup(arena, list)};
    }
    decode_sort(p->cpus, p->cpus_count, sizeof(*p->cpus));
    return 0;
}

static int decode_axis(const struct fields *f, const struct profile *p, struct matrix_axis *axis,
                       struct arena *arena, struct err *err)
{
    struct fields item = {0};

    if (fields_as_array(f, err) < 0)
        return -1;
    axis->name = arena_strdup(arena, f->key);
    axis->values = decode_room(f, arena, sizeof(*axis->values), &axis->value_count);
    if (axis->value_count == 0)
        return fields_error(f, err, "has no values");
    if (profile_load(p, axis->name))
        return fields_error(f, err, "'%s' is set by 'load' too", axis->name);
    for (size_t i = 0; fields_next(f, &item); i++) {
        struct load_setting *value = &axis->values[i];

        value->name = axis->name;
        if (decode_load_text(&item, arena, &value->text, &value->form, err) < 0)
            return -1;
        for (size_t k = 0; k < i; k++)
            if (strcmp(axis->values[k].text, value->text) == 0)
                return fields_error(&item, err, "'%s' is there twice", value->text);
        if (strcmp(axis->name, "cpus") == 0 &&
            (value->form != LOAD_AS_STRING || !is_cpu_choice(value->text)))
            return fields_error(
                &item, err, "'%s' is no list of CPUs such as \"0-3,8\", nor \"all\"", value->text);
    }
    return 0;
}

static int decode_matrix(const struct fields *f, struct profile *p, struct arena *arena,
                         struct err *err)
{
    struct fields list, item = {0};
    size_t combinations = 1;

    if (fields_object(f, "matrix", FIELDS_OPTIONAL, &list, err) < 0)
        return -1;
    p->matrix = decode_room(&list, arena, sizeof(*p->matrix), &p->matrix_count);
    for (size_t i = 0; fields_next(&list, &item); i++) {
        if (decode_axis(&item, p, &p->matrix[i], arena, err) < 0)
            return -1;
        if (strcmp(item.key, "cpus") == 0 && p->cpus_count)
            return fields_error(&item, err, "'cpus' is set outside of the matrix too");
        combinations *= p->matrix[i].value_count;
        if (combinations > PROFILE_MATRIX_MAX)
            return fields_error(&list, err, "has more than %d combinations", PROFILE_MATRIX_MAX);
    }
    return 0;
}

static int decode_controls(const struct fields *f, struct profile *p, struct arena *arena,
                           struct err *err)
{
    static const char *const keys[] = {"within", NULL};
    struct fields list, item = {0};

    if (fields_object(f, "controls", FIELDS_OPTIONAL, &list, err) < 0)
        return -1;
    p->controls = decode_room(&list, arena, sizeof(*p->controls), &p->control_count);
    for (size_t i = 0; fields_next(&list, &item); i++) {
        struct profile_control *control = &p->controls[i];

        control->metric = arena_strdup(arena, item.key);
        if (fields_as_object(&item, err) < 0 || fields_known(&item, keys, err) < 0 ||
            decode_percent(&item, "within", FIELDS_REQUIRED, arena, &control->limit_text,
                           &control->limit, err) < 0)
            return -1;
    }
    decode_sort(p->controls, p->control_count, sizeof(*p->controls));
    return 0;
}

/*
 * Pressure flags nothing by default: a workload with more threads than CPUs makes it by itself.
 */
void profile_noise_defaults(struct profile *p)
{
    p->noise_psi = 1, p->noise_psi_text = "100%";
    p->noise_others = 0.2, p->noise_others_text = "20%";
    p->noise_steal = 0.05, p->noise_steal_text = "5%";
}

static int decode_noise(const struct fields *f, struct profile *p, struct arena *arena,
                        struct err *err)
{
    static const char *const keys[] = {"psi", "others", "steal", NULL};
    struct fields at;

    profile_noise_defaults(p);
    if (fields_object(f, "noise", FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    if (!at.value)
        return 0;
    if (fields_known(&at, keys, err) < 0 ||
        decode_percent(&at, "psi", FIELDS_OPTIONAL, arena, &p->noise_psi_text, &p->noise_psi, err) <
            0 ||
        decode_percent(&at, "others", FIELDS_OPTIONAL, arena, &p->noise_others_text,
                       &p->noise_others, err) < 0)
        return -1;
    return decode_percent(&at, "steal", FIELDS_OPTIONAL, arena, &p->noise_steal_text,
                          &p->noise_steal, err);
}

static int decode_private_network(const struct fields *f, struct profile *p, struct arena *arena,
                                  struct err *err)
{
    struct fields at;

    if (fields_object(f, "network", FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    return at.value ? network_decode(&p->network, &at, arena, err) : 0;
}

int profile_decode(struct profile *p, const struct json *root, const char *file,
                   struct arena *arena, struct err *err)
{
    static const char *const keys[] = {
        "profile",     "runner",       "description", "load",       "network", "pairs",
        "confirm",     "min_complete", "warmup",      "pause",      "timeout", "takes",
        "only_in",     "cpus",         "controls",    "noise",      "matrix",  "regime",
        "combination", "pass",         "memory_pass", "thresholds", NULL};
    static const char *const sides[] = {"baseline", "candidate", NULL};
    int side = -1;
    struct fields f;

    *p = (struct profile){0};
    if (fields_init(&f, file, root, err) < 0 || fields_known(&f, keys, err) < 0 ||
        fields_choice(&f, "only_in", FIELDS_OPTIONAL, sides, &side, err) < 0 ||
        decode_head(&f, p, arena, err) < 0 || decode_regime(&f, p, arena, err) < 0 ||
        decode_settings(&f, "load", FIELDS_OPTIONAL, &p->load, &p->load_count, arena, err) < 0 ||
        decode_private_network(&f, p, arena, err) < 0 || decode_pass(&f, p, err) < 0 ||
        decode_counts(&f, p, err) < 0 || decode_times(&f, p, err) < 0 ||
        decode_cpus(&f, p, arena, err) < 0 || decode_matrix(&f, p, arena, err) < 0 ||
        decode_combination(&f, p, arena, err) < 0 || decode_controls(&f, p, arena, err) < 0)
        return -1;
    p->only_in = side < 0 ? NULL : sides[side];
    return decode_noise(&f, p, arena, err);
}

/* ---- encoding ---- */

static void encode_time(struct json_writer *w, const char *key, int64_t ns)
{
    char text[UNITS_TEXT];

    units_canonical_time(ns, text);
    jw_key(w, key);
    jw_string(w, text);
}

static void encode_settings(struct json_writer *w, const char *key, const struct load_setting *all,
                            size_t count)
{
    jw_key(w, key);
    jw_object_begin(w);
    for (size_t i = 0; i < count; i++) {
        jw_key(w, all[i].name);
        encode_load_text(w, all[i].text, all[i].form);
    }
    jw_object_end(w);
}

static void encode_combination(struct json_writer *w, const struct profile *p)
{
    if (!p->combination_of)
        return;
    jw_key(w, "combination");
    jw_object_begin(w);
    jw_key(w, "of"), jw_string(w, p->combination_of);
    encode_settings(w, "axes", p->combination, p->combination_count);
    jw_object_end(w);
}

/* 0 and -1 mean that the thresholds decide: left out. */
static void encode_counts(struct json_writer *w, const struct profile *p)
{
    if (p->pairs)
        jw_key(w, "pairs"), jw_int(w, p->pairs);
    if (p->confirm >= 0)
        jw_key(w, "confirm"), jw_int(w, p->confirm);
    if (p->min_complete)
        jw_key(w, "min_complete"), jw_int(w, p->min_complete);
    jw_key(w, "warmup"), jw_int(w, p->warmup);
}

static void encode_cpus(struct json_writer *w, const struct profile *p)
{
    jw_key(w, "cpus");
    jw_object_begin(w);
    for (size_t i = 0; i < p->cpus_count; i++) {
        jw_key(w, p->cpus[i].role);
        jw_string(w, p->cpus[i].list);
    }
    jw_object_end(w);
}

static void encode_matrix(struct json_writer *w, const struct profile *p)
{
    if (p->matrix_count == 0)
        return;
    jw_key(w, "matrix");
    jw_object_begin(w);
    for (size_t i = 0; i < p->matrix_count; i++) {
        const struct matrix_axis *axis = &p->matrix[i];

        jw_key(w, axis->name);
        jw_array_begin(w);
        for (size_t k = 0; k < axis->value_count; k++)
            encode_load_text(w, axis->values[k].text, axis->values[k].form);
        jw_array_end(w);
    }
    jw_object_end(w);
}

static void encode_controls(struct json_writer *w, const struct profile *p)
{
    jw_key(w, "controls");
    jw_object_begin(w);
    for (size_t i = 0; i < p->control_count; i++) {
        jw_key(w, p->controls[i].metric);
        jw_object_begin(w);
        jw_key(w, "within");
        jw_string(w, p->controls[i].limit_text);
        jw_object_end(w);
    }
    jw_object_end(w);
}

void profile_encode(const struct profile *p, struct json_writer *w)
{
    jw_object_begin(w);
    jw_key(w, "profile"), jw_string(w, p->name);
    jw_key(w, "runner"), jw_string(w, p->runner);
    if (p->description)
        jw_key(w, "description"), jw_string(w, p->description);
    if (p->thresholds)
        jw_key(w, "thresholds"), jw_string(w, p->thresholds);
    if (p->regime)
        jw_key(w, "regime"), jw_string(w, p->regime);
    encode_settings(w, "load", p->load, p->load_count);
    if (p->network.topology != NET_HOST)
        jw_key(w, "network"), network_encode(&p->network, w);
    if (p->pass == PASS_MEMORY)
        jw_key(w, "pass"), jw_string(w, "memory");
    if (p->memory_pass)
        jw_key(w, "memory_pass"), jw_int(w, p->memory_pass);
    encode_counts(w, p);
    encode_time(w, "pause", p->pause_ns);
    encode_time(w, "timeout", p->timeout_ns);
    if (p->takes_ns)
        encode_time(w, "takes", p->takes_ns);
    if (p->only_in)
        jw_key(w, "only_in"), jw_string(w, p->only_in);
    encode_cpus(w, p);
    encode_controls(w, p);
    jw_key(w, "noise");
    jw_object_begin(w);
    jw_key(w, "psi"), jw_string(w, p->noise_psi_text);
    jw_key(w, "others"), jw_string(w, p->noise_others_text);
    jw_key(w, "steal"), jw_string(w, p->noise_steal_text);
    jw_object_end(w);
    encode_matrix(w, p);
    encode_combination(w, p);
    jw_object_end(w);
}
