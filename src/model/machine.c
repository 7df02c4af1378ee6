#include "model/machine.h"

#include "base/fields.h"
#include "base/json_writer.h"
#include "model/decode.h"

#include <limits.h>

/* ---- writing ---- */

static void write_settings(const char *key, const struct machine_setting *settings, size_t count,
                           struct json_writer *w)
{
    jw_key(w, key);
    jw_object_begin(w);
    for (size_t i = 0; i < count; i++) {
        jw_key(w, settings[i].name);
        jw_string(w, settings[i].value);
    }
    jw_object_end(w);
}

static void write_counters(const struct machine *m, struct json_writer *w)
{
    jw_key(w, "counters");
    jw_array_begin(w);
    for (size_t i = 0; i < m->counter_count; i++) {
        const struct machine_counter *c = &m->counters[i];

        jw_object_begin(w);
        jw_key(w, "event");
        jw_string(w, c->event);
        jw_key(w, "status");
        jw_string(w, value_status_name(c->status));
        jw_key(w, "reason");
        jw_string(w, c->reason);
        jw_object_end(w);
    }
    jw_array_end(w);
}

void machine_encode(const struct machine *m, struct json_writer *w)
{
    jw_object_begin(w);
    jw_key(w, "host");
    jw_string(w, m->host);
    jw_key(w, "kernel");
    jw_string(w, m->kernel);
    jw_key(w, "cpu");
    jw_string(w, m->cpu_model);
    jw_key(w, "cpus");
    jw_int(w, m->cpus);
    jw_key(w, "allowed_cpus");
    jw_int(w, m->allowed_cpus);
    jw_key(w, "page_bytes");
    jw_int(w, m->page_bytes);
    jw_key(w, "memory_mib");
    jw_int(w, m->memory_mib);
    jw_key(w, "isolation");
    jw_string(w, m->isolation);
    write_settings("settings", m->settings, m->setting_count, w);
    write_settings("environment", m->environment, m->environment_count, w);
    write_counters(m, w);
    jw_object_end(w);
}

/* ---- reading ---- */

static int read_long(const struct fields *f, const char *key, long max, long *out, struct err *err)
{
    int64_t n;

    if (fields_int(f, key, FIELDS_REQUIRED, 0, max, &n, err) < 0)
        return -1;
    *out = (long)n;
    return 0;
}

static int read_settings(const struct fields *f, const char *key, enum fields_need need,
                         struct machine_setting **out, size_t *count, struct arena *arena,
                         struct err *err)
{
    struct fields list, item = {0};

    if (fields_object(f, key, need, &list, err) < 0)
        return -1;
    *out = decode_room(&list, arena, sizeof(**out), count);
    for (size_t i = 0; fields_next(&list, &item); i++) {
        struct machine_setting *s = &(*out)[i];

        s->name = arena_strdup(arena, item.key);
        if (json_kind(item.value) == JSON_NULL)
            continue;
        if (fields_as_string(&item, &s->value, err) < 0)
            return -1;
        s->value = arena_strdup(arena, s->value);
    }
    return 0;
}

static int read_counter(const struct fields *f, struct machine_counter *c, struct arena *arena,
                        struct err *err)
{
    static const char *const keys[] = {"event", "status", "reason", NULL};
    const char *status;

    if (fields_as_object(f, err) < 0 || fields_known(f, keys, err) < 0 ||
        decode_text(f, "event", FIELDS_REQUIRED, arena, &c->event, err) < 0 ||
        decode_text_or_null(f, "reason", arena, &c->reason, err) < 0 ||
        fields_string(f, "status", FIELDS_REQUIRED, &status, err) < 0)
        return -1;
    if (!value_status_parse(status, &c->status))
        return fields_error(f, err, "unknown status '%s'", status);
    return 0;
}

static int read_counters(const struct fields *f, struct machine *m, struct arena *arena,
                         struct err *err)
{
    struct fields list, item = {0};

    if (fields_array(f, "counters", FIELDS_REQUIRED, &list, err) < 0)
        return -1;
    m->counters = arena_array(arena, json_count(list.value), sizeof *m->counters);
    while (fields_next(&list, &item))
        if (read_counter(&item, &m->counters[m->counter_count++], arena, err) < 0)
            return -1;
    return 0;
}

static int read_machine(const struct fields *f, struct machine *m, struct arena *arena,
                        struct err *err)
{
    static const char *const keys[] = {"host",         "kernel",     "cpu",         "cpus",
                                       "allowed_cpus", "page_bytes", "memory_mib",  "isolation",
                                       "settings",     "counters",   "environment", NULL};

    if (fields_known(f, keys, err) < 0 ||
        decode_text_or_null(f, "host", arena, &m->host, err) < 0 ||
        decode_text_or_null(f, "kernel", arena, &m->kernel, err) < 0 ||
        decode_text_or_null(f, "cpu", arena, &m->cpu_model, err) < 0 ||
        decode_int(f, "cpus", FIELDS_REQUIRED, 0, INT_MAX, &m->cpus, err) < 0 ||
        decode_int(f, "allowed_cpus", FIELDS_REQUIRED, 0, INT_MAX, &m->allowed_cpus, err) < 0 ||
        read_long(f, "page_bytes", INT_MAX, &m->page_bytes, err) < 0 ||
        read_long(f, "memory_mib", LONG_MAX, &m->memory_mib, err) < 0 ||
        decode_text_or_null(f, "isolation", arena, &m->isolation, err) < 0)
        return -1;
    if (read_settings(f, "settings", FIELDS_REQUIRED, &m->settings, &m->setting_count, arena, err) <
            0 ||
        read_settings(f, "environment", FIELDS_OPTIONAL, &m->environment, &m->environment_count,
                      arena, err) < 0)
        return -1;
    return read_counters(f, m, arena, err);
}

int machine_decode(struct machine *m, const struct json *root, const char *file,
                   struct arena *arena, struct err *err)
{
    struct fields f;
    struct machine read = {0};

    if (fields_init(&f, file, root, err) < 0 || read_machine(&f, &read, arena, err) < 0)
        return -1;
    *m = read;
    return 0;
}
