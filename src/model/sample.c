#include "model/sample.h"

#include "base/json_writer.h"
#include "base/strings.h"
#include "model/sample_net.h"

#include <math.h>
#include <string.h>

static const char *const status_names[] = {"ok", "failed", "timeout", "invalid", "interrupted"};
static const char *const stage_names[] = {"warmup", "main", "confirm"};

const char *sample_status_name(enum sample_status status)
{
    ABBA_ASSERT((size_t)status < sizeof status_names / sizeof *status_names);
    return status_names[status];
}

const char *sample_stage_name(enum sample_stage stage)
{
    ABBA_ASSERT((size_t)stage < sizeof stage_names / sizeof *stage_names);
    return stage_names[stage];
}

const struct sample_metric *sample_find_metric(const struct sample *s, const char *name)
{
    for (size_t i = 0; i < s->metric_count; i++)
        if (strings_same(s->metrics[i].name, name))
            return &s->metrics[i];
    return NULL;
}

/* ---- writing ---- */

static void put_text(struct json_writer *w, const char *key, const char *text)
{
    jw_key(w, key);
    jw_string(w, text);
}

static void put_uint(struct json_writer *w, const char *key, uint64_t number)
{
    jw_key(w, key);
    jw_uint(w, number);
}

static void put_seconds(struct json_writer *w, const char *key, double seconds)
{
    jw_key(w, key);
    jw_double(w, isfinite(seconds) ? seconds : 0);
}

/* The members of a value; `unit` is NULL where the key's name says it. */
static void put_value(struct json_writer *w, const struct value *given, const char *unit)
{
    struct value v = *given;
    bool has_number = v.status == VALUE_OK || v.status == VALUE_SCALED;

    if (has_number && !isfinite(v.number)) {
        v = value_none(VALUE_MISSING, "not a finite number");
        has_number = false;
    }
    jw_key(w, "value");
    if (has_number)
        jw_double(w, v.number);
    else
        jw_null(w);
    if (unit)
        put_text(w, "unit", unit);
    put_text(w, "status", value_status_name(v.status));
    if (v.status != VALUE_OK)
        put_text(w, "reason", v.reason ? v.reason : "");
    if (v.status == VALUE_SCALED) {
        jw_key(w, "coverage");
        jw_double(w, v.coverage);
    }
}

static void put_metrics(struct json_writer *w, const struct sample *s)
{
    jw_key(w, "metrics");
    jw_object_begin(w);
    for (size_t i = 0; i < s->metric_count; i++) {
        const struct sample_metric *m = &s->metrics[i];

        jw_key(w, m->name);
        jw_object_begin(w);
        put_value(w, &m->value, m->unit);
        if (m->floor > 0) {
            jw_key(w, "floor");
            jw_double(w, m->floor);
        }
        jw_object_end(w);
    }
    jw_object_end(w);
}

static void put_files(struct json_writer *w, const struct sample_role *role)
{
    jw_key(w, "files");
    jw_array_begin(w);
    for (size_t i = 0; i < role->file_count; i++) {
        const struct sample_file *f = &role->files[i];

        jw_object_begin(w);
        put_text(w, "path", f->path);
        put_uint(w, "bytes", f->bytes);
        put_uint(w, "cut", f->cut);
        put_text(w, "sha256", f->sha256);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void put_role(struct json_writer *w, const struct sample_role *r)
{
    jw_key(w, r->name);
    jw_object_begin(w);
    put_text(w, "end", r->end);
    if (strcmp(r->end, SAMPLE_END_IMPORTED) == 0) {
        put_files(w, r);
        jw_object_end(w);
        return;
    }
    jw_key(w, "exit_code");
    jw_int(w, r->exit_code);
    if (r->signal)
        put_uint(w, "signal", (uint64_t)r->signal);
    if (r->error)
        put_text(w, "error", r->error);
    put_seconds(w, "wall_time", r->wall_s);
    put_seconds(w, "user_time", r->user_s);
    put_seconds(w, "system_time", r->system_s);
    jw_key(w, "cgroup_cpu_time");
    jw_object_begin(w);
    put_value(w, &r->cgroup_cpu_s, NULL);
    jw_object_end(w);
    jw_key(w, "cpu_sources_differ");
    jw_bool(w, r->cpu_differs);
    put_uint(w, "peak_rss", r->peak_rss_bytes);
    put_uint(w, "sampled_rss", r->sampled_rss_bytes);
    put_uint(w, "max_rss", r->max_rss_bytes);
    put_uint(w, "processes", r->processes);
    put_uint(w, "leftovers", r->leftovers);
    put_uint(w, "rss_samples", r->rss_samples);
    put_uint(w, "missed_ticks", r->missed_ticks);
    put_text(w, "cpus", r->cpus);
    if (r->stderr_tail)
        put_text(w, "stderr_tail", r->stderr_tail);
    put_files(w, r);
    jw_object_end(w);
}

static void put_noise(struct json_writer *w, const struct noise_reading *n)
{
    const struct {
        const char *name;
        const struct value *value;
    } readings[] = {
        {"psi_cpu", &n->psi_cpu},     {"others", &n->others},       {"steal", &n->steal},
        {"throttled", &n->throttled}, {"frequency", &n->frequency}, {"load", &n->load},
    };

    jw_key(w, "noise");
    jw_object_begin(w);
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        jw_key(w, readings[i].name);
        jw_object_begin(w);
        put_value(w, readings[i].value, NULL);
        jw_object_end(w);
    }
    jw_object_end(w);
}

void sample_encode(const struct sample *s, struct buf *out)
{
    struct json_writer w;

    jw_init(&w, out, false);
    jw_object_begin(&w);
    put_uint(&w, "run", s->run);
    put_uint(&w, "pair", s->pair);
    put_uint(&w, "slot", s->slot);
    put_uint(&w, "attempt", s->attempt);
    put_text(&w, "stage", sample_stage_name(s->stage));
    put_text(&w, "variant", s->variant);
    put_text(&w, "profile", s->profile);
    put_text(&w, "status", sample_status_name(s->status));
    put_text(&w, "error", s->error);
    if (s->program_changed) {
        jw_key(&w, "program_changed");
        jw_bool(&w, true);
    }
    put_text(&w, "started", s->started);
    put_metrics(&w, s);
    jw_key(&w, "roles");
    jw_object_begin(&w);
    for (size_t i = 0; i < s->role_count; i++)
        put_role(&w, &s->roles[i]);
    jw_object_end(&w);
    sample_net_put(&w, &s->net);
    put_noise(&w, &s->noise);
    jw_object_end(&w);
    buf_addch(out, '\n');
}
