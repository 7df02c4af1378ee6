#include "base/text.h"
#include "model/decode.h"
#include "model/runner_file.h"

#include <string.h>

#define COUNTS_MAX 300

/* ---- numbers ---- */

static int decode_separator(const struct fields *f, const char *key, const char *allowed,
                            const char *const list[], struct arena *arena, const char **out,
                            struct err *err)
{
    struct fields at;

    if (decode_text(f, key, FIELDS_OPTIONAL, arena, out, err) < 0)
        return -1;
    for (size_t i = 0; list[i]; i++)
        if (strcmp(*out, list[i]) == 0)
            return 0;
    if (fields_child(f, key, FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    return fields_error(&at, err, "'%s' separates no %s: allowed are %s", *out,
                        key[0] == 'd' ? "decimals" : "groups of digits", allowed);
}

static int decode_numbers(const struct fields *at, struct number_format *numbers,
                          struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"decimal", "group", NULL};
    static const char *const decimals[] = {".", ",", NULL};
    static const char *const groups[] = {
        "",  " ", ",", ".", "'", "_", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x99", NUMBER_BLANKS,
        NULL};

    *numbers = (struct number_format){.decimal = ".", .group = ""};
    if (!at->value)
        return 0;
    if (fields_known(at, keys, err) < 0 ||
        decode_separator(at, "decimal", "'.' and ','", decimals, arena, &numbers->decimal, err) <
            0 ||
        decode_separator(at, "group",
                         "none (\"\"), space, ',', '.', ''', '_', U+00A0, U+202F, U+2019, and "
                         "the text of space, U+00A0 and U+202F for any one of these",
                         groups, arena, &numbers->group, err) < 0)
        return -1;
    if (strcmp(numbers->decimal, numbers->group) == 0)
        return fields_error(at, err, "'decimal' and 'group' are both '%s'", numbers->decimal);
    return 0;
}

/* ---- extractions ---- */

static int decode_extraction_role(const struct fields *f, const struct runner *r,
                                  struct extraction *from, struct arena *arena, struct err *err)
{
    struct strings names = {0};
    struct fields at;

