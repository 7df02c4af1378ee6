#include "base/pattern.h"
#include "model/decode.h"
#include "model/runner_file.h"

#include <stdlib.h>
#include <string.h>

#define ROLES_MAX 16
#define READY_TIMEOUT_NS (10 * 1000000000LL)
#define READY_TIMEOUT_MAX_NS (3600 * 1000000000LL)

/* ---- load parameters --------------------------------------------------------------------------
 */

static int decode_load_name(const struct fields *f, struct err *err)
{
    static const char *const reserved[] = {"program", "port", "scratch", "run", "seed", "cpus"};

    if (decode_key_is_name(f, "load parameter", err) < 0)
        return -1;
    if (strchr(f->key, '.'))
        return fields_error(f, err, "a load parameter's name may hold no '.': '%s'", f->key);
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        if (strcmp(f->key, reserved[i]) == 0)
            return fields_error(f, err, "'%s' is taken: no load parameter may have that name",
                                f->key);
    return 0;
}

/* An end of the range, in the parameter's own type. */
static int decode_bound(const struct fields *f, const char *key, enum load_type type, int64_t *out,
                        struct err *err)
{
    uint64_t value = (uint64_t)*out;
    struct fields at;

    if (!fields_has(f, key))
        return 0;
    switch (type) {
    case LOAD_INTEGER:
        return fields_int(f, key, FIELDS_REQUIRED, -JSON_MAX_INTEGER, JSON_MAX_INTEGER, out, err);
    case LOAD_TIME:
        return fields_time_ns(f, key, FIELDS_REQUIRED, out, err);
    case LOAD_RATE:
        if (fields_rate_bps(f, key, FIELDS_REQUIRED, &value, err) < 0)
            return -1;
        break;
    case LOAD_SIZE:
        if (fields_size_bytes(f, key, FIELDS_REQUIRED, &value, err) < 0)
            return -1;
        break;
    case LOAD_STRING:
    case LOAD_PERCENT:
    case LOAD_BOOL:
        if (fields_child(f, key, FIELDS_REQUIRED, &at, err) < 0)
            return -1;
        return fields_error(&at, err, "a %s has no '%s'", load_type_name(type), key);
    }
    *out = (int64_t)value;
    return 0;
}

int decode_load_text(const struct fields *f, struct arena *arena, const char **text,
                     enum load_form *form, struct err *err)
{
    int64_t integer;

    switch (json_kind(f->value)) {
    case JSON_STRING:
        *text = arena_strdup(arena, json_string(f->value));
        *form = LOAD_AS_STRING;
        return 0;
    case JSON_BOOL:
        *text = json_bool(f->value) ? "true" : "false";
        *form = LOAD_AS_BOOL;
        return 0;
    case JSON_NUMBER:
        if (!json_integer(f->value, &integer))
            break;
        *text = arena_printf(arena, "%lld", (long long)integer);
        *form = LOAD_AS_INTEGER;
        return 0;
    default:
        break;
    }
    return fields_error(
        f, err,
        "found %s%s: allowed are an integer, true or false, or a string (quantities "
        "are strings with their unit, such as \"20ms\")",
        json_kind(f->value) == JSON_ARRAY || json_kind(f->value) == JSON_OBJECT ? "an " : "a ",
        json_kind(f->value) == JSON_NUMBER ? "number that is no integer"
                                           : json_kind_name(json_kind(f->value)));
}

enum load_form load_type_form(enum load_type type)
{
    return type == LOAD_INTEGER ? LOAD_AS_INTEGER
           : type == LOAD_BOOL  ? LOAD_AS_BOOL
                                : LOAD_AS_STRING;
}

static int decode_default(const struct fields *f, struct load_param *p, struct arena *arena,
                          struct err *err)
{
    struct err why;
    enum load_form form;
    struct fields at;

