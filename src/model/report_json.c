/*
 * report.json. One table an object says its keys, in the order in which they are written, and what
 * each is in memory; writing and reading both walk it, so they cannot differ. The keys that come
 * first are those of the documented format; further ones follow them.
 */
#include "base/fields.h"
#include "base/json_writer.h"
#include "model/report.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum kind {
    KIND_FORMAT,  /* the number of this format, 1; no member in memory */
    KIND_TEXT,    /* const char * */
    KIND_MAYBE,   /* const char *, NULL is null */
    KIND_SHA256,  /* char[65] */
    KIND_COUNT,   /* int, not negative */
    KIND_COUNT64, /* uint64_t */
    KIND_BOOL,    /* bool */
    KIND_FIGURE,  /* double: NaN is null, infinities are the strings "inf" and "-inf" */
    KIND_RANGE,   /* two doubles one after the other: an array of two figures */
    KIND_VERDICT, /* enum verdict */
    KIND_GRADE,   /* enum grade, none is null */
    KIND_MARK,    /* enum mark, none is null */
    KIND_BETTER,  /* enum metric_better */
    KIND_STRINGS, /* struct strings */
    KIND_LIST,    /* pointer to structs, counted beside it */
};

struct shape;

struct member {
    const char *key;
    enum kind kind;
    size_t offset;
    size_t count_offset;       /* KIND_LIST: of the size_t */
    const struct shape *items; /* KIND_LIST */
};

struct shape {
    const struct member *members;
    size_t count;
    size_t size; /* of the struct */
};

#define AT(field) offsetof(struct OWNER, field)
#define SHAPE(table, owner)                                                                        \
    {                                                                                              \
        table, sizeof table / sizeof *table, sizeof(struct owner)                                  \
    }

#define OWNER report_metric
static const struct member metric_members[] = {
    {"candidate", KIND_TEXT, AT(candidate), 0, NULL},
    {"metric", KIND_TEXT, AT(metric), 0, NULL},
    {"unit", KIND_TEXT, AT(unit), 0, NULL},
    {"better", KIND_BETTER, AT(better), 0, NULL},
    {"baseline_median", KIND_FIGURE, AT(baseline_median), 0, NULL},
    {"candidate_median", KIND_FIGURE, AT(candidate_median), 0, NULL},
    {"median_change", KIND_FIGURE, AT(median_change), 0, NULL},
    {"median_difference", KIND_FIGURE, AT(median_difference), 0, NULL},
    {"interval", KIND_RANGE, AT(interval_low), 0, NULL},
    {"level", KIND_FIGURE, AT(level), 0, NULL},
    {"threshold", KIND_FIGURE, AT(threshold), 0, NULL},
    {"verdict", KIND_VERDICT, AT(verdict), 0, NULL},
    {"grade", KIND_GRADE, AT(grade), 0, NULL},
    {"hodges_lehmann", KIND_FIGURE, AT(hodges_lehmann), 0, NULL},
    {"p", KIND_FIGURE, AT(p), 0, NULL},
    {"sees", KIND_FIGURE, AT(sees), 0, NULL},
    {"complete_pairs", KIND_COUNT, AT(complete_pairs), 0, NULL},
    {"baseline_spread", KIND_FIGURE, AT(baseline_spread), 0, NULL},
    {"candidate_spread", KIND_FIGURE, AT(candidate_spread), 0, NULL},
    {"baseline_range", KIND_RANGE, AT(baseline_min), 0, NULL},
    {"candidate_range", KIND_RANGE, AT(candidate_min), 0, NULL},
    {"mark", KIND_MARK, AT(mark), 0, NULL},
    {"hodges_lehmann_interval", KIND_RANGE, AT(hl_low), 0, NULL},
    {"hodges_lehmann_level", KIND_FIGURE, AT(hl_level), 0, NULL},
    {"holm_p", KIND_FIGURE, AT(holm_p), 0, NULL},
    {"zeros", KIND_COUNT, AT(zeros), 0, NULL},
    {"sigma", KIND_FIGURE, AT(sigma), 0, NULL},
    {"slot_effect", KIND_FIGURE, AT(slot_effect), 0, NULL},
    {"slot_p", KIND_FIGURE, AT(slot_p), 0, NULL},
    {"balanced_median", KIND_FIGURE, AT(balanced_median), 0, NULL},
    {"pairing_gain", KIND_FIGURE, AT(pairing_gain), 0, NULL},
    {"false_alarm", KIND_FIGURE, AT(false_alarm), 0, NULL},
    {"claim", KIND_MAYBE, AT(claim), 0, NULL},
    {"control", KIND_BOOL, AT(control), 0, NULL},
    {"note", KIND_MAYBE, AT(note), 0, NULL},
    {"missing", KIND_STRINGS, AT(missing), 0, NULL},
};
static const struct shape metric_shape = SHAPE(metric_members, report_metric);
#undef OWNER

