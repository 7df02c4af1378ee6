#include "series/series.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/earlier.h"
#include "archive/writer.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "measure/measure.h"
#include "model/order.h"
#include "run/machine.h"
#include "run/run.h"
#include "series/hide.h"
#include "series/identity.h"
#include "series/keep.h"
#include "series/lock.h"
#include "series/port.h"
#include "series/private_net.h"
#include "series/programs.h"
#include "series/request.h"
#include "series/resume.h"
#include "series/seed.h"
#include "series/signals.h"

/*
 * How often samples are made to reach the disk. A crash of abba costs none of them; one of the
 * machine costs the last seconds. Where no pause hides the wait (4 ms beside a busy neighbour), it
 * comes less often.
 */
#define SYNC_NS NSEC_PER_SEC
#define SYNC_BUSY_NS (5 * NSEC_PER_SEC)

/* A series while it runs. */
struct series {
    struct plan *plan;
    const struct series_options *options;
    int lock_fd;
    struct run_host *host;
    struct meter **meters; /* one a runner of the plan */
    struct machine machine;
    struct archive_writer *writer;
    struct programs *programs;
    struct identity *identity;
    struct request_set *requests;    /* of the profile that runs */
    size_t profile;                  /* its index */
    enum net_backend backend;        /* of its runs' networks, once one has run */
    enum net_backend pinned;         /* the only one that may be taken; AUTO: the profile says */
    struct net *leaving;             /* the last run's network; gone before the next run begins */
    char scratch[64];                /* folder of all runs, "" if none is needed */
    char scratch_run[80];            /* the one of a run: always the same path, made anew */
    uint64_t runs_done, runs_before; /* in the archive; when it was opened */
    struct sequence_next next;       /* where it goes on; passed once next.attempt is 0 */
    size_t unfit; /* profiles left out because their network was not what was asked */
    int64_t started_ns;
    struct series_progress progress;
    struct arena arena; /* as long as the series */
};

static bool interrupted(void)
{
    return *signals_flag() != 0;
}

/* ---- opening and closing ---- */

static int open_host(struct series *s, struct err *err)
{
    struct run_options options = {
        .isolation = ISOLATION_AUTO,
        .events = s->plan->events,
        .interrupted = signals_flag(),
        .wake_fd = signals_fd(),
    };

    for (size_t i = 0; i < s->plan->runner_count; i++)
        if (s->plan->runners[i].role_count > options.max_roles)
            options.max_roles = s->plan->runners[i].role_count;
    options.users = plan_has_network(s->plan);
    return run_host_open(&s->host, &options, err);
}

static void look_at_machine(struct series *s)
{
    size_t count;
    const struct machine_counter *counters = run_host_counters(s->host, &count);

    machine_look(&s->machine, "", s->options->identify, &s->arena);
    if (!s->options->identify)
        hide_host(&s->machine, &s->arena);
    s->machine.isolation = isolation_name(run_host_isolation(s->host));
    s->machine.counters = arena_array(&s->arena, count, sizeof(*counters));
    if (count)
        memcpy(s->machine.counters, counters, count * sizeof(*counters));
    s->machine.counter_count = count;
}

static int open_meters(struct series *s, struct err *err)
{
    s->meters = arena_array(&s->arena, s->plan->runner_count, sizeof(*s->meters));
    memset(s->meters, 0, s->plan->runner_count * sizeof(*s->meters));
    for (size_t i = 0; i < s->plan->runner_count; i++)
        if (meter_new(&s->meters[i], &s->plan->runners[i], s->machine.page_bytes, s->machine.cpus,
                      err) != 0)
            return -1;
    return 0;
}

/* A new archive, or the one to go on with, where this is still its machine. */
static int open_writer(struct series *s, struct err *err)
{
    struct resumption *r = s->options->resume;

    if (!r)
        return archive_writer_new(&s->writer, s->options->archive_folder, err);
    if (resume_check_machine(r, &s->machine, err) != 0)
        return -1;
    s->writer = r->writer;
    r->writer = NULL;
    s->runs_done = s->runs_before = r->archive->sample_count;
    s->next = r->next;
    identity_go_on(s->identity, r->archive);
    if (archive_writer_go_on(s->writer, r->archive, err) != 0)
        return -1;
    return archive_writer_loaded(s->writer, identity_record(s->identity), err);
}