    if (fields_child(f, "default", FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    if (!at.value)
        return 0;
    if (decode_load_text(&at, arena, &p->default_text, &form, err) < 0)
        return -1;
    if (form != load_type_form(p->type))
        return fields_error(&at, err, "found %s %s: the parameter is of type '%s'",
                            json_kind_name(json_kind(at.value)), p->default_text,
                            load_type_name(p->type));
    if (load_param_check(p, p->default_text, NULL, &why) == 0)
        return 0;
    fields_error(&at, err, "%s", why.msg);
    if (why.hint[0])
        err_hint(err, "%s", why.hint);
    return -1;
}

static int decode_load_param(const struct fields *f, struct load_param *p, struct arena *arena,
                             struct err *err)
{
    static const char *const keys[] = {"type",    "min",         "max", "choices",
                                       "default", "description", NULL};
    static const char *const types[] = {"integer", "string",  "time", "rate",
                                        "size",    "percent", "bool", NULL};
    int type = 0;

    if (decode_load_name(f, err) < 0 || fields_as_object(f, err) < 0 ||
        fields_known(f, keys, err) < 0 ||
        fields_choice(f, "type", FIELDS_REQUIRED, types, &type, err) < 0)
        return -1;
    p->name = arena_strdup(arena, f->key);
    p->type = (enum load_type)type;
    p->max = load_type_max(p->type);
    if (decode_bound(f, "min", p->type, &p->min, err) < 0 ||
        decode_bound(f, "max", p->type, &p->max, err) < 0)
        return -1;
    if (p->min > p->max)
        return fields_error(f, err, "'min' is above 'max'");
    if (fields_has(f, "choices") && p->type != LOAD_STRING)
        return fields_error(f, err, "only a string has 'choices'");
    if (decode_strings(f, "choices", FIELDS_OPTIONAL, arena, &p->choices, err) < 0)
        return -1;
    if (decode_text(f, "description", FIELDS_OPTIONAL, arena, &p->description, err) < 0)
        return -1;
    return decode_default(f, p, arena, err);
}

static int decode_load(const struct fields *f, struct runner *r, struct arena *arena,
                       struct err *err)
{
    struct fields list, item = {0};
    size_t i = 0;

    if (fields_object(f, "load", FIELDS_OPTIONAL, &list, err) < 0)
        return -1;
    r->load = decode_room(&list, arena, sizeof(*r->load), &r->load_count);
    while (fields_next(&list, &item))
        if (decode_load_param(&item, &r->load[i++], arena, err) < 0)
            return -1;
    decode_sort(r->load, r->load_count, sizeof(*r->load));
    return 0;
}

/* ---- patterns ---------------------------------------------------------------------------------
 */

/* A pattern that compiles; with a group named "value" if a number is wanted from it. */
static int decode_pattern(const struct fields *f, const char *key, bool value, struct arena *arena,
                          const char **out, struct err *err)
{
    struct pattern *pattern;
    struct fields at;
    struct err why;
    int status = 0;

    if (decode_text(f, key, FIELDS_REQUIRED, arena, out, err) < 0 ||
        fields_child(f, key, FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    pattern = pattern_new(*out, &why);
    if (!pattern)
        return fields_error(&at, err, "%s", why.msg);
    if (value && !pattern_has_group(pattern, "value")) {
        status = fields_error(&at, err, "the pattern '%s' has no group named 'value'", *out);
        err_hint(err, "write the number's part as (?<value>...)");
    }
    pattern_free(pattern);
    return status;
}

/* ---- roles ------------------------------------------------------------------------------------
 */

static int decode_ready(const struct fields *f, struct ready_spec *ready, struct arena *arena,
                        struct err *err)
{
    static const char *const keys[] = {"stdout", "stderr", "tcp", "udp", "timeout", NULL};
    const char *used = NULL;
    struct fields at;

    ready->timeout_ns = READY_TIMEOUT_NS;
    if (fields_object(f, "ready", FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    if (!at.value)
        return 0;
    if (fields_known(&at, keys, err) < 0)
        return -1;
    for (int i = 0; i < 4; i++) {
        if (!fields_has(&at, keys[i]))
            continue;
        if (used)
            return fields_error(&at, err, "has both '%s' and '%s': one is allowed", used, keys[i]);
        used = keys[i];
        ready->kind = (enum ready_kind)(READY_STDOUT + i);
    }
    if (!used)
        return fields_error(&at, err, "needs one of 'stdout', 'stderr', 'tcp', 'udp'");
    if (decode_time(&at, "timeout", FIELDS_OPTIONAL, 1000000, READY_TIMEOUT_MAX_NS,
                    &ready->timeout_ns, err) < 0)
        return -1;
    if (ready->kind == READY_TCP || ready->kind == READY_UDP)
        return decode_text(&at, used, FIELDS_REQUIRED, arena, &ready->port, err);
    return decode_pattern(&at, used, false, arena, &ready->pattern, err);
}

static int decode_role(const struct fields *f, struct runner_role *role, struct arena *arena,
                       struct err *err)
{
    static const char *const keys[] = {"command", "ready", "after", "stop", NULL};
    int stop = -1;

    if (decode_key_is_name(f, "role", err) < 0 || fields_as_object(f, err) < 0 ||
        fields_known(f, keys, err) < 0)
        return -1;
    if (strchr(f->key, '.'))
        return fields_error(f, err, "a role's name may hold no '.': '%s'", f->key);
    role->name = arena_strdup(arena, f->key);
    if (decode_strings(f, "command", FIELDS_REQUIRED, arena, &role->command, err) < 0)
        return -1;
    if (role->command.count == 0)
        return fields_error(f, err, "'command' is empty: its first item is the program");
    if (decode_ready(f, &role->ready, arena, err) < 0 ||
        decode_strings(f, "after", FIELDS_OPTIONAL, arena, &role->after, err) < 0 ||
        fields_choice(f, "stop", FIELDS_OPTIONAL, runner_signal_names, &stop, err) < 0)
        return -1;
    role->stop_signal = stop < 0 ? 0 : runner_signal_numbers[stop];
    return 0;
}

static void role_names(const struct runner *r, struct strings *names, struct arena *arena)
{
    for (size_t i = 0; i < r->role_count; i++)
        strings_add(names, arena, r->roles[i].name);
}

static int check_after(const struct fields *roles, const struct runner *r, struct arena *arena,
                       struct err *err)
{
    struct strings names = {0};

    role_names(r, &names, arena);
    for (size_t i = 0; i < r->role_count; i++)
        for (size_t k = 0; k < r->roles[i].after.count; k++)
            if (!strings_has(&names, r->roles[i].after.items[k])) {
                struct fields at;

                if (fields_child(roles, r->roles[i].name, FIELDS_REQUIRED, &at, err) < 0)
                    return -1;
                return decode_unknown(&at, err, "role in 'after':", r->roles[i].after.items[k],
                                      &names);
            }
    return 0;
}

/* Starts, in thought, every role whose predecessors are started, until none is left. */
static int check_cycle(const struct fields *roles, const struct runner *r, struct arena *arena,
                       struct err *err)
{
    struct strings started = {0};
    bool moved = true;

    while (moved) {
        moved = false;
        for (size_t i = 0; i < r->role_count; i++) {
            const struct runner_role *role = &r->roles[i];
            size_t missing = 0;

            for (size_t k = 0; k < role->after.count; k++)
                missing += !strings_has(&started, role->after.items[k]);
            if (missing || strings_has(&started, role->name))
                continue;
            strings_add(&started, arena, role->name);
            moved = true;
        }
    }
    for (size_t i = 0; i < r->role_count; i++)
        if (!strings_has(&started, r->roles[i].name))
            return fields_error(roles, err, "role '%s' waits for itself by way of 'after'",
                                r->roles[i].name);
    return 0;
}

static int decode_roles(const struct fields *f, struct runner *r, struct arena *arena,
                        struct err *err)
{
    struct fields list, item = {0};
    size_t i = 0, ending = 0;

    if (fields_object(f, "roles", FIELDS_REQUIRED, &list, err) < 0)
        return -1;
    r->roles = decode_room(&list, arena, sizeof(*r->roles), &r->role_count);
    if (r->role_count < 1 || r->role_count > ROLES_MAX)
        return fields_error(&list, err, "has %zu roles: allowed are 1 to %d", r->role_count,
                            ROLES_MAX);
    while (fields_next(&list, &item))
        if (decode_role(&item, &r->roles[i++], arena, err) < 0)
            return -1;
    decode_sort(r->roles, r->role_count, sizeof(*r->roles));
    for (i = 0; i < r->role_count; i++)
        ending += r->roles[i].stop_signal == 0;
    if (ending == 0)
        return fields_error(&list, err, "every role has 'stop': one at least must end by itself");
    if (check_after(&list, r, arena, err) < 0)
        return -1;
    return check_cycle(&list, r, arena, err);
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

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
        "", " ", ",", ".", "'", "_", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x99", NULL};

    *numbers = (struct number_format){.decimal = ".", .group = ""};
    if (!at->value)
        return 0;
    if (fields_known(at, keys, err) < 0 ||
        decode_separator(at, "decimal", "'.' and ','", decimals, arena, &numbers->decimal, err) <
            0 ||
        decode_separator(at, "group",
                         "none (\"\"), space, ',', '.', ''', '_', U+00A0, U+202F and U+2019",
                         groups, arena, &numbers->group, err) < 0)
        return -1;
    if (strcmp(numbers->decimal, numbers->group) == 0)
        return fields_error(at, err, "'decimal' and 'group' are both '%s'", numbers->decimal);
    return 0;
}

/* ---- extractions ------------------------------------------------------------------------------
 */

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
    role_names(r, &names, arena);
    if (fields_child(f, "role", FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    return decode_unknown(&at, err, "role", from->role, &names);
}

static int decode_source(const struct fields *f, struct extraction *from, struct arena *arena,
                         struct err *err)
{
    static const char *const streams[] = {"stdout", "stderr", NULL};
    int stream = 0;

    if (fields_has(f, "file") && fields_has(f, "stream"))
        return fields_error(f, err, "has both 'file' and 'stream': one is allowed");
    if (fields_choice(f, "stream", FIELDS_OPTIONAL, streams, &stream, err) < 0 ||
        decode_text(f, "file", FIELDS_OPTIONAL, arena, &from->file, err) < 0)
        return -1;
    from->source = from->file ? SOURCE_FILE : stream ? SOURCE_STDERR : SOURCE_STDOUT;
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
    if (pattern && json)
        return fields_error(f, err, "has both 'pattern' and 'json': one is allowed");
    if (!pattern && !json)
        return fields_error(f, err, value ? "needs 'pattern' or 'json'" : "needs 'pattern'");
    if (json)
        return decode_pointer(f, from, arena, err);
    return decode_pattern(f, "pattern", value, arena, &from->pattern, err);
}

/* ---- metrics ----------------------------------------------------------------------------------
 */

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

static int decode_metric(const struct fields *f, const struct runner *r, size_t before,
                         struct runner_metric *m, struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"metric", "role",     "stream",  "file",  "pattern",
                                       "json",   "unit",     "better",  "match", "sacrifice",
                                       "reduce", "required", "numbers", NULL};
    struct fields numbers;

    m->required = true;
    if (fields_as_object(f, err) < 0 || fields_known(f, keys, err) < 0 ||
        decode_metric_name(f, r, before, m, arena, err) < 0 ||
        decode_extraction(f, r, true, &m->from, arena, err) < 0 ||
        decode_metric_unit(f, m, arena, err) < 0 || decode_metric_match(f, m, err) < 0 ||
        fields_bool(f, "required", FIELDS_OPTIONAL, &m->required, err) < 0 ||
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

/* ---- integrity, invalid, checks ---------------------------------------------------------------
 */

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

/* ---- the whole --------------------------------------------------------------------------------
 */

/* `command` has one role, and the variant is its command. */
static int check_command(const struct fields *f, struct runner *r, struct err *err)
{
    r->is_command = strcmp(r->name, "command") == 0;
    if (!r->is_command || (r->role_count == 1 && r->roles[0].command.count == 1 &&
                           strcmp(r->roles[0].command.items[0], "{program}") == 0))
        return 0;
    return fields_error(f, err,
                        "the runner 'command' has one role, whose command is [\"{program}\"]");
}

static int decode_head(const struct fields *f, struct runner *r, struct arena *arena,
                       struct err *err)
{
    struct fields at;

    if (decode_text(f, "runner", FIELDS_REQUIRED, arena, &r->name, err) < 0 ||
        fields_child(f, "runner", FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    if (!decode_is_name(r->name))
        return fields_error(&at, err,
                            "'%s' cannot name a runner: allowed are letters, digits, '.', "
                            "'_' and '-'",
                            r->name);
    r->description = NULL;
    r->program = r->name;
    if (decode_text(f, "description", FIELDS_OPTIONAL, arena, &r->description, err) < 0)
        return -1;
    return decode_text(f, "program", FIELDS_OPTIONAL, arena, &r->program, err);
}

int runner_decode(struct runner *r, const struct json *root, const char *file, struct arena *arena,
                  struct err *err)
{
    static const char *const keys[] = {"runner",  "description", "program", "roles",
                                       "load",    "numbers",     "metrics", "integrity",
                                       "invalid", "checks",      NULL};
    struct fields f, numbers;

    *r = (struct runner){0};
    if (fields_init(&f, file, root, err) < 0 || fields_known(&f, keys, err) < 0 ||
        decode_head(&f, r, arena, err) < 0 || decode_roles(&f, r, arena, err) < 0 ||
        check_command(&f, r, err) < 0 || decode_load(&f, r, arena, err) < 0 ||
        fields_object(&f, "numbers", FIELDS_OPTIONAL, &numbers, err) < 0 ||
        decode_numbers(&numbers, &r->numbers, arena, err) < 0 ||
        decode_metrics(&f, r, arena, err) < 0 || decode_integrity(&f, r, arena, err) < 0 ||
        decode_invalid(&f, r, arena, err) < 0)
        return -1;
    return decode_checks(&f, r, arena, err);
}
