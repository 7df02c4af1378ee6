#include "base/json_writer.h"
#include "model/runner_file.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

const char *const runner_stream_names[] = {"stdout", "stderr", "heap", NULL};
const char *const runner_match_names[] = {"one", "first", "last", "all", NULL};
const char *const runner_reduce_names[] = {"mean", "median", "sum", "min", "max", "last", NULL};
const char *const runner_signal_names[] = {"SIGTERM", "SIGINT",  "SIGHUP",  "SIGQUIT",
                                           "SIGKILL", "SIGUSR1", "SIGUSR2", NULL};
const int runner_signal_numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGKILL, SIGUSR1, SIGUSR2};

static void key_string(struct json_writer *w, const char *key, const char *text)
{
    if (!text)
        return;
    jw_key(w, key);
    jw_string(w, text);
}

static void key_strings(struct json_writer *w, const char *key, const struct strings *list)
{
    jw_key(w, key);
    jw_array_begin(w);
    for (size_t i = 0; i < list->count; i++)
        jw_string(w, list->items[i]);
    jw_array_end(w);
}

void encode_load_text(struct json_writer *w, const char *text, enum load_form form)
{
    if (form == LOAD_AS_INTEGER)
        jw_int(w, strtoll(text, NULL, 10));
    else if (form == LOAD_AS_BOOL)
        jw_bool(w, strcmp(text, "true") == 0);
    else
        jw_string(w, text);
}

static void encode_ready(struct json_writer *w, const struct ready_spec *ready)
{
    static const char *const kinds[] = {NULL, "stdout", "stderr", "tcp", "udp"};
    char timeout[UNITS_TEXT];

    if (ready->kind == READY_AT_ONCE)
        return;
    units_canonical_time(ready->timeout_ns, timeout);
    jw_key(w, "ready");
    jw_object_begin(w);
    key_string(w, kinds[ready->kind], ready->pattern ? ready->pattern : ready->port);
    key_string(w, "timeout", timeout);
    jw_object_end(w);
}

static const char *signal_name(int number)
{
    for (size_t i = 0; runner_signal_names[i]; i++)
        if (runner_signal_numbers[i] == number)
            return runner_signal_names[i];
    return NULL;
}

static void encode_roles(struct json_writer *w, const struct runner *r)
{
    jw_key(w, "roles");
    jw_object_begin(w);
    for (size_t i = 0; i < r->role_count; i++) {
        const struct runner_role *role = &r->roles[i];

        jw_key(w, role->name);
        jw_object_begin(w);
        key_strings(w, "command", &role->command);
        if (role->env_count)
            env_encode(role->env, role->env_count, w);
        encode_ready(w, &role->ready);
        key_strings(w, "after", &role->after);
        key_string(w, "stop", signal_name(role->stop_signal));
        jw_object_end(w);
    }
    jw_object_end(w);
}

static void encode_bound(struct json_writer *w, const char *key, enum load_type type, int64_t bound)
{
    char text[UNITS_TEXT];

    jw_key(w, key);
    if (type == LOAD_INTEGER) {
        jw_int(w, bound);
        return;
    }
    load_bound_text(type, bound, text);
    jw_string(w, text);
}

static void encode_param(struct json_writer *w, const struct load_param *p)
{
    jw_key(w, p->name);
    jw_object_begin(w);
    key_string(w, "type", load_type_name(p->type));
    if (load_type_has_bounds(p->type)) {
        encode_bound(w, "min", p->type, p->min);
        if (p->max != load_type_max(p->type))
            encode_bound(w, "max", p->type, p->max);
    }
    if (p->choices.count)
        key_strings(w, "choices", &p->choices);
    if (p->default_text) {
        jw_key(w, "default");
        encode_load_text(w, p->default_text, load_type_form(p->type));
    }
    key_string(w, "description", p->description);
    jw_object_end(w);
}

static void encode_load(struct json_writer *w, const struct runner *r)
{
    jw_key(w, "load");
    jw_object_begin(w);
    for (size_t i = 0; i < r->load_count; i++)
        encode_param(w, &r->load[i]);
    jw_object_end(w);
}

static void encode_numbers(struct json_writer *w, const struct number_format *numbers)
{
    jw_key(w, "numbers");
    jw_object_begin(w);
    key_string(w, "decimal", numbers->decimal);
    key_string(w, "group", numbers->group);
    jw_object_end(w);
}

static void encode_extraction(struct json_writer *w, const struct extraction *from)
{
    key_string(w, "role", from->role);
    if (from->source == SOURCE_FILE)
        key_string(w, "file", from->file);
    else
        key_string(w, "stream", runner_stream_names[from->source]);
    key_string(w, "pattern", from->pattern);
    key_string(w, "json", from->json);
}

static void encode_metric(struct json_writer *w, const struct runner_metric *m)
{
    jw_object_begin(w);
    key_string(w, "metric", m->name);
    encode_extraction(w, &m->from);
    key_string(w, "unit", m->unit);
    key_string(w, "better", metric_better_name(m->better));
    key_string(w, "match", runner_match_names[m->match]);
    if (m->match == MATCH_ALL) {
        jw_key(w, "sacrifice");
        jw_int(w, m->sacrifice);
        key_string(w, "reduce", runner_reduce_names[m->reduce]);
    }
    jw_key(w, "required");
    jw_bool(w, m->required);
    key_string(w, "counts", m->counts);
    if (m->numbers)
        encode_numbers(w, m->numbers);
    jw_object_end(w);
}

static void encode_metrics(struct json_writer *w, const struct runner *r)
{
    jw_key(w, "metrics");
    jw_array_begin(w);
    for (size_t i = 0; i < r->metric_count; i++)
        encode_metric(w, &r->metrics[i]);
    jw_array_end(w);
}

static void encode_integrity(struct json_writer *w, const struct runner *r)
{
    jw_key(w, "integrity");
    jw_array_begin(w);
    for (size_t i = 0; i < r->integrity_count; i++) {
        jw_object_begin(w);
        encode_extraction(w, &r->integrity[i]);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void encode_invalid(struct json_writer *w, const struct runner *r)
{
    jw_key(w, "invalid");
    jw_array_begin(w);
    for (size_t i = 0; i < r->invalid_count; i++) {
        jw_object_begin(w);
        encode_extraction(w, &r->invalid[i].from);
        key_strings(w, "metrics", &r->invalid[i].metrics);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void encode_checks(struct json_writer *w, const struct runner *r)
{
    jw_key(w, "checks");
    jw_array_begin(w);
    for (size_t i = 0; i < r->check_count; i++) {
        const struct runner_check *check = &r->checks[i];

        jw_object_begin(w);
        jw_key(w, "ratio");
        jw_array_begin(w);
        jw_string(w, check->numerator);
        jw_string(w, check->denominator);
        jw_array_end(w);
        key_string(w, "equals", check->equals);
        key_string(w, "within", check->within_text);
        jw_object_end(w);
    }
    jw_array_end(w);
}

void runner_encode(const struct runner *r, struct json_writer *w)
{
    jw_object_begin(w);
    key_string(w, "runner", r->name);
    key_string(w, "description", r->description);
    key_string(w, "program", r->program);
    key_string(w, "built_by", r->built_by);
    encode_roles(w, r);
    encode_load(w, r);
    encode_numbers(w, &r->numbers);
    encode_metrics(w, r);
    encode_integrity(w, r);
    encode_invalid(w, r);
    encode_checks(w, r);
    if (r->supports.count)
        key_strings(w, "supports", &r->supports);
    if (r->table.count)
        key_strings(w, "table", &r->table);
    jw_object_end(w);
}