#define OWNER report_failure
static const struct member failure_members[] = {
    {"variant", KIND_TEXT, AT(variant), 0, NULL},
    {"count", KIND_COUNT, AT(count), 0, NULL},
    {"run", KIND_COUNT64, AT(run), 0, NULL},
    {"error", KIND_MAYBE, AT(error), 0, NULL},
    {"stderr_tail", KIND_MAYBE, AT(stderr_tail), 0, NULL},
};
static const struct shape failure_shape = SHAPE(failure_members, report_failure);
#undef OWNER

#define OWNER report_aa
static const struct member aa_members[] = {
    {"metric", KIND_TEXT, AT(metric), 0, NULL},
    {"sigma", KIND_FIGURE, AT(sigma), 0, NULL},
    {"sigma_mad", KIND_FIGURE, AT(sigma_mad), 0, NULL},
    {"slot_effect", KIND_FIGURE, AT(slot_effect), 0, NULL},
    {"lag1", KIND_FIGURE, AT(lag1), 0, NULL},
    {"swap_rate", KIND_FIGURE, AT(swap_rate), 0, NULL},
};
static const struct shape aa_shape = SHAPE(aa_members, report_aa);
#undef OWNER

#define OWNER report_profile
static const struct member profile_members[] = {
    {"profile", KIND_TEXT, AT(profile), 0, NULL},
    {"verdict", KIND_VERDICT, AT(verdict), 0, NULL},
    {"pairs", KIND_COUNT, AT(pairs), 0, NULL},
    {"complete_pairs", KIND_COUNT, AT(complete_pairs), 0, NULL},
    {"metrics", KIND_LIST, AT(metrics), AT(metric_count), &metric_shape},
    {"min_complete", KIND_COUNT, AT(min_complete), 0, NULL},
    {"stage", KIND_TEXT, AT(stage), 0, NULL},
    {"main_verdict", KIND_MAYBE, AT(main_verdict), 0, NULL},
    {"order", KIND_TEXT, AT(order), 0, NULL},
    {"level", KIND_FIGURE, AT(level), 0, NULL},
    {"noisy_pairs", KIND_COUNT, AT(noisy_pairs), 0, NULL},
    {"failures", KIND_LIST, AT(failures), AT(failure_count), &failure_shape},
    {"aa", KIND_LIST, AT(aa), AT(aa_count), &aa_shape},
    {"notes", KIND_STRINGS, AT(notes), 0, NULL},
};
static const struct shape profile_shape = SHAPE(profile_members, report_profile);
#undef OWNER

#define OWNER report_worst
static const struct member worst_members[] = {
    {"candidate", KIND_TEXT, AT(candidate), 0, NULL},
    {"metric", KIND_TEXT, AT(metric), 0, NULL},
    {"profile", KIND_TEXT, AT(profile), 0, NULL},
    {"median_change", KIND_FIGURE, AT(median_change), 0, NULL},
};
static const struct shape worst_shape = SHAPE(worst_members, report_worst);
#undef OWNER

