#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/writer.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/heap_record.h"
#include "measure/measure.h"
#include "run/run.h"
#include "series/identity.h"
#include "series/port.h"
#include "series/private_net.h"
#include "series/programs.h"
#include "series/request.h"
#include "series/seed.h"
#include "series/series_parts.h"
#include "series/signals.h"

/*
 * How often samples are made to reach the disk. A crash of abba costs none of them; one of the
 * machine costs the last seconds. Where no pause hides the wait (4 ms beside a busy neighbour), it
 * comes less often.
 */
#define SYNC_NS NSEC_PER_SEC
#define SYNC_BUSY_NS (5 * NSEC_PER_SEC)

#define TRACED_NS ((uint64_t)(10 * NSEC_PER_SEC)) /* the most that a traced run may take */

/* The same pause before every run; writing reaches the disk meanwhile. Ends early on a signal. */
static int pause_before(struct series *s, const struct profile *profile, struct err *err)
{
    int64_t end = clock_mono_ns() + profile->pause_ns;
    struct pollfd wake = {.fd = signals_fd(), .events = POLLIN};

    if (archive_writer_sync(s->writer, profile->pause_ns ? SYNC_NS : SYNC_BUSY_NS, err) != 0)
        return -1;
    if (profile->pause_ns == 0)
        return 0;
    while (!series_interrupted()) {
        struct timespec left = clock_ns_timespec(end - clock_mono_ns());

        if (left.tv_sec < 0 || left.tv_nsec < 0 || (left.tv_sec == 0 && left.tv_nsec == 0))
            break;
        ppoll(&wake, 1, &left, NULL);
    }
    return 0;
}

/* An empty scratch folder for the next run, at the same path as before. */
static int fresh_scratch(struct series *s, struct err *err)
{
    const char *tmp = getenv("TMPDIR");

    if (!s->scratch[0]) {
        snprintf(s->scratch, sizeof(s->scratch), "%s/abba-XXXXXX",
                 tmp && tmp[0] == '/' && strlen(tmp) < 40 ? tmp : "/tmp");
        if (!mkdtemp(s->scratch)) {
            err_sys(err, ERR_SYSTEM, errno, "cannot make a scratch folder '%s'", s->scratch);
            s->scratch[0] = '\0';
            return -1;
        }
        snprintf(s->scratch_run, sizeof(s->scratch_run), "%s/run", s->scratch);
    } else if (files_remove_tree(s->scratch_run, err) != 0) {
        return -1;
    }
    return files_mkdirs(s->scratch_run, err);
}

static const struct runner *runner_of(const struct series *s, size_t variant)
{
    return plan_runner(s->plan, &s->plan->profiles[s->profile], &s->plan->variants[variant]);
}

/* In a memory pass every role has a folder there, for what the library writes of it. */
static int make_heap_folders(struct series *s, const struct runner *runner, struct err *err)
{
    char path[sizeof(s->scratch_run) + 300];

    for (size_t i = 0; i < runner->role_count; i++) {
        snprintf(path, sizeof(path), "%s/" HEAP_FOLDER "/%s", s->scratch_run,
                 runner->roles[i].name);
        if (files_mkdirs(path, err) != 0)
            return -1;
    }
    return 0;
}

static int fill_values(struct series *s, const struct order_step *step,
                       struct template_values *values, struct err *err)
{
    const struct profile *profile = &s->plan->profiles[s->profile];

    *values = (struct template_values){
        .scratch = "",
        .run = s->runs_done + 1,
    };
    if (request_set_varies(s->requests))
        values->seed = seed_of_pair(s->plan->seed, profile->name, step->pair, "program");
    if (request_set_needs_scratch(s->requests)) {
        if (fresh_scratch(s, err) != 0)
            return -1;
        values->scratch = s->scratch_run;
        if (profile->pass == PASS_MEMORY &&
            make_heap_folders(s, runner_of(s, step->variant), err) != 0)
            return -1;
    }
    if (profile->network.topology != NET_HOST) {
        values->port = PRIVATE_PORT;
        return 0;
    }
    return request_set_needs_port(s->requests) ? port_find(&values->port, err) : 0;
}

