/*
 * judge: how long an archive of many runs and metrics takes to be read and judged.
 *
 * usage: judge FOLDER RUNS METRICS
 *
 * Writes an archive of RUNS runs (two variants; of the runner `command`, a profile for 20,000 runs)
 * with METRICS figures each, all of them judged, then reads it, judges it and encodes its report.
 * Prints CPU seconds of each step. The folder must not exist; it is left for others to read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "archive/writer.h"
#include "base/buf.h"
#include "base/files.h"
#include "base/json.h"
#include "base/mem.h"
#include "judge/judge.h"

#define RUNS_A_PROFILE 20000

struct bench {
    struct arena arena;
    struct plan plan;
    struct machine machine;
    const char **names;
    size_t runs, metrics;
    uint64_t random;
};

static _Noreturn void die(const struct err *e)
{
    fprintf(stderr, "judge: %s\n", e->msg);
    exit(1);
}

static struct json *load(const char *path, struct err *e)
{
    struct buf text = BUF_INIT;
    struct json *root = NULL;

    if (files_read(path, 1 << 20, &text, e) == 0)
        root = json_parse(text.data, text.len, path, e);
    buf_release(&text);
    if (!root)
        die(e);
    return root; /* kept: the structs may borrow from it */
}

static void make_limits(struct bench *b)
{
    struct thresholds *t = &b->plan.thresholds;

    *t = (struct thresholds){.name = "bench", .rule = RULE_BOUNDED, .pairs = 8};
    t->limits = arena_array(&b->arena, b->metrics, sizeof(*t->limits));
    t->limit_count = b->metrics;
    for (size_t i = 0; i < b->metrics; i++)
        t->limits[i] = (struct limit){.metric = b->names[i], .worse_text = "10%", .worse = 0.10};
}

/* Standard metrics first; what is missing is made up as counters. */
static void make_names(struct bench *b)
{
    size_t count;
    const struct metric_def *table = metric_table(&count);

    b->names = arena_array(&b->arena, b->metrics, sizeof(*b->names));
    for (size_t i = 0, n = 0; n < b->metrics; i++) {
        if (i < count && !table[i].judgeable)
            continue;
        b->names[n++] = i < count ? table[i].name : arena_printf(&b->arena, "event_%zu", i);
        if (i >= count)
            strings_add(&b->plan.events, &b->arena, b->names[n - 1]);
    }
}

static void make_plan(struct bench *b, struct err *e)
{
    struct plan *p = &b->plan;
    static const char *const names[] = {"baseline", "candidate"};

    make_names(b);
    p->series = "bench";
    p->command = "compare";
    p->analysis = PLAN_ANALYSIS;
    p->isolation = "subreaper";
    p->variant_count = 2;
    p->variants = arena_array(&b->arena, 2, sizeof(*p->variants));
    for (size_t i = 0; i < 2; i++) {
        p->variants[i].name = names[i];
        p->variants[i].program = names[i];
        p->variants[i].display = names[i];
        memset(p->variants[i].sha256, 'a' + (int)i, 64);
    }
    p->runner_count = 1;
    p->profile_count = (b->runs + RUNS_A_PROFILE - 1) / RUNS_A_PROFILE;
    p->runners = arena_array(&b->arena, 1, sizeof(*p->runners));
    p->profiles = arena_array(&b->arena, p->profile_count, sizeof(*p->profiles));
    if (runner_decode(p->runners, load("runners/command/runner.json", e), "runner.json", &b->arena,
                      e) < 0 ||
        profile_decode(p->profiles, load("profiles/command/default.json", e), "default.json",
                       &b->arena, e) < 0)
        die(e);
    for (size_t i = 0; i < p->profile_count; i++) {
        p->profiles[i] = p->profiles[0];
        p->profiles[i].pairs = (int)(b->runs / 2 / p->profile_count);
        if (i > 0)
            p->profiles[i].name = arena_printf(&b->arena, "%s-%zu", p->profiles[0].name, i);
    }
    make_limits(b);
    if (plan_seal(p, e) < 0)
        die(e);
}

