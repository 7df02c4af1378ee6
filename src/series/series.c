#include "series/series.h"

#include <math.h>
#include <string.h>

#include "archive/earlier.h"
#include "archive/writer.h"
#include "base/buf.h"
#include "base/clock.h"
#include "run/run.h"
#include "series/identity.h"
#include "series/keep.h"
#include "series/private_net.h"
#include "series/request.h"
#include "series/resume.h"
#include "series/series_parts.h"
#include "series/signals.h"

bool series_interrupted(void)
{
    return *signals_flag() != 0;
}

/* ---- stages ---- */

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

    for (uint64_t n = stage_start(s, stage, &attempt), block = n / k;
         n < count && !series_interrupted(); n++) {
        struct order_step step = order_step(s->plan, s->profile, stage, n);

        if (series_step(s, &step, n / k == block ? attempt : 1, NULL, err) != 0 ||
            ((n + 1) % k == 0 && series_look_closer(s, stage, n / k, err) != 0))
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
    if (profile->network.topology == NET_HOST || series_interrupted())
        return 0;
    private_net_request(&q, s->plan->seed, profile, runner, 0, run_host_user_namespace(s->host),
                        &s->arena);
    series_pin_backend(s, &q, &s->arena);
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
    const char *name = a ? archive_backend(a, s->plan->profiles[s->profile].name) : NULL;

    return name ? net_backend_of(name) : NET_BACKEND_AUTO;
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

    if (plan_confirm(s->plan, profile) == 0 || !s->options->needs_confirm || series_interrupted())
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
    for (uint64_t n = 0; n < count && !series_interrupted(); n++) {
        struct order_step step = order_step(s->plan, 0, STAGE_WARMUP, n);

        if (series_step(s, &step, 1, &took_s[step.variant], err) != 0)
            return -1;
    }
    if (count > 0 && series_look_closer(s, STAGE_WARMUP, count / s->plan->variant_count - 1, err))
        return -1;
    for (size_t v = 0; v < s->plan->variant_count && series_interrupted(); v++)
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
    for (size_t i = s->next.profile + (size_t)done;
         i < s->plan->profile_count && !series_interrupted(); i++) {
        if (s->plan->profiles[i].only_in)
            continue;
        if (i == 0 && calibrated)
            fit = true;
        else if (enter_profile(s, i, &fit, err) != 0)
            return -1;
        if (!fit)
            continue;
        if (!(i == 0 && calibrated) && do_stage(s, STAGE_WARMUP, err) != 0)
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

    if (rc == 0 && archive_writer_is_keeping(s->writer) && !series_interrupted())
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