static int series_open(struct series *s, struct err *err)
{
    if (s->options->lock) {
        s->lock_fd = lock_take(LOCK_PATH, signals_fd(), s->options->note, s->options->user, err);
        if (s->lock_fd < 0)
            return -1;
    }
    if (programs_new(&s->programs, s->plan, err) != 0 || open_host(s, err) != 0)
        return -1;
    look_at_machine(s);
    if (open_meters(s, err) != 0)
        return -1;
    s->identity = identity_new(s->plan, s->programs);
    if (open_writer(s, err) != 0)
        return -1;
    if (!s->options->identify)
        archive_writer_anonymize(s->writer);
    hide_secrets(s->writer, s->plan);
    if (s->options->temporary)
        archive_writer_passing(s->writer);
    return s->options->keep_programs ? archive_writer_keeps(s->writer, err) : 0;
}

static void series_close(struct series *s)
{
    struct err ignored = {0};

    request_set_free(s->requests);
    for (size_t i = 0; s->meters && i < s->plan->runner_count; i++)
        meter_free(s->meters[i]);
    network_kill(s->leaving);
    run_host_close(s->host);
    archive_writer_free(s->writer);
    programs_free(s->programs);
    identity_free(s->identity);
    if (s->scratch[0])
        files_remove_tree(s->scratch, &ignored);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    arena_release(&s->arena);
}

/* ---- one run ---- */

/* The same pause before every run; writing reaches the disk meanwhile. Ends early on a signal. */
static int pause_before(struct series *s, const struct profile *profile, struct err *err)
{
    int64_t end = clock_mono_ns() + profile->pause_ns;
    struct pollfd wake = {.fd = signals_fd(), .events = POLLIN};

    if (archive_writer_sync(s->writer, profile->pause_ns ? SYNC_NS : SYNC_BUSY_NS, err) != 0)
        return -1;
    if (profile->pause_ns == 0)
        return 0;
    while (!interrupted()) {
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
    }
    if (profile->network.topology != NET_HOST) {
        values->port = PRIVATE_PORT;
        return 0;
    }
    return request_set_needs_port(s->requests) ? port_find(&values->port, err) : 0;
}

static const struct runner *runner_of(const struct series *s, size_t variant)
{
    return plan_runner(s->plan, &s->plan->profiles[s->profile], &s->plan->variants[variant]);
}

/* One series never mixes back ends, and neither do a series and its repetition. */
static void pin_backend(const struct series *s, struct net_request *q, struct arena *arena)
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
        pin_backend(s, &q, arena);
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