static double next(struct bench *b)
{
    b->random = b->random * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(b->random >> 11) / 9007199254740992.0;
}

static void write_run(struct bench *b, struct archive_writer *w, size_t i, struct err *e)
{
    const size_t runs = b->runs / b->plan.profile_count, n = i % runs; /* of its profile */
    struct arena arena = ARENA_INIT;
    struct outcome outcome = {0};
    struct sample s = {.run = i + 1,
                       .pair = n / 2 + 1,
                       .slot = (uint32_t)(n % 2) + 1,
                       .attempt = 1,
                       .stage = STAGE_MAIN,
                       .variant = (n + 2 * (i / runs)) % 4 % 3 != 0 ? "candidate" : "baseline",
                       .profile = b->plan.profiles[i / runs].name,
                       .started = "2026-01-01T00:00:00.000Z",
                       .metric_count = b->metrics};

    s.metrics = arena_array(&arena, b->metrics, sizeof(*s.metrics));
    for (size_t m = 0; m < b->metrics; m++) {
        enum metric_better better;

        s.metrics[m].name = b->names[m];
        plan_metric(&b->plan, b->names[m], &s.metrics[m].unit, &better);
        s.metrics[m].value = value_ok(100.0 * (1.0 + 0.1 * (next(b) + next(b) - 1.0)));
    }
    if (archive_writer_sample(w, &s, &outcome, &arena, e) < 0)
        die(e);
    arena_release(&arena);
}

/* CPU seconds since the last call: the bench reads memory and cached files only. */
static double cpu_since_last(void)
{
    static double last;
    struct timespec now;
    double passed;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    passed = (double)now.tv_sec + (double)now.tv_nsec / 1e9 - last;
    last += passed;
    return passed;
}

static void read_and_judge(const char *folder, struct buf *text, struct err *e)
{
    struct arena arena = ARENA_INIT;
    struct archive *a;
    struct report r;
    double opened, judged, encoded;

    cpu_since_last();
    if (archive_open(&a, folder, e) < 0)
        die(e);
    opened = cpu_since_last();
    if (judge_archive(a, &r, &arena, e) < 0)
        die(e);
    judged = cpu_since_last();
    report_encode(&r, text);
    encoded = cpu_since_last();
    printf("CPU seconds: read %.3f, judge %.3f (%d verdicts), encode %.3f, together %.3f\n", opened,
           judged, r.gating_verdicts, encoded, opened + judged + encoded);
    archive_close(a);
    arena_release(&arena);
}

int main(int argc, char **argv)
{
    struct bench b = {.random = 1};
    struct archive_writer *w;
    struct buf text = BUF_INIT;
    struct err e = {0};
    char digest[65];

    if (argc != 4) {
        fprintf(stderr, "usage: judge FOLDER RUNS METRICS\n");
        return 2;
    }
    b.runs = (size_t)strtoul(argv[2], NULL, 10);
    b.metrics = (size_t)strtoul(argv[3], NULL, 10);
    b.machine = (struct machine){.kernel = "Linux",
                                 .cpu_model = "none",
                                 .cpus = 2,
                                 .allowed_cpus = 2,
                                 .page_bytes = 4096,
                                 .memory_mib = 1,
                                 .isolation = "subreaper"};
    make_plan(&b, &e);
    if (archive_writer_new(&w, argv[1], &e) < 0 ||
        archive_writer_series(w, &b.plan, &b.machine, &e) < 0)
        die(&e);
    for (size_t i = 0; i < b.runs; i++)
        write_run(&b, w, i, &e);
    read_and_judge(argv[1], &text, &e);
    if (archive_writer_finish(w, text.data, text.len, digest, &e) < 0)
        die(&e);
    archive_writer_free(w);
    buf_release(&text);
    arena_release(&b.arena);
    return 0;
}