void series_pin_backend(const struct series *s, struct net_request *q, struct arena *arena)
{
    struct network *pinned;

    if (s->pinned == NET_BACKEND_AUTO)
        return;
    pinned = arena_alloc(arena, sizeof(*pinned));
    *pinned = *q->network;
    pinned->backend = s->pinned;
    q->network = pinned;
}

/* The run's own network, or NULL where its profile has none. The one before is gone then. */
static int raise_network(struct series *s, const struct order_step *step, struct net **net,
                         struct arena *arena, struct err *err)
{
    const struct profile *profile = &s->plan->profiles[s->profile];
    struct net_request q;
    int status = 0;

    *net = NULL;
    if (profile->network.topology != NET_HOST) {
        private_net_request(&q, s->plan->seed, profile, runner_of(s, step->variant), step->pair,
                            run_host_user_namespace(s->host), arena);
        series_pin_backend(s, &q, arena);
        status = network_up(net, &q, err);
    }
    network_kill(s->leaving);
    s->leaving = NULL;
    return status;
}

/* The roles, each in its namespace. */
static const struct run_role *roles_inside(const struct run_request *request, const struct net *net,
                                           struct arena *arena)
{
    struct run_role *roles = arena_array(arena, request->role_count, sizeof(*roles));

    for (size_t i = 0; i < request->role_count; i++) {
        roles[i] = request->roles[i];
        roles[i].net_fd = network_fd(net, i);
    }
    return roles;
}

static int execute(struct series *s, const struct order_step *step, enum run_look look,
                   const struct template_values *values, const struct net *net,
                   const struct outcome **outcome, struct arena *arena, struct err *err)
{
    struct run_request request;
    int rc;

    if (request_make(s->requests, step->variant, values, &request, arena, err) != 0)
        return -1;
    request.look = look;
    if (look == RUN_LOOK_TRACED)
        request.timeout_ns = TRACED_NS;
    if (net)
        request.roles = roles_inside(&request, net, arena);
    if (s->plan->input_path) {
        request.stdin_fd = open(s->plan->input_path, O_RDONLY | O_CLOEXEC);
        if (request.stdin_fd < 0)
            return err_sys(err, ERR_SYSTEM, errno, "cannot open the input '%s'",
                           s->plan->input_path);
    }
    rc = run_execute(s->host, &request, outcome, err);
    if (request.stdin_fd >= 0)
        close(request.stdin_fd);
    return rc;
}

static struct meter *meter_of(const struct series *s, size_t variant)
{
    return s->meters[runner_of(s, variant) - s->plan->runners];
}

/* Outcome to sample to archive. `net` (may be NULL) is proved; `share_s` as that wants it. */
static int record(struct series *s, const struct order_step *step, uint32_t attempt,
                  const char *scratch, const struct outcome *outcome, struct net *net,
                  double share_s, struct sample *sample, struct arena *arena, struct err *err)
{
    struct measure_context context = {
        .scratch = scratch[0] ? scratch : NULL,
        .allow_failures = s->plan->allow_failures,
        .heap_obstacles = request_heap_obstacles(s->requests, step->variant),
    };
    char text[512];

    *sample = (struct sample){
        .run = s->runs_done + 1,
        .pair = step->pair,
        .slot = step->slot,
        .attempt = attempt,
        .stage = step->stage,
        .variant = s->plan->variants[step->variant].name,
        .profile = s->plan->profiles[s->profile].name,
    };
    meter_measure(meter_of(s, step->variant), outcome, &context, sample, arena);
    if (net)
        private_net_prove(net, &s->backend, outcome, share_s, sample, arena);
    if (!programs_same(s->programs, text, sizeof(text))) {
        sample->status = SAMPLE_INVALID;
        sample->program_changed = true;
        sample->error = arena_strdup(arena, text);
    }
    return archive_writer_sample(s->writer, sample, outcome, arena, err);
}

/* What the run showed of its files, where it was looked at; they are read and hashed now. */
static int note_loaded(struct series *s, const struct order_step *step,
                       const struct outcome *outcome, struct err *err)
{
    if (!identity_wants(s->identity, s->profile, step->variant) ||
        !identity_take(s->identity, s->profile, step->variant, s->runs_done, outcome))
        return 0;
    return archive_writer_loaded(s->writer, identity_record(s->identity), err);
}

/* ---- progress ---- */

