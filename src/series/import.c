#include "series/import.h"

#include <stdlib.h>
#include <string.h>

#include "archive/writer.h"
#include "base/buf.h"
#include "measure/measure.h"
#include "series/import_parts.h"

/* ---- the plan ---- */

static int compare_runs(const void *a, const void *b)
{
    const struct found_run *x = a, *y = b;

    if (x->profile != y->profile)
        return x->profile < y->profile ? -1 : 1;
    if (x->warmup != y->warmup)
        return x->warmup ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->variant < y->variant ? -1 : x->variant > y->variant;
}

/* Pairs need as many runs on each side. */
static int check_pairs(const struct import *im, struct err *err)
{
    for (size_t p = 0; p < im->profile_count; p++) {
        for (size_t v = 0; v < im->variant_count; v++) {
            int runs = 0;

            for (size_t i = 0; i < im->run_count; i++)
                runs += im->runs[i].profile == p && im->runs[i].variant == v && !im->runs[i].warmup;
            if (runs == im->profiles[p].pairs)
                continue;
            err_set(err, ERR_USAGE, "option '--paired': '%s' has %d runs of '%s', others have %d",
                    im->variants[v].name, runs, im->profiles[p].name, im->profiles[p].pairs);
            return err_hint(err, "the n-th logs of all variants make a pair; without --paired "
                                 "they are summed up as they are");
        }
    }
    return 0;
}

/* A split log has its sacrificial matches as runs of their own; those are warm-ups then. */
static void move_sacrifice(struct import *im)
{
    struct runner *r = &im->runner;
    struct runner_metric *metrics = arena_array(&im->arena, r->metric_count, sizeof *metrics);

    for (size_t i = 0; i < r->metric_count; i++) {
        metrics[i] = r->metrics[i];
        if (metrics[i].sacrifice > im->sacrifice)
            im->sacrifice = metrics[i].sacrifice;
        metrics[i].sacrifice = 0;
    }
    r->metrics = metrics;
}

static int open_split(struct import *im, const char *source, struct err *err)
{
    if (!source)
        return 0;
    im->split = pattern_new(source, err);
    if (!im->split) {
        err->code = ERR_USAGE;
        return err_wrap(err, "option '--split'");
    }
    im->profile_group = pattern_group(im->split, "profile");
    if (im->profile_group >= PATTERN_GROUPS)
        return err_set(err, ERR_USAGE, "option '--split': more than %d groups", PATTERN_GROUPS - 1);
    move_sacrifice(im);
    return 0;
}

static int read_all(struct import *im, const struct import_request *q, struct err *err)
{
    im->variants = arena_array(&im->arena, q->variant_count, sizeof *im->variants);
    im->variant_count = q->variant_count;
    im->numbers = xcalloc(2 * IMPORT_PROFILES * q->variant_count, sizeof *im->numbers);
    for (size_t v = 0; v < q->variant_count; v++) {
        for (size_t i = 0; i < q->variants[v].logs.count; i++)
            if (import_take_log(im, v, q->variants[v].logs.items[i], err) < 0)
                return -1;
        if (import_describe(im, &q->variants[v], &im->variants[v], err) < 0)
            return -1;
    }
    qsort(im->runs, im->run_count, sizeof *im->runs, compare_runs);
    for (size_t p = 0; p < im->profile_count; p++)
        if (im->profiles[p].pairs == 0)
            return err_set(err, ERR_MEASURE,
                           "'%s': all of its runs are sacrificial: the runner '%s' leaves out the "
                           "first %d of a log",
                           im->profiles[p].name, im->runner.name, im->sacrifice);
    return q->paired ? check_pairs(im, err) : 0;
}

static int make_plan(struct import *im, const struct import_request *q, struct err *err)
{
    const struct imported_request request = {
        .runner = &im->runner,
        .profiles = im->profiles,
        .profile_count = im->profile_count,
        .variants = im->variants,
        .variant_count = im->variant_count,
        .paired = q->paired,
        .thresholds = q->thresholds,
        .thresholds_file = q->thresholds_file,
    };

    return imported_plan(&im->plan, &request, &im->arena, err);
}

int import_new(struct import **out, const struct import_request *q, struct err *err)
{
    struct import *im = xcalloc(1, sizeof *im);

    im->profile_group = -1;
    *out = im;
    if (imported_runner(q->runner, &im->runner, &im->arena, err) == 0 &&
        open_split(im, q->split, err) == 0 && read_all(im, q, err) == 0 &&
        make_plan(im, q, err) == 0)
        return 0;
    import_free(im);
    *out = NULL;
    return -1;
}