#define OWNER report
static const struct member report_members[] = {
    {"abba", KIND_FORMAT, 0, 0, NULL},
    {"series", KIND_TEXT, AT(series), 0, NULL},
    {"plan_sha256", KIND_SHA256, AT(plan_sha256), 0, NULL},
    {"analysis", KIND_COUNT, AT(analysis), 0, NULL},
    {"verdict", KIND_VERDICT, AT(verdict), 0, NULL},
    {"profiles", KIND_LIST, AT(profiles), AT(profile_count), &profile_shape},
    {"rule", KIND_TEXT, AT(rule), 0, NULL},
    {"thresholds", KIND_TEXT, AT(thresholds), 0, NULL},
    {"exploratory", KIND_BOOL, AT(exploratory), 0, NULL},
    {"finished", KIND_BOOL, AT(finished), 0, NULL},
    {"runs_done", KIND_COUNT64, AT(runs_done), 0, NULL},
    {"runs_planned", KIND_COUNT64, AT(runs_planned), 0, NULL},
    {"worst", KIND_LIST, AT(worst), AT(worst_count), &worst_shape},
    {"gating_verdicts", KIND_COUNT, AT(gating_verdicts), 0, NULL},
    {"expected_false_alarms", KIND_FIGURE, AT(expected_false_alarms), 0, NULL},
    {"any_false_alarm", KIND_FIGURE, AT(any_false_alarm), 0, NULL},
    {"marks_tested", KIND_COUNT, AT(marks_tested), 0, NULL},
    {"variants", KIND_STRINGS, AT(variants), 0, NULL},
    {"commands", KIND_STRINGS, AT(displays), 0, NULL},
    {"notes", KIND_STRINGS, AT(notes), 0, NULL},
    {"machine", KIND_MAYBE, AT(host_note), 0, NULL},
};
static const struct shape report_shape = SHAPE(report_members, report);
#undef OWNER

#define FORMAT 1

/* Words of an enum whose first value is "none" and written as null. */
static const char *const grade_words[] = {NULL, "confirmed", "likely", "unsure"};
static const char *const mark_words[] = {NULL, "better", "worse"};

/* ---- writing ---- */

static void write_figure(struct json_writer *w, double figure)
{
    if (isinf(figure))
        jw_string(w, figure > 0 ? "inf" : "-inf");
    else
        jw_double(w, figure); /* NaN becomes null */
}

static void write_strings(struct json_writer *w, const struct strings *list)
{
    jw_array_begin(w);
    for (size_t i = 0; i < list->count; i++)
        jw_string(w, list->items[i]);
    jw_array_end(w);
}

static void write_range(struct json_writer *w, const double range[2])
{
    jw_array_begin(w);
    write_figure(w, range[0]);
    write_figure(w, range[1]);
    jw_array_end(w);
}

static void write_object(struct json_writer *w, const struct shape *shape, const void *object);

static void write_list(struct json_writer *w, const struct member *m, const char *owner)
{
    const char *items = *(const char *const *)(const void *)(owner + m->offset);
    size_t count = *(const size_t *)(const void *)(owner + m->count_offset);

    jw_array_begin(w);
    for (size_t i = 0; i < count; i++)
        write_object(w, m->items, items + i * m->items->size);
    jw_array_end(w);
}

static void write_member(struct json_writer *w, const struct member *m, const char *owner)
{
    const void *at = owner + m->offset;

    switch (m->kind) {
    case KIND_FORMAT:
        return jw_int(w, FORMAT);
    case KIND_TEXT:
    case KIND_MAYBE:
        return jw_string(w, *(const char *const *)at);
    case KIND_SHA256:
        return jw_string(w, at);
    case KIND_COUNT:
        return jw_int(w, *(const int *)at);
    case KIND_COUNT64:
        return jw_uint(w, *(const uint64_t *)at);
    case KIND_BOOL:
        return jw_bool(w, *(const bool *)at);
    case KIND_FIGURE:
        return write_figure(w, *(const double *)at);
    case KIND_RANGE:
        return write_range(w, at);
    case KIND_VERDICT:
        return jw_string(w, verdict_name(*(const enum verdict *)at));
    case KIND_GRADE:
        return jw_string(w, grade_words[*(const enum grade *)at]);
    case KIND_MARK:
        return jw_string(w, mark_words[*(const enum mark *)at]);
    case KIND_BETTER:
        return jw_string(w, metric_better_name(*(const enum metric_better *)at));
    case KIND_STRINGS:
        return write_strings(w, at);
    case KIND_LIST:
        return write_list(w, m, owner);
    }
}