static void tell_progress(struct series *s, const struct order_step *step,
                          const struct sample *last)
{
    struct series_progress *p = &s->progress;
    uint64_t k = s->plan->variant_count;
    uint64_t before =
        step->stage == STAGE_CONFIRM ? order_count(s->plan, s->profile, STAGE_MAIN) / k : 0;

    if (!s->options->progress)
        return;
    p->plan = s->plan;
    p->profile = &s->plan->profiles[s->profile];
    p->variant = &s->plan->variants[step->variant];
    p->stage = step->stage;
    p->pair = step->pair - (step->pair ? before : 0);
    p->pairs = order_count(s->plan, s->profile, step->stage) / k;
    p->run = s->runs_done + 1;
    p->elapsed_ns = (uint64_t)(clock_mono_ns() - s->started_ns);
    p->left_ns = 0;
    if (s->runs_done > s->runs_before && p->runs > s->runs_done)
        p->left_ns = (uint64_t)((double)p->elapsed_ns / (double)(s->runs_done - s->runs_before) *
                                (double)(p->runs - s->runs_done));
    p->last = last;
    s->options->progress(s->options->user, p);
}

/* ---- the step ---- */

int series_step(struct series *s, const struct order_step *step, uint32_t attempt, double *took_s,
                struct err *err)
{
    const struct profile *profile = &s->plan->profiles[s->profile];
    struct arena arena = ARENA_INIT;
    struct template_values values;
    const struct outcome *outcome;
    struct sample sample;
    struct net *net = NULL;
    enum run_look look =
        identity_wants(s->identity, s->profile, step->variant) ? RUN_LOOK_TICKS : RUN_LOOK_NOT;
    int64_t begun = clock_mono_ns(), ran;
    int rc = -1;

    tell_progress(s, step, NULL);
    if (pause_before(s, profile, err) != 0)
        goto out;
    if (series_interrupted()) {
        rc = 0;
        goto out;
    }
    if (fill_values(s, step, &values, err) != 0 || raise_network(s, step, &net, &arena, err) != 0)
        goto out;
    ran = clock_mono_ns();
    if (execute(s, step, look, &values, net, &outcome, &arena, err) != 0)
        goto out;
    rc = record(s, step, attempt, values.scratch, outcome, net,
                (double)(clock_mono_ns() - ran) / 1e9 * s->machine.cpus, &sample, &arena, err);
    s->leaving = net;
    net = NULL;
    if (rc != 0)
        goto out;
    s->runs_done++;
    tell_progress(s, step, &sample);
    if (took_s)
        *took_s = (double)(clock_mono_ns() - begun) / 1e9;
    rc = note_loaded(s, step, outcome, err);
out:
    network_kill(net);
    arena_release(&arena);
    if (rc != 0)
        err_wrap(err, "run %llu of '%s'", (unsigned long long)s->runs_done + 1, profile->name);
    return rc;
}

/* ---- a closer look ---- */

/* A run of its own, which is no run of the series: it leaves nothing but what it showed. */
static int look_closer(struct series *s, const struct order_step *step, struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct template_values values;
    const struct outcome *outcome;
    struct net *net = NULL;
    int rc = -1;

    if (fill_values(s, step, &values, err) != 0 || raise_network(s, step, &net, &arena, err) != 0 ||
        execute(s, step, RUN_LOOK_TRACED, &values, net, &outcome, &arena, err) != 0)
        goto out;
    identity_take_traced(s->identity, s->profile, step->variant, outcome);
    rc = archive_writer_loaded(s->writer, identity_record(s->identity), err);
out:
    network_kill(net);
    arena_release(&arena);
    return rc != 0 ? err_wrap(err, "a look at '%s'", s->plan->variants[step->variant].name) : 0;
}

int series_look_closer(struct series *s, enum sample_stage stage, uint64_t block, struct err *err)
{
    const uint64_t k = s->plan->variant_count;

    if (s->options->temporary) /* nobody will read the record */
        return 0;
    for (uint64_t n = block * k; n < (block + 1) * k && !series_interrupted(); n++) {
        struct order_step step = order_step(s->plan, s->profile, stage, n);

        if (identity_wants_traced(s->identity, s->profile, step.variant) &&
            look_closer(s, &step, err) != 0)
            return -1;
    }
    return 0;
}
