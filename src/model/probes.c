#include "model/probes.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "model/decode.h"

#define FORMAT 1
#define LONGEST_S 1e6
#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *const backends[] = {"kernel", "user", "none", NULL};

/* Figures that are numbers, by their keys. */
static const struct member {
    const char *key;
    size_t offset;
    double max;
    bool may_miss; /* null: NaN */
} members[] = {
    {"rtt_min", offsetof(struct net_probe, rtt_min_s), LONGEST_S, true},
    {"rtt_p50", offsetof(struct net_probe, rtt_p50_s), LONGEST_S, true},
    {"rtt_p99", offsetof(struct net_probe, rtt_p99_s), LONGEST_S, true},
    {"expected_rtt", offsetof(struct net_probe, expected_rtt_s), LONGEST_S, false},
    {"loss", offsetof(struct net_probe, loss), 1, false},
    {"expected_loss", offsetof(struct net_probe, expected_loss), 1, false},
};

static double *figure(struct net_probe *p, const struct member *m)
{
    return (double *)(void *)((char *)p + m->offset);
}

/* ---- writing ---- */

static void write_rate(struct json_writer *w, const char *key, uint64_t packets_s)
{
    jw_key(w, key);
    if (packets_s)
        jw_uint(w, packets_s);
    else
        jw_null(w);
}

static void write_probe(const struct net_probe *p, struct json_writer *w)
{
    struct net_probe copy = *p;

    jw_object_begin(w);
    jw_key(w, "profile");
    jw_string(w, p->profile);
    jw_key(w, "backend");
    jw_string(w, p->backend);
    jw_key(w, "sent");
    jw_int(w, p->sent);
    jw_key(w, "received");
    jw_int(w, p->received);
    for (size_t i = 0; i < COUNT(members); i++) {
        jw_key(w, members[i].key);
        jw_double(w, *figure(&copy, &members[i]));
    }
    write_rate(w, "capacity", p->capacity_packets_s);
    write_rate(w, "offered", p->offered_packets_s);
    jw_key(w, "agrees");
    jw_bool(w, p->agrees);
    jw_key(w, "reason");
    jw_string(w, p->reason);
    jw_object_end(w);
}

void probes_encode(const struct probes *p, struct buf *out)
{
    struct json_writer w;

    jw_init(&w, out, true);
    jw_object_begin(&w);
    jw_key(&w, "abba");
    jw_int(&w, FORMAT);
    jw_key(&w, "probes");
    jw_array_begin(&w);
    for (size_t i = 0; i < p->count; i++)
        write_probe(&p->items[i], &w);
    jw_array_end(&w);
    jw_object_end(&w);
    buf_addch(out, '\n');
}

/* ---- reading ---- */

static int read_figure(const struct fields *f, const struct member *m, struct net_probe *p,
                       struct err *err)
{
    struct fields value;

    if (fields_child(f, m->key, FIELDS_REQUIRED, &value, err) < 0)
        return -1;
    if (m->may_miss && json_kind(value.value) == JSON_NULL) {
        *figure(p, m) = NAN;
        return 0;
    }
    return fields_as_number(&value, 0, m->max, figure(p, m), err);
}

static int read_rate(const struct fields *f, const char *key, uint64_t *packets_s, struct err *err)
{
    struct fields value;
    int64_t number = 0;

    if (fields_child(f, key, FIELDS_REQUIRED, &value, err) < 0)
        return -1;
    if (json_kind(value.value) != JSON_NULL &&
        fields_as_int(&value, 1, JSON_MAX_INTEGER, &number, err) < 0)
        return -1;
    *packets_s = (uint64_t)number;
    return 0;
}

static int read_probe(const struct fields *f, struct net_probe *p, struct arena *arena,
                      struct err *err)
{
    static const char *const keys[] = {"profile", "backend",       "sent",     "received",
                                       "rtt_min", "rtt_p50",       "rtt_p99",  "expected_rtt",
                                       "loss",    "expected_loss", "capacity", "offered",
                                       "agrees",  "reason",        NULL};
    int backend;

    if (fields_as_object(f, err) < 0 || fields_known(f, keys, err) < 0 ||
        decode_text(f, "profile", FIELDS_REQUIRED, arena, &p->profile, err) < 0 ||
        fields_choice(f, "backend", FIELDS_REQUIRED, backends, &backend, err) < 0 ||
        decode_int(f, "sent", FIELDS_REQUIRED, 0, INT_MAX, &p->sent, err) < 0 ||
        decode_int(f, "received", FIELDS_REQUIRED, 0, INT_MAX, &p->received, err) < 0)
        return -1;
    p->backend = backends[backend];
    for (size_t i = 0; i < COUNT(members); i++)
        if (read_figure(f, &members[i], p, err) < 0)
            return -1;
    return read_rate(f, "capacity", &p->capacity_packets_s, err) < 0 ||
                   read_rate(f, "offered", &p->offered_packets_s, err) < 0 ||
                   fields_bool(f, "agrees", FIELDS_REQUIRED, &p->agrees, err) < 0
               ? -1
               : decode_text_or_null(f, "reason", arena, &p->reason, err);
}

int probes_decode(struct probes *p, const struct json *root, const char *file, struct arena *arena,
                  struct err *err)
{
    static const char *const keys[] = {"abba", "probes", NULL};
    struct fields f, list, item = {0};
    int64_t format;

    *p = (struct probes){0};
    if (fields_init(&f, file, root, err) < 0 || fields_known(&f, keys, err) < 0 ||
        fields_int(&f, "abba", FIELDS_REQUIRED, FORMAT, FORMAT, &format, err) < 0 ||
        fields_array(&f, "probes", FIELDS_REQUIRED, &list, err) < 0)
        return -1;
    p->items = arena_array(arena, json_count(list.value) + 1, sizeof *p->items);
    while (fields_next(&list, &item)) {
        p->items[p->count] = (struct net_probe){0};
        if (read_probe(&item, &p->items[p->count++], arena, err) < 0)
            return -1;
    }
    return 0;
}

const char *probes_unfit(const struct probes *p, const char *profile)
{
    const char *reason = NULL;

    for (size_t i = 0; p && i < p->count; i++)
        if (strcmp(p->items[i].profile, profile) == 0)
            reason = p->items[i].reason;
    return reason;
}
