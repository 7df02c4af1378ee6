/* What a sample says of each role. */
#include "measure/measure_parts.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "measure/heap.h"

#define TAIL_LINES 10
#define TAIL_LINE_MAX 300 /* bytes of one line, as shown */

static const char *end_name(enum role_end end)
{
    static const char *const names[] = {
        [ROLE_NOT_STARTED] = "not_started", [ROLE_START_FAILED] = "start_failed",
        [ROLE_EXITED] = "exited",           [ROLE_SIGNALED] = "signaled",
        [ROLE_STOPPED] = "stopped",         [ROLE_KILLED] = "killed",
        [ROLE_IMPORTED] = "imported",
    };
    return names[end];
}

/* Where the last `lines` lines of a text start; a newline at its very end does not count. */
static size_t tail_start(const char *text, size_t len, int lines)
{
    size_t at = len;

    while (at > 0) {
        const char *newline = at > 1 ? memrchr(text, '\n', at - 1) : NULL;
        at = newline ? (size_t)(newline - text) + 1 : 0;
        if (--lines == 0)
            break;
    }
    return at;
}

/* The last lines of standard error, each made harmless; NULL if there are none. */
static const char *stderr_tail(struct draft *d, const struct capture *c)
{
    const char *text = c->tail_len > 0 ? c->tail : c->head;
    size_t len = c->tail_len > 0 ? c->tail_len : c->head_len;
    struct buf shown = BUF_INIT;

    if (len == 0)
        return NULL;
    for (size_t at = tail_start(text, len, TAIL_LINES); at < len;) {
        const char *newline = memchr(text + at, '\n', len - at);
        size_t end = newline ? (size_t)(newline - text) : len;

        if (shown.len > 0)
            buf_addch(&shown, '\n');
        text_neutral(&shown, text + at, end - at, TAIL_LINE_MAX);
        at = end + 1;
    }
    const char *kept = arena_strdup(d->arena, shown.data);
    buf_release(&shown);
    return kept;
}

static double seconds_between(uint64_t start_ns, uint64_t end_ns)
{
    return end_ns > start_ns ? (double)(end_ns - start_ns) / 1e9 : 0;
}

static struct sample_role make_role(struct draft *d, const struct role_outcome *o)
{
    struct sample_role r = {
        .name = o->name,
        .end = end_name(o->end),
        .exit_code = o->exit_code,
        .signal = o->signal,
        .error = o->error[0] ? draft_quoted(d, o->error, strlen(o->error)) : NULL,
        .wall_s = seconds_between(o->start_ns, o->end_ns),
        .user_s = o->cpu.user_s,
        .system_s = o->cpu.system_s,
        .cgroup_cpu_s = o->cpu.cgroup_s,
        .cpu_differs = o->cpu.differ,
        .peak_rss_bytes = o->peak_rss_bytes,
        .sampled_rss_bytes = o->sampled_rss_bytes,
        .max_rss_bytes = o->max_rss_bytes,
        .processes = o->processes,
        .leftovers = o->leftovers,
        .rss_samples = o->samples,
        .missed_ticks = o->missed_ticks,
        .cpus = arena_strdup(d->arena, o->cpus),
    };

    if (d->sample->status != SAMPLE_OK)
        r.stderr_tail = stderr_tail(d, &o->err);
    if (d->heap) {
        r.heap = d->heap[o - d->outcome->roles].text;
        r.heap_len = d->heap[o - d->outcome->roles].len;
    }
    return r;
}

void draft_make_roles(struct draft *d)
{
    const struct outcome *o = d->outcome;

    d->sample->roles = arena_array(d->arena, o->role_count, sizeof *d->sample->roles);
    d->sample->role_count = o->role_count;
    for (size_t i = 0; i < o->role_count; i++)
        d->sample->roles[i] = make_role(d, &o->roles[i]);
}
