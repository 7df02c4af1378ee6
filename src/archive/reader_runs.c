/* The runs of an archive: packed as they were read, or whole samples where somebody made them. */
#include "archive/compact.h"
#include "base/strings.h"

static const struct sample *whole(const struct archive *a, size_t run)
{
    ABBA_ASSERT(run < a->sample_count);
    return &a->samples[run];
}

const char *archive_stderr_tail(const struct sample *s)
{
    for (size_t i = 0; i < s->role_count; i++)
        if (s->roles[i].stderr_tail)
            return s->roles[i].stderr_tail;
    return NULL;
}

struct archive_run archive_run(const struct archive *a, size_t run)
{
    if (a->compact)
        return compact_run(a->compact, run);

    const struct sample *s = whole(a, run);
    return (struct archive_run){
        .run = s->run,
        .pair = s->pair,
        .slot = s->slot,
        .attempt = s->attempt,
        .stage = s->stage,
        .variant = s->variant,
        .profile = s->profile,
        .status = s->status,
        .error = s->error,
        .stderr_tail = archive_stderr_tail(s),
        .nonzero_exit = s->nonzero_exit,
        .program_changed = s->program_changed,
        .noisy = archive_is_noisy(s, a->plan),
        .metric_count = s->metric_count,
        .backend = s->net.backend,
        .flow_count = s->net.flow_count < ARCHIVE_FLOWS ? s->net.flow_count : ARCHIVE_FLOWS,
    };
}

void archive_span(const struct archive *a, const char *profile, size_t *first, size_t *end)
{
    *first = 0;
    *end = a->sample_count;
    if (!a->compact)
        return;
    compact_span(a->compact, profile, first, end);
    if (*end > a->sample_count) /* the last runs may have been left out */
        *end = a->sample_count;
    if (*first > *end)
        *first = *end;
}

const char *archive_backend(const struct archive *a, const char *profile)
{
    size_t first, end;

    archive_span(a, profile, &first, &end);
    for (size_t i = first; i < end; i++) {
        const struct archive_run run = archive_run(a, i);

        if (run.backend && strings_same(run.profile, profile))
            return run.backend;
    }
    return NULL;
}

void archive_metric(const struct archive *a, size_t run, size_t m, struct sample_metric *out)
{
    if (a->compact)
        compact_metric(a->compact, run, m, out);
    else
        *out = whole(a, run)->metrics[m];
}

bool archive_find_metric(const struct archive *a, size_t run, const char *name, size_t guess,
                         struct sample_metric *out)
{
    const struct sample_metric *found;

    (void)guess;
    if (a->compact)
        return compact_find(a->compact, run, name, guess, out);
    found = sample_find_metric(whole(a, run), name);
    if (found)
        *out = *found;
    return found != NULL;
}

void archive_flow(const struct archive *a, size_t run, size_t flow, struct net_flow_proof *out)
{
    if (a->compact)
        compact_flow(a->compact, run, flow, out);
    else
        *out = whole(a, run)->net.flows[flow];
}

size_t archive_role_count(const struct archive *a)
{
    return a->compact->roles.count;
}

const struct archive_role *archive_role(const struct archive *a, size_t i)
{
    return intern_at(&a->compact->roles, (uint32_t)i);
}

bool archive_has_files(const struct archive *a)
{
    return a->compact->files;
}