    if (decode_text(f, "role", FIELDS_OPTIONAL, arena, &from->role, err) < 0)
        return -1;
    if (!from->role && r->role_count > 1)
        return fields_error(f, err, "needs 'role': the runner has %zu roles", r->role_count);
    if (!from->role)
        from->role = r->roles[0].name;
    if (runner_find_role(r, from->role))
        return 0;
    runner_role_names(r, &names, arena);
    if (fields_child(f, "role", FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    return decode_unknown(&at, err, "role", from->role, &names);
}

static int decode_source(const struct fields *f, struct extraction *from, struct arena *arena,
                         struct err *err)
{
    int stream = SOURCE_STDOUT;

    if (fields_has(f, "file") && fields_has(f, "stream"))
        return fields_error(f, err, "has both 'file' and 'stream': one is allowed");
    if (fields_choice(f, "stream", FIELDS_OPTIONAL, runner_stream_names, &stream, err) < 0 ||
        decode_text(f, "file", FIELDS_OPTIONAL, arena, &from->file, err) < 0)
        return -1;
    from->source = from->file ? SOURCE_FILE : (enum metric_source)stream;
    return 0;
}

/* RFC 6901: empty, or '/' before every token; '~' only as ~0 or ~1. */
static bool pointer_ok(const char *pointer)
{
    if (pointer[0] != '\0' && pointer[0] != '/')
        return false;
    for (const char *p = strchr(pointer, '~'); p; p = strchr(p + 1, '~'))
        if (p[1] != '0' && p[1] != '1')
            return false;
    return true;
}

static int decode_pointer(const struct fields *f, struct extraction *from, struct arena *arena,
                          struct err *err)
{
    struct fields at;

    if (decode_text(f, "json", FIELDS_REQUIRED, arena, &from->json, err) < 0 ||
        fields_child(f, "json", FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    if (pointer_ok(from->json))
        return 0;
    return fields_error(
        &at, err, "'%s' is no JSON pointer: it begins with '/', such as \"/end/rate\"", from->json);
}

/* `value`: a number is wanted, so that JSON will do as well. */
static int decode_extraction(const struct fields *f, const struct runner *r, bool value,
                             struct extraction *from, struct arena *arena, struct err *err)
{
    bool pattern = fields_has(f, "pattern"), json = value && fields_has(f, "json");

    if (decode_extraction_role(f, r, from, arena, err) < 0 ||
        decode_source(f, from, arena, err) < 0)
        return -1;
    if (!value && from->source == SOURCE_HEAP)
        return fields_error(f, err,
                            "the stream 'heap' is for metrics alone: only a memory pass "
                            "has it");
    if (pattern && json)
        return fields_error(f, err, "has both 'pattern' and 'json': one is allowed");
    if (!pattern && !json)
        return fields_error(f, err, value ? "needs 'pattern' or 'json'" : "needs 'pattern'");
    if (json)
        return decode_pointer(f, from, arena, err);
    return runner_decode_pattern(f, "pattern", value, arena, &from->pattern, err);
}

/* ---- metrics ---- */

static int decode_metric_name(const struct fields *f, const struct runner *r, size_t before,
                              struct runner_metric *m, struct arena *arena, struct err *err)
{
    const struct metric_def *def;
    struct fields at;

    if (decode_text(f, "metric", FIELDS_REQUIRED, arena, &m->name, err) < 0 ||
        fields_child(f, "metric", FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    if (!decode_is_name(m->name))
        return fields_error(&at, err,
                            "'%s' cannot name a metric: allowed are letters, digits, '.', "
                            "'_' and '-'",
                            m->name);
    for (size_t i = 0; i < before; i++)
        if (strcmp(r->metrics[i].name, m->name) == 0)
            return fields_error(&at, err, "metric '%s' is there twice", m->name);
    def = metric_find(m->name);
    if (!def || def->kind == METRIC_REPORTED)
        return 0;
    fields_error(&at, err, "'%s' is measured by abba itself: no runner may report it", m->name);
    return err_hint(err, "what the program says of itself is another metric: 'own_%s'", m->name);
}

/* Unit and direction: a standard metric has them; a runner's own must say. */
static int decode_metric_unit(const struct fields *f, struct runner_metric *m, struct arena *arena,
                              struct err *err)
{
    static const char *const betters[] = {"lower", "higher", NULL};
    const struct metric_def *def = metric_find(m->name);
    enum fields_need need = def ? FIELDS_OPTIONAL : FIELDS_REQUIRED;
    int better = def ? (int)def->better : 0;
    double ignored;

    if (def && strcmp(def->unit, "count") == 0)
        m->unit = def->unit;
    if (decode_text(f, "unit", m->unit ? FIELDS_OPTIONAL : FIELDS_REQUIRED, arena, &m->unit, err) <
            0 ||
        fields_choice(f, "better", need, betters, &better, err) < 0)
        return -1;
    m->better = (enum metric_better)better;
    if (def && m->better != def->better)
        return fields_error(f, err, "'%s' is better when %s", m->name,
                            metric_better_name(def->better));
    if (def && !metric_convert(1, m->unit, def->unit, &ignored))
        return fields_error(f, err, "'%s' is measured in '%s'; '%s' is no such unit", m->name,
                            def->unit, m->unit);
    if (strlen(m->unit) > 24)
        return fields_error(f, err, "the unit '%.40s' is too long: at most 24 bytes", m->unit);
    return 0;
}

static int decode_metric_match(const struct fields *f, struct runner_metric *m, struct err *err)
{
    int match = MATCH_ONE, reduce = REDUCE_MEAN;

    if (fields_choice(f, "match", FIELDS_OPTIONAL, runner_match_names, &match, err) < 0 ||
        fields_choice(f, "reduce", FIELDS_OPTIONAL, runner_reduce_names, &reduce, err) < 0 ||
        decode_int(f, "sacrifice", FIELDS_OPTIONAL, 0, 1000000, &m->sacrifice, err) < 0)
        return -1;
    m->match = (enum match_which)match;
    m->reduce = (enum match_reduce)reduce;
    if (m->match != MATCH_ALL && (fields_has(f, "reduce") || fields_has(f, "sacrifice")))
        return fields_error(f, err, "'%s' needs \"match\": \"all\"",
                            fields_has(f, "reduce") ? "reduce" : "sacrifice");
    return 0;
}

/* Figures of a memory pass alone: by the library, or by the program's word on its own heap. */
static int decode_heap_metric(const struct fields *f, struct runner_metric *m, struct arena *arena,
                              struct err *err)
{
    if (decode_text(f, "counts", FIELDS_OPTIONAL, arena, &m->counts, err) < 0)
        return -1;
    if (m->counts && text_characters(m->counts) > COUNTS_MAX)
        return fields_error(f, err, "'counts' has more than %d characters", COUNTS_MAX);
    if (m->from.source != SOURCE_HEAP)
        return 0;
    if (fields_has(f, "required") && m->required)
        return fields_error(f, err,
                            "what the stream 'heap' tells cannot be required: programs "
                            "without an allocator of the C library's have none");
    m->required = false;
    return 0;
}

static int decode_metric(const struct fields *f, const struct runner *r, size_t before,
                         struct runner_metric *m, struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"metric", "role",     "stream",  "file",   "pattern",
                                       "json",   "unit",     "better",  "match",  "sacrifice",
                                       "reduce", "required", "numbers", "counts", NULL};
    struct fields numbers;

    m->required = true;
    if (fields_as_object(f, err) < 0 || fields_known(f, keys, err) < 0 ||
        decode_metric_name(f, r, before, m, arena, err) < 0 ||
        decode_extraction(f, r, true, &m->from, arena, err) < 0 ||
        decode_metric_unit(f, m, arena, err) < 0 || decode_metric_match(f, m, err) < 0 ||
        fields_bool(f, "required", FIELDS_OPTIONAL, &m->required, err) < 0 ||
        decode_heap_metric(f, m, arena, err) < 0 ||
        fields_object(f, "numbers", FIELDS_OPTIONAL, &numbers, err) < 0)
        return -1;
    if (!numbers.value)
        return 0;
    struct number_format *own = arena_alloc(arena, sizeof(*own));

    m->numbers = own;
    return decode_numbers(&numbers, own, arena, err);
}

static int decode_metrics(const struct fields *f, struct runner *r, struct arena *arena,
                          struct err *err)
{
    struct fields list, item = {0};
    size_t i = 0;

    if (fields_array(f, "metrics", FIELDS_OPTIONAL, &list, err) < 0)
        return -1;
    r->metrics = decode_room(&list, arena, sizeof(*r->metrics), &r->metric_count);
    for (; fields_next(&list, &item); i++)
        if (decode_metric(&item, r, i, &r->metrics[i], arena, err) < 0)
            return -1;
    return 0;
}

/* A metric that a sample of this runner can have: its own or a standard one. */
static int check_metric(const struct fields *at, const struct runner *r, const char *name,
                        struct arena *arena, struct err *err)
{
    struct strings known = {0};
    size_t count;
    const struct metric_def *table;

    if (runner_find_metric(r, name) || metric_find(name))
        return 0;
    for (size_t i = 0; i < r->metric_count; i++)
        strings_add(&known, arena, r->metrics[i].name);
    table = metric_table(&count);
    for (size_t i = 0; i < count; i++)
        strings_add(&known, arena, table[i].name);
    return decode_unknown(at, err, "metric", name, &known);
}

/* ---- integrity, invalid, checks ---- */

static int decode_integrity(const struct fields *f, struct runner *r, struct arena *arena,
                            struct err *err)
{
    static const char *const keys[] = {"role", "stream", "file", "pattern", NULL};
    struct fields list, item = {0};
    size_t i = 0;

    if (fields_array(f, "integrity", FIELDS_OPTIONAL, &list, err) < 0)
        return -1;
    r->integrity = decode_room(&list, arena, sizeof(*r->integrity), &r->integrity_count);
    while (fields_next(&list, &item))
        if (fields_as_object(&item, err) < 0 || fields_known(&item, keys, err) < 0 ||
            decode_extraction(&item, r, false, &r->integrity[i++], arena, err) < 0)
            return -1;
    return 0;
}

static int decode_invalid_one(const struct fields *f, const struct runner *r,
                              struct runner_invalid *invalid, struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"role", "stream", "file", "pattern", "metrics", NULL};

    if (fields_as_object(f, err) < 0 || fields_known(f, keys, err) < 0 ||
        decode_extraction(f, r, false, &invalid->from, arena, err) < 0 ||
        decode_strings(f, "metrics", FIELDS_OPTIONAL, arena, &invalid->metrics, err) < 0)
        return -1;
    for (size_t i = 0; i < invalid->metrics.count; i++)
        if (check_metric(f, r, invalid->metrics.items[i], arena, err) < 0)
            return -1;
    return 0;
}

static int decode_invalid(const struct fields *f, struct runner *r, struct arena *arena,
                          struct err *err)
{
    struct fields list, item = {0};
    size_t i = 0;

    if (fields_array(f, "invalid", FIELDS_OPTIONAL, &list, err) < 0)
        return -1;
    r->invalid = decode_room(&list, arena, sizeof(*r->invalid), &r->invalid_count);
    while (fields_next(&list, &item))
        if (decode_invalid_one(&item, r, &r->invalid[i++], arena, err) < 0)
            return -1;
    return 0;
}

static int decode_check(const struct fields *f, const struct runner *r, struct runner_check *check,
                        struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"ratio", "equals", "within", NULL};
    struct strings ratio = {0};

    if (fields_as_object(f, err) < 0 || fields_known(f, keys, err) < 0 ||
        decode_strings(f, "ratio", FIELDS_REQUIRED, arena, &ratio, err) < 0 ||
        decode_text(f, "equals", FIELDS_REQUIRED, arena, &check->equals, err) < 0 ||
        decode_percent(f, "within", FIELDS_REQUIRED, arena, &check->within_text, &check->within,
                       err) < 0)
        return -1;
    if (ratio.count != 2)
        return fields_error(f, err, "'ratio' has %zu items: two metrics are needed", ratio.count);
    check->numerator = ratio.items[0];
    check->denominator = ratio.items[1];
    if (check_metric(f, r, check->numerator, arena, err) < 0 ||
        check_metric(f, r, check->denominator, arena, err) < 0)
        return -1;
    return check_metric(f, r, check->equals, arena, err);
}

static int decode_checks(const struct fields *f, struct runner *r, struct arena *arena,
                         struct err *err)
{
    struct fields list, item = {0};
    size_t i = 0;

    if (fields_array(f, "checks", FIELDS_OPTIONAL, &list, err) < 0)
        return -1;
    r->checks = decode_room(&list, arena, sizeof(*r->checks), &r->check_count);
    while (fields_next(&list, &item))
        if (decode_check(&item, r, &r->checks[i++], arena, err) < 0)
            return -1;
    return 0;
}

#define TABLE_MAX 12

static int decode_table(const struct fields *f, struct runner *r, struct arena *arena,
                        struct err *err)
{
    struct fields at;

    if (decode_strings(f, "table", FIELDS_OPTIONAL, arena, &r->table, err) < 0 ||
        fields_child(f, "table", FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    if (at.value && (r->table.count < 1 || r->table.count > TABLE_MAX))
        return fields_error(&at, err, "has %zu items: allowed are 1 to %d metrics", r->table.count,
                            TABLE_MAX);
    for (size_t i = 0; i < r->table.count; i++) {
        if (check_metric(&at, r, r->table.items[i], arena, err) < 0)
            return -1;
        for (size_t k = 0; k < i; k++)
            if (strcmp(r->table.items[k], r->table.items[i]) == 0)
                return fields_error(&at, err, "'%s' is there twice", r->table.items[i]);
    }
    return 0;
}

/* ---- the whole ---- */

int runner_decode_output(const struct fields *f, struct runner *r, struct arena *arena,
                         struct err *err)
{
    struct fields numbers;

    if (fields_object(f, "numbers", FIELDS_OPTIONAL, &numbers, err) < 0 ||
        decode_numbers(&numbers, &r->numbers, arena, err) < 0 ||
        decode_metrics(f, r, arena, err) < 0 || decode_integrity(f, r, arena, err) < 0 ||
        decode_invalid(f, r, arena, err) < 0 || decode_table(f, r, arena, err) < 0)
        return -1;
    return decode_checks(f, r, arena, err);
}