static void write_object(struct json_writer *w, const struct shape *shape, const void *object)
{
    jw_object_begin(w);
    for (size_t i = 0; i < shape->count; i++) {
        jw_key(w, shape->members[i].key);
        write_member(w, &shape->members[i], object);
    }
    jw_object_end(w);
}

void report_encode(const struct report *r, struct buf *out)
{
    struct json_writer w;

    jw_init(&w, out, true);
    write_object(&w, &report_shape, r);
    buf_addch(out, '\n');
}

/* ---- reading ---- */

static int read_figure(const struct fields *f, double *out, struct err *err)
{
    enum json_kind kind = json_kind(f->value);

    if (kind == JSON_NULL) {
        *out = NAN;
        return 0;
    }
    if (kind != JSON_STRING)
        return fields_as_number(f, -DBL_MAX, DBL_MAX, out, err);
    if (strcmp(json_string(f->value), "inf") != 0 && strcmp(json_string(f->value), "-inf") != 0)
        return fields_error(f, err, "expected a number, null, \"inf\" or \"-inf\"");
    *out = json_string(f->value)[0] == '-' ? -INFINITY : INFINITY;
    return 0;
}

static int read_range(const struct fields *f, double range[2], struct err *err)
{
    struct fields item = {0};

    if (fields_as_array(f, err) < 0)
        return -1;
    if (json_count(f->value) != 2)
        return fields_error(f, err, "expected two figures, found %zu", json_count(f->value));
    for (size_t i = 0; fields_next(f, &item); i++)
        if (read_figure(&item, &range[i], err) < 0)
            return -1;
    return 0;
}

static int read_text(const struct fields *f, struct arena *arena, const char **out, struct err *err)
{
    if (fields_as_string(f, out, err) < 0)
        return -1;
    *out = arena_strdup(arena, *out);
    return 0;
}

static int read_strings(const struct fields *f, struct arena *arena, struct strings *out,
                        struct err *err)
{
    struct fields item = {0};
    const char *text;

    if (fields_as_array(f, err) < 0)
        return -1;
    while (fields_next(f, &item)) {
        if (read_text(&item, arena, &text, err) < 0)
            return -1;
        strings_add(out, arena, text);
    }
    return 0;
}

static int read_sha256(const struct fields *f, char out[65], struct err *err)
{
    const char *text;

    if (fields_as_string(f, &text, err) < 0)
        return -1;
    if (strlen(text) != 64 || strspn(text, "0123456789abcdef") != 64)
        return fields_error(f, err, "expected a SHA-256");
    memcpy(out, text, 65);
    return 0;
}

/* A word of a list whose first entry stands for null. */
static int read_word(const struct fields *f, const char *const words[], size_t count, int *out,
                     struct err *err)
{
    if (json_kind(f->value) == JSON_NULL) {
        *out = 0;
        return 0;
    }
    const char *text;
    if (fields_as_string(f, &text, err) < 0)
        return -1;
    for (size_t i = 1; i < count; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = (int)i;
            return 0;
        }
    }
    return fields_error(f, err, "unknown word");
}

static int read_verdict(const struct fields *f, enum verdict *out, struct err *err)
{
    const char *text;

    if (fields_as_string(f, &text, err) < 0)
        return -1;
    return verdict_parse(text, out) ? 0 : fields_error(f, err, "unknown verdict");
}

static int read_better(const struct fields *f, enum metric_better *out, struct err *err)
{
    const char *text;

    if (fields_as_string(f, &text, err) < 0)
        return -1;
    return metric_better_parse(text, out)
               ? 0
               : fields_error(f, err, "expected \"lower\" or \"higher\"");
}

static int read_object(const struct fields *f, const struct shape *shape, void *object,
                       struct arena *arena, struct err *err);