void import_free(struct import *im)
{
    if (!im)
        return;
    pattern_free(im->split);
    free(im->profiles);
    free(im->runs);
    free(im->numbers);
    arena_release(&im->arena);
    free(im);
}

const struct plan *import_plan(const struct import *im)
{
    return &im->plan;
}

const struct strings *import_notes(const struct import *im)
{
    return &im->notes;
}

/* ---- the archive ---- */

/* What the roles of a run printed, in turn; reused from run to run. */
struct printed {
    struct buf *out, *err; /* one a role */
};

static struct capture capture_of(const struct buf *text)
{
    static char nothing[1];

    return (struct capture){
        .head = text->data, .head_len = text->len, .tail = nothing, .total = text->len};
}

static int read_printed(const struct import *im, const struct found_run *r, struct printed *p,
                        struct err *err)
{
    for (size_t i = 0; i < im->runner.role_count; i++)
        if (import_read(&r->out[i], &p->out[i], err) < 0 ||
            import_read(&r->err[i], &p->err[i], err) < 0)
            return -1;
    return 0;
}

static void fill_outcome(const struct import *im, const struct found_run *r,
                         const struct printed *p, struct outcome *o)
{
    const struct value unknown = value_none(VALUE_MISSING, "imported");

    *o = (struct outcome){.end = RUN_DONE, .started_unix_ns = r->started_ns, .roles = o->roles};
    o->role_count = im->runner.role_count;
    for (size_t i = 0; i < o->role_count; i++)
        o->roles[i] = (struct role_outcome){
            .name = im->runner.roles[i].name,
            .end = ROLE_IMPORTED,
            .ready = true,
            .cpu = {.cgroup_s = unknown, .sampled_s = unknown},
            .out = capture_of(&p->out[i]),
            .err = capture_of(&p->err[i]),
        };
    o->noise = (struct noise_reading){.psi_cpu = unknown,
                                      .others = unknown,
                                      .steal = unknown,
                                      .throttled = unknown,
                                      .frequency = unknown,
                                      .load = unknown};
}

static int write_run(struct import *im, struct archive_writer *w, struct meter *meter, size_t i,
                     struct printed *printed, struct outcome *o, struct err *err)
{
    const struct found_run *r = &im->runs[i];
    const struct measure_context context = {0};
    struct arena arena = ARENA_INIT;
    struct sample s = {
        .run = i + 1,
        .pair = r->warmup ? 0 : (uint64_t)r->number,
        .slot = (uint32_t)r->variant + 1,
        .attempt = 1,
        .stage = r->warmup ? STAGE_WARMUP : STAGE_MAIN,
        .variant = im->plan.variants[r->variant].name,
        .profile = im->plan.profiles[r->profile].name,
    };

    if (read_printed(im, r, printed, err) < 0)
        return -1;
    fill_outcome(im, r, printed, o);
    meter_measure(meter, o, &context, &s, &arena);
    int rc = archive_writer_sample(w, &s, o, &arena, err);
    arena_release(&arena);
    return rc;
}

static int write_all(struct import *im, struct archive_writer *w, const struct import_options *o,
                     char digest[65], struct err *err)
{
    const struct machine unknown = {.isolation = "none"};
    const size_t roles = im->runner.role_count;
    struct outcome outcome = {0};
    struct meter *meter = NULL;
    struct buf report = BUF_INIT, *texts = xcalloc(2 * roles, sizeof *texts);
    struct printed printed = {texts, texts + roles};
    int rc = archive_writer_series(w, &im->plan, &unknown, err);

    outcome.roles = arena_array(&im->arena, roles, sizeof *outcome.roles);
    for (size_t i = 0; i < 2 * roles; i++)
        buf_init(&texts[i], 0);
    if (rc == 0)
        rc = meter_new(&meter, &im->plan.runners[0], 4096, 1, err);
    for (size_t i = 0; rc == 0 && i < im->run_count; i++)
        rc = write_run(im, w, meter, i, &printed, &outcome, err);
    if (rc == 0)
        rc = o->report(o->user, o->folder, &report, err);
    if (rc == 0)
        rc = archive_writer_finish(w, report.data, report.len, digest, err);
    meter_free(meter);
    for (size_t i = 0; i < 2 * roles; i++)
        buf_release(&texts[i]);
    free(texts);
    buf_release(&report);
    return rc;
}

int import_write(struct import *im, const struct import_options *o, char digest[65],
                 struct err *err)
{
    struct archive_writer *w;

    if (archive_writer_new(&w, o->folder, err) < 0)
        return -1;
    if (!o->identify)
        archive_writer_anonymize(w);
    int rc = write_all(im, w, o, digest, err);
    archive_writer_free(w);
    return rc;
}