static int execute(struct series *s, const struct order_step *step,
                   const struct template_values *values, const struct net *net,
                   const struct outcome **outcome, struct arena *arena, struct err *err)
{
    struct run_request request;
    int rc;

    if (request_make(s->requests, step->variant, values, &request, arena, err) != 0)
        return -1;
    request.look = identity_wants(s->identity, s->profile, step->variant);
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

/* ---- stages ---- */

/* One step: pause, run, record. `took_s` (may be NULL) gets the time of it all, in seconds. */
static int do_step(struct series *s, const struct order_step *step, uint32_t attempt,
                   double *took_s, struct err *err)
{
    const struct profile *profile = &s->plan->profiles[s->profile];
    struct arena arena = ARENA_INIT;
    struct template_values values;
    const struct outcome *outcome;
    struct sample sample;
    struct net *net = NULL;
    int64_t begun = clock_mono_ns(), ran;
    int rc = -1;

    tell_progress(s, step, NULL);
    if (pause_before(s, profile, err) != 0)
        goto out;
    if (interrupted()) {
        rc = 0;
        goto out;
    }
    if (fill_values(s, step, &values, err) != 0 || raise_network(s, step, &net, &arena, err) != 0)
        goto out;
    ran = clock_mono_ns();
    if (execute(s, step, &values, net, &outcome, &arena, err) != 0)
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

/*
 * Where a stage begins: at 0, or where the archive that goes on has its last run of it (then
 * *attempt is that of its block); behind its end if the archive is past it.
 */
static uint64_t stage_start(struct series *s, enum sample_stage stage, uint32_t *attempt)
{
    *attempt = 1;
    if (s->next.attempt == 0 || s->profile != s->next.profile || stage > s->next.stage)
        return 0;
    if (stage < s->next.stage)
        return order_count(s->plan, s->profile, stage);
    *attempt = s->next.attempt;
    s->next.attempt = 0;
    return s->next.n;
}

static int do_stage(struct series *s, enum sample_stage stage, struct err *err)
{
    uint64_t count = order_count(s->plan, s->profile, stage), k = s->plan->variant_count;
    uint32_t attempt;

    for (uint64_t n = stage_start(s, stage, &attempt), block = n / k; n < count && !interrupted();
         n++) {
        struct order_step step = order_step(s->plan, s->profile, stage, n);

        if (do_step(s, &step, n / k == block ? attempt : 1, NULL, err) != 0)
            return -1;
    }
    return 0;
}

/* Whether the profile's network does what is asked of it; *why: why not. */
static int check_network(struct series *s, const char **why, struct err *err)
{
    const struct profile *profile = &s->plan->profiles[s->profile];
    const struct runner *runner = plan_find_runner(s->plan, profile->runner);
    struct net_request q;
    struct net_probe probe;

    *why = NULL;
    if (profile->network.topology == NET_HOST || interrupted())
        return 0;
    private_net_request(&q, s->plan->seed, profile, runner, 0, run_host_user_namespace(s->host),
                        &s->arena);
    pin_backend(s, &q, &s->arena);
    if (private_net_check(&q, profile, runner, &probe, &s->arena, err) != 0)
        return -1;
    *why = probe.reason;
    return archive_writer_probe(s->writer, &probe, err);
}

/* Whether the archive that goes on has runs of the profile already. */
static bool is_entered(const struct series *s)
{
    const struct resumption *r = s->options->resume;

    return r && s->profile == r->next.profile && r->archive->sample_count > 0;
}

/* The back end of the profile's runs in the archive that goes on, or is run again; else AUTO. */
static enum net_backend backend_before(const struct series *s)
{
    const struct archive *a = s->options->resume ? s->options->resume->archive : s->options->like;
    const char *profile = s->plan->profiles[s->profile].name;
    enum net_backend backend = NET_BACKEND_AUTO;

    for (size_t i = 0; a && i < a->sample_count && backend == NET_BACKEND_AUTO; i++)
        if (a->samples[i].net.backend && strcmp(a->samples[i].profile, profile) == 0)
            backend = net_backend_of(a->samples[i].net.backend);
    return backend;
}

/*
 * Prepares the profile with that index to be run. A profile whose network is not what was asked is
 * left out and stays incomplete (*fit is false); where no other is left, that is the error.
 */
static int enter_profile(struct series *s, size_t profile, bool *fit, struct err *err)
{
    const char *name = s->plan->profiles[profile].name, *why;

    request_set_free(s->requests);
    s->requests = NULL;
    s->profile = profile;
    s->backend = s->pinned = backend_before(s);
    if (request_set_new(&s->requests, s->plan, &s->plan->profiles[profile], err) != 0 ||
        check_network(s, &why, err) != 0)
        return -1;
    *fit = why == NULL;
    if (*fit)
        return 0;
    if (is_entered(s))
        return err_set(err, ERR_MEASURE, "profile '%s' cannot go on here: %s", name, why);
    if (++s->unfit == s->plan->profile_count)
        return err_set(err, ERR_MEASURE, "profile '%s' cannot be run here: %s", name, why);
    if (s->options->note)
        s->options->note(s->options->user,
                         arena_printf(&s->arena, "profile '%s' is not run: %s", name, why));
    return 0;
}

/* The confirming stage, where the plan has one and the main stage calls for it. */
static int confirm(struct series *s, struct err *err)
{
    const struct profile *profile = &s->plan->profiles[s->profile];
    int needed;

    if (plan_confirm(s->plan, profile) == 0 || !s->options->needs_confirm || interrupted())
        return 0;
    needed =
        s->options->needs_confirm(s->options->user, s->options->archive_folder, profile->name, err);
    if (needed <= 0)
        return needed;
    if (s->next.attempt == 0 || s->next.stage != STAGE_CONFIRM || s->next.profile != s->profile)
        s->progress.runs += order_count(s->plan, s->profile, STAGE_CONFIRM);
    return do_stage(s, STAGE_CONFIRM, err);
}

/*
 * compare: the warm-up runs come first and tell how many pairs fit; then the plan is sealed. They
 * are archived before series.json, which cannot be written earlier.
 */
static int calibrate(struct series *s, struct err *err)
{
    uint64_t count = order_count(s->plan, 0, STAGE_WARMUP);
    double *took_s = arena_array(&s->arena, s->plan->variant_count, sizeof(*took_s));

    for (size_t v = 0; v < s->plan->variant_count; v++)
        took_s[v] = 0;
    for (uint64_t n = 0; n < count && !interrupted(); n++) {
        struct order_step step = order_step(s->plan, 0, STAGE_WARMUP, n);

        if (do_step(s, &step, 1, &took_s[step.variant], err) != 0)
            return -1;
    }
    for (size_t v = 0; v < s->plan->variant_count && interrupted(); v++)
        took_s[v] = HUGE_VAL; /* not known: the fewest pairs */
    s->options->fix_pairs(s->options->user, s->plan, took_s, s->plan->variant_count);
    s->progress.runs = plan_run_count(s->plan);
    return plan_seal(s->plan, err);
}

/*
 * `run` with the baseline on every side: the report says so without a measurement. Who compares a
 * command with itself wants to see it run.
 */
static bool nothing_to_run(const struct plan *plan)
{
    return strcmp(plan->command, "run") == 0 && plan_identical(plan);
}

/*
 * The profile that an archive goes on in: 1 where it is there as a whole, so that the next one
 * comes, 0 where not, -1 on error.
 */
static int is_done(struct series *s, struct err *err)
{
    const struct profile *profile = &s->plan->profiles[s->next.profile];
    int needed;

    if (s->next.attempt == 0 || s->next.stage == STAGE_WARMUP ||
        s->next.n < order_count(s->plan, s->next.profile, s->next.stage))
        return 0;
    if (s->next.stage == STAGE_CONFIRM || plan_confirm(s->plan, profile) == 0)
        return 1;
    needed =
        s->options->needs_confirm(s->options->user, s->options->archive_folder, profile->name, err);
    return needed < 0 ? -1 : !needed;
}

/* The archive says which series of the same plan lay beside it. */
static void tell_earlier(struct series *s)
{
    struct earlier *list;
    size_t count;

    if (s->options->temporary)
        return;
    earlier_find(s->options->archive_folder, s->plan->sha256, &list, &count, &s->arena);
    archive_writer_earlier(s->writer, list, count);
}

static int run_all(struct series *s, struct err *err)
{
    int done = is_done(s, err);
    bool calibrated = s->options->fix_pairs != NULL, fit;

    if (done < 0)
        return -1;
    s->progress.runs =
        s->options->resume ? s->runs_done + s->options->resume->left : plan_run_count(s->plan);
    if (calibrated && (enter_profile(s, 0, &fit, err) != 0 || calibrate(s, err) != 0))
        return -1;
    if (!s->options->resume)
        tell_earlier(s);
    if (!s->options->resume && archive_writer_series(s->writer, s->plan, &s->machine, err) != 0)
        return -1;
    if (nothing_to_run(s->plan))
        return 0;
    for (size_t i = s->next.profile + (size_t)done; i < s->plan->profile_count && !interrupted();
         i++) {
        if (s->plan->profiles[i].only_in)
            continue;
        if (!calibrated && enter_profile(s, i, &fit, err) != 0)
            return -1;
        if (!fit)
            continue;
        if (!calibrated && do_stage(s, STAGE_WARMUP, err) != 0)
            return -1;
        if (do_stage(s, STAGE_MAIN, err) != 0 || confirm(s, err) != 0)
            return -1;
    }
    return 0;
}

/* Closes the archive: report, checksums, digest. */
static int finish(struct series *s, struct series_result *result, struct err *err)
{
    struct buf text = BUF_INIT;
    int rc = archive_writer_loaded(s->writer, identity_record(s->identity), err);

    if (rc == 0 && archive_writer_is_keeping(s->writer) && !interrupted())
        rc = keep_all(s->writer, s->plan, identity_record(s->identity), s->options->note,
                      s->options->user, err);
    if (rc == 0)
        rc = s->options->report(s->options->user, s->options->archive_folder, &text, err);
    if (rc == 0)
        rc = archive_writer_finish(s->writer, text.data, text.len, result->digest, err);
    buf_release(&text);
    return rc;
}

int series_run(struct plan *plan, const struct series_options *options,
               struct series_result *result, struct err *err)
{
    struct series s = {.plan = plan, .options = options, .lock_fd = -1, .arena = ARENA_INIT};
    int rc = -1;

    *result = (struct series_result){0};
    if (signals_hold(err) != 0)
        return -1;
    if (series_open(&s, err) != 0)
        goto out;
    s.started_ns = clock_mono_ns();
    rc = run_all(&s, err);
    result->runs = s.runs_done;
    if (rc == 0)
        rc = finish(&s, result, err);
out:
    series_close(&s);
    result->signal = *signals_flag();
    result->interrupted = result->signal != 0;
    signals_release();
    return rc;
}