static int read_list(const struct fields *f, const struct member *m, char *owner,
                     struct arena *arena, struct err *err)
{
    struct fields item = {0};

    if (fields_as_array(f, err) < 0)
        return -1;

    size_t count = json_count(f->value), i = 0;
    char *items = arena_array(arena, count, m->items->size);
    for (; fields_next(f, &item); i++)
        if (read_object(&item, m->items, items + i * m->items->size, arena, err) < 0)
            return -1;
    *(char **)(void *)(owner + m->offset) = items;
    *(size_t *)(void *)(owner + m->count_offset) = count;
    return 0;
}

/* Reads an integer into an `int`, a `uint64_t` or, for the format's number, nowhere. */
static int read_count(const struct fields *f, enum kind kind, void *at, struct err *err)
{
    int64_t n;

    if (fields_as_int(f, 0, kind == KIND_COUNT ? INT_MAX : JSON_MAX_INTEGER, &n, err) < 0)
        return -1;
    if (kind == KIND_FORMAT)
        return n == FORMAT ? 0 : fields_error(f, err, "format %lld is not known", (long long)n);
    if (kind == KIND_COUNT)
        *(int *)at = (int)n;
    else
        *(uint64_t *)at = (uint64_t)n;
    return 0;
}

static int read_member(const struct fields *f, const struct member *m, char *owner,
                       struct arena *arena, struct err *err)
{
    void *at = owner + m->offset;
    int word = 0;

    switch (m->kind) {
    case KIND_FORMAT:
    case KIND_COUNT:
    case KIND_COUNT64:
        return read_count(f, m->kind, at, err);
    case KIND_MAYBE:
        if (json_kind(f->value) == JSON_NULL)
            return 0;
        return read_text(f, arena, at, err);
    case KIND_TEXT:
        return read_text(f, arena, at, err);
    case KIND_SHA256:
        return read_sha256(f, at, err);
    case KIND_BOOL:
        return fields_as_bool(f, at, err);
    case KIND_FIGURE:
        return read_figure(f, at, err);
    case KIND_RANGE:
        return read_range(f, at, err);
    case KIND_VERDICT:
        return read_verdict(f, at, err);
    case KIND_GRADE:
        if (read_word(f, grade_words, sizeof grade_words / sizeof *grade_words, &word, err) < 0)
            return -1;
        *(enum grade *)at = (enum grade)word;
        return 0;
    case KIND_MARK:
        if (read_word(f, mark_words, sizeof mark_words / sizeof *mark_words, &word, err) < 0)
            return -1;
        *(enum mark *)at = (enum mark)word;
        return 0;
    case KIND_BETTER:
        return read_better(f, at, err);
    case KIND_STRINGS:
        return read_strings(f, arena, at, err);
    case KIND_LIST:
        return read_list(f, m, owner, arena, err);
    }
    return -1;
}

static int read_object(const struct fields *f, const struct shape *shape, void *object,
                       struct arena *arena, struct err *err)
{
    const char *keys[40];

    ABBA_ASSERT(shape->count < sizeof keys / sizeof *keys);
    for (size_t i = 0; i < shape->count; i++)
        keys[i] = shape->members[i].key;
    keys[shape->count] = NULL;
    if (fields_as_object(f, err) < 0 || fields_known(f, keys, err) < 0)
        return -1;
    for (size_t i = 0; i < shape->count; i++) {
        struct fields child = {0};

        if (fields_child(f, keys[i], FIELDS_REQUIRED, &child, err) < 0 ||
            read_member(&child, &shape->members[i], object, arena, err) < 0)
            return -1;
    }
    return 0;
}

int report_decode(struct report *r, const struct json *root, const char *file, struct arena *arena,
                  struct err *err)
{
    struct fields f;
    struct report read = {0};

    if (fields_init(&f, file, root, err) < 0 ||
        read_object(&f, &report_shape, &read, arena, err) < 0) {
        err->code = ERR_ARCHIVE;
        return -1;
    }
    *r = read;
    return 0;
}
