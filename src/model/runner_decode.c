#include "base/clock.h"
#include "base/pattern.h"
#include "model/decode.h"
#include "model/runner_file.h"

#include <stdlib.h>
#include <string.h>

#define ROLES_MAX 16
#define READY_TIMEOUT_MAX_NS (3600 * NSEC_PER_SEC)

/* ---- load parameters ---- */

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

/* ---- patterns ---- */

int runner_decode_pattern(const struct fields *f, const char *key, bool value, struct arena *arena,
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

/* ---- roles ---- */

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
    return runner_decode_pattern(&at, used, false, arena, &ready->pattern, err);
}

static int decode_role(const struct fields *f, struct runner_role *role, struct arena *arena,
                       struct err *err)
{
    static const char *const keys[] = {"command", "env", "ready", "after", "stop", NULL};
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
    if (env_decode(f, &role->env, &role->env_count, arena, err) < 0 ||
        decode_ready(f, &role->ready, arena, err) < 0 ||
        decode_strings(f, "after", FIELDS_OPTIONAL, arena, &role->after, err) < 0 ||
        fields_choice(f, "stop", FIELDS_OPTIONAL, runner_signal_names, &stop, err) < 0)
        return -1;
    role->stop_signal = stop < 0 ? 0 : runner_signal_numbers[stop];
    return 0;
}

void runner_role_names(const struct runner *r, struct strings *names, struct arena *arena)
{
    for (size_t i = 0; i < r->role_count; i++)
        strings_add(names, arena, r->roles[i].name);
}

static int check_after(const struct fields *roles, const struct runner *r, struct arena *arena,
                       struct err *err)
{
    struct strings names = {0};

    runner_role_names(r, &names, arena);
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

/* ---- the whole ---- */

/* `command` has one role, and the variant is its command. */
static int check_command(const struct fields *f, struct runner *r, struct err *err)
{
    r->is_command = strcmp(r->name, "command") == 0;
    if (!r->is_command ||
        (r->role_count == 1 && r->roles[0].command.count == 1 && r->roles[0].env_count == 0 &&
         strcmp(r->roles[0].command.items[0], "{program}") == 0))
        return 0;
    return fields_error(f, err,
                        "the runner 'command' has one role, whose command is [\"{program}\"], and "
                        "no 'env'");
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
    if (decode_text(f, "program", FIELDS_OPTIONAL, arena, &r->program, err) < 0)
        return -1;
    return decode_text(f, "built_by", FIELDS_OPTIONAL, arena, &r->built_by, err);
}

int runner_decode(struct runner *r, const struct json *root, const char *file, struct arena *arena,
                  struct err *err)
{
    static const char *const keys[] = {"runner", "description", "program", "built_by",  "roles",
                                       "load",   "numbers",     "metrics", "integrity", "invalid",
                                       "checks", "supports",    "table",   NULL};
    struct fields f;

    *r = (struct runner){0};
    if (fields_init(&f, file, root, err) < 0 || fields_known(&f, keys, err) < 0 ||
        decode_head(&f, r, arena, err) < 0 || decode_roles(&f, r, arena, err) < 0 ||
        check_command(&f, r, err) < 0 || decode_load(&f, r, arena, err) < 0 ||
        decode_strings(&f, "supports", FIELDS_OPTIONAL, arena, &r->supports, err) < 0)
        return -1;
    return runner_decode_output(&f, r, arena, err);
}
