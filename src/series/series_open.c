#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "archive/writer.h"
#include "base/files.h"
#include "measure/measure.h"
#include "net/network.h"
#include "run/machine.h"
#include "run/run.h"
#include "series/hide.h"
#include "series/identity.h"
#include "series/lock.h"
#include "series/programs.h"
#include "series/request.h"
#include "series/resume.h"
#include "series/series_parts.h"
#include "series/signals.h"

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

int series_open(struct series *s, struct err *err)
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

void series_close(struct series *s)
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
