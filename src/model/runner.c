#include "base/json_scan.h"
#include "base/text.h"
#include "model/runner_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct runner_role *runner_find_role(const struct runner *r, const char *name)
{
    for (size_t i = 0; i < r->role_count; i++)
        if (strcmp(r->roles[i].name, name) == 0)
            return &r->roles[i];
    return NULL;
}

const struct load_param *runner_find_load(const struct runner *r, const char *name)
{
    for (size_t i = 0; i < r->load_count; i++)
        if (strcmp(r->load[i].name, name) == 0)
            return &r->load[i];
    return NULL;
}

const struct runner_metric *runner_find_metric(const struct runner *r, const char *name)
{
    for (size_t i = 0; i < r->metric_count; i++)
        if (strcmp(r->metrics[i].name, name) == 0)
            return &r->metrics[i];
    return NULL;
}

bool runner_metric_is_memory(const struct runner_metric *m)
{
    return m->from.source == SOURCE_HEAP || m->counts;
}

const struct runner_metric *runner_timed_metric(const struct runner *r, const char *name)
{
    const struct runner_metric *m = runner_find_metric(r, name);

    return m && !runner_metric_is_memory(m) ? m : NULL;
}

const char *load_type_name(enum load_type type)
{
    static const char *const names[] = {
        [LOAD_INTEGER] = "integer", [LOAD_STRING] = "string", [LOAD_TIME] = "time",
        [LOAD_RATE] = "rate",       [LOAD_SIZE] = "size",     [LOAD_PERCENT] = "percent",
        [LOAD_BOOL] = "bool",
    };

    return names[type];
}

/* ---- values of load parameters ---- */

static int parse_integer(const char *text, int64_t *value, struct err *err)
{
    char *end;
    const char *digits = text + (text[0] == '-');

    errno = 0;
    *value = strtoll(text, &end, 10);
    if (strspn(digits, "0123456789") == 0 || *end != '\0')
        return err_set(err, ERR_CONFIG, "'%s' is not an integer", text);
    if (errno == ERANGE || *value > JSON_MAX_INTEGER || *value < -JSON_MAX_INTEGER)
        return err_set(err, ERR_CONFIG, "'%s' is beyond what a number can hold (2^53 - 1)", text);
    return 0;
}

static int parse_bool(const char *text, int64_t *value, struct err *err)
{
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return err_set(err, ERR_CONFIG, "'%s' is neither true nor false", text);
    *value = text[0] == 't';
    return 0;
}

static int check_choice(const struct load_param *p, const char *text, struct err *err)
{
    struct buf list = BUF_INIT_MAX(400);
    const char *near;

    if (p->choices.count == 0 || strings_has(&p->choices, text))
        return 0;
    for (size_t i = 0; i < p->choices.count; i++)
        if (buf_printf(&list, "%s'%s'", i ? ", " : "", p->choices.items[i]) < 0)
            break;
    err_set(err, ERR_CONFIG, "'%s' is not one of %s", text, list.data);
    buf_release(&list);
    near = text_nearest(text, p->choices.items, p->choices.count);
    if (near)
        err_hint(err, "did you mean '%s'?", near);
    return -1;
}

/* Parses by type; quantities to their base unit. */
static int parse_value(const struct load_param *p, const char *text, int64_t *value,
                       struct err *err)
{
    uint64_t unsigned_value = 0;
    double fraction;
    int status = 0;

    *value = 0;
    switch (p->type) {
    case LOAD_INTEGER:
        return parse_integer(text, value, err);
    case LOAD_BOOL:
        return parse_bool(text, value, err);
    case LOAD_STRING:
        return check_choice(p, text, err);
    case LOAD_PERCENT:
        return units_parse_percent(text, &fraction, err);
    case LOAD_TIME:
        return units_parse_time(text, value, err);
    case LOAD_RATE:
        status = units_parse_rate(text, &unsigned_value, err);
        break;
    case LOAD_SIZE:
        status = units_parse_size(text, &unsigned_value, err);
        break;
    }
    *value = (int64_t)unsigned_value;
    return status;
}

void load_bound_text(enum load_type type, int64_t bound, char out[UNITS_TEXT])
{
    if (type == LOAD_TIME)
        units_canonical_time(bound, out);
    else if (type == LOAD_RATE)
        units_canonical_rate((uint64_t)bound, out);
    else if (type == LOAD_SIZE)
        units_canonical_size((uint64_t)bound, out);
    else
        snprintf(out, UNITS_TEXT, "%" PRId64, bound);
}

bool load_type_has_bounds(enum load_type type)
{
    return type == LOAD_INTEGER || type == LOAD_TIME || type == LOAD_RATE || type == LOAD_SIZE;
}

int64_t load_type_max(enum load_type type)
{
    return type == LOAD_INTEGER ? JSON_MAX_INTEGER : INT64_MAX;
}

int load_param_check(const struct load_param *p, const char *text, int64_t *value, struct err *err)
{
    char low[UNITS_TEXT], high[UNITS_TEXT];
    int64_t v;

    if (parse_value(p, text, &v, err) < 0) {
        err->code = ERR_CONFIG;
        return -1;
    }
    if (value)
        *value = v;
    if (!load_type_has_bounds(p->type) || (v >= p->min && v <= p->max))
        return 0;
    load_bound_text(p->type, p->min, low);
    load_bound_text(p->type, p->max, high);
    if (p->max == load_type_max(p->type))
        return err_set(err, ERR_CONFIG, "'%s' is out of range: at least %s is allowed", text, low);
    return err_set(err, ERR_CONFIG, "'%s' is out of range: allowed are %s to %s", text, low, high);
}
