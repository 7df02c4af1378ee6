#include "cli/planning.h"

#include "base/buf.h"
#include "base/units.h"
#include "cli/held.h"
#include "cli/plan_text.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "report/figures.h"
#include "run/events.h"
#include "run/run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What isolation this machine reaches: it is part of the plan. */
static int find_isolation(const char **isolation, struct err *err)
{
    enum isolation found;

    if (run_find_isolation(&found, err) != 0)
        return -1;
    *isolation = isolation_name(found);
    return 0;
}

static int look_at_network(void *user, const struct profile *profile, const char **reason,
                           const char **isolation, struct arena *arena, struct err *err)
{
    struct planning *g = user;

    if (networks_find_tables(profile, err) != 0 || networks_look(&g->networks, arena, err) != 0)
        return -1;
    *reason = networks_why_not(&g->networks, &profile->network);
    *isolation = g->networks.isolation;
    return 0;
}

static int look_at_support(void *user, const struct plan *plan, const struct profile *profile,
                           const struct variant *variant, const char **reason, struct arena *arena,
                           struct err *err)
{
    struct planning *g = user;

    return supports_look(&g->supports, plan, profile, variant, reason, arena, err);
}

/* A counter that libpfm4 does not know is a slip; one that this machine lacks is not. */
static int check_events(const struct settings *s, struct err *err)
{
    unsigned char attr[WIRE_ATTR_BYTES];
    for (size_t i = 0; i < s->events.count; i++) {
        if (event_encode(s->events.items[i], attr, err) == 0)
            continue;
        err->code = ERR_USAGE;
        err_wrap(err, "option '--event'");
        return err_hint(err, "'abba list events' names those that are known here");
    }
    return 0;
}

static void tell(void *user, const char *text)
{
    terminal_note(user, text);
}

/* How programs are fetched. */
static int set_fetch(struct planning *g, struct settings *s, struct err *err)
{
    g->fetch = (struct http_options){.ca_file = s->ca_file, .note = tell, .user = s};
    g->fetch.limits.total_ns = s->fetch_timeout_ns;
    if (!s->fetch_size || units_parse_size(s->fetch_size, &g->fetch.limits.max_bytes, err) == 0)
        return 0;
    err->code = ERR_USAGE;
    return err_wrap(err, "option '--fetch-size'");
}

/* ---- builds ---- */

static void on_build(void *user, const char *text)
{
    struct planning *g = user;
    struct buf safe = BUF_INIT;

    safe_text(&safe, text, strlen(text));
    terminal_note(g->s, safe.data);
    buf_release(&safe);
}

/* Part of a fault: shown also to who wants quiet. */
static void on_build_log(void *user, const char *line)
{
    (void)user;
    fprintf(stderr, "  | %s\n", line);
}

static void request_git(const struct settings *s, struct plan_request *q)
{
    q->build = s->build;
    q->product = s->product;
    q->control = s->control;
    q->files = s->files;
    q->build_writes = s->build_writes;
    q->candidate_roles = s->candidate_roles;
    q->no_merge_base = s->no_merge_base;
    q->accepted = s->accepted;
    q->no_accepted = s->no_accepted;
    q->build_note = on_build;
    q->build_log = on_build_log;
    q->build_stopped = held_signal;
}

/* A normal user has no process namespaces anywhere; where root has none, that is worth a word. */
static void note_container(const struct planning *g)
{
    if (geteuid() == 0 && strcmp(g->isolation, isolation_name(ISOLATION_SUBREAPER)) == 0)
        terminal_note(g->s, "no process namespaces here, as in a container without privileges: "
                            "programs are followed and ended as a subreaper does");
}

int planning_init(struct planning *g, struct settings *s, struct err *err)
{
    *g = (struct planning){.s = s};
    if (check_events(s, err) != 0 || set_fetch(g, s, err) != 0)
        return -1;
    if (find_isolation(&g->isolation, err) != 0)
        return -1;
    note_container(g);
    return 0;
}

void planning_request(struct planning *g, struct plan_request *q)
{
    const struct settings *s = g->s;

    q->isolation = g->isolation;
    q->fetch = &g->fetch;
    q->env = s->env;
    q->thresholds = s->thresholds;
    q->thresholds_file = s->thresholds_file;
    q->events = s->events;
    q->claims = s->claims;
    q->cpus = s->cpus;
    q->input = s->input;
    q->impair = s->impair;
    q->look_at_network = look_at_network;
    q->look_at_support = look_at_support;
    q->user = g;
    request_git(s, q);
    q->pairs = (int)s->pairs;
    q->confirm = (int)s->confirm;
    q->warmup = (int)s->warmup;
    q->pause_ns = s->pause_ns;
    q->timeout_ns = s->timeout_ns;
    q->seed = s->seed;
    q->aa = s->aa;
    q->memory_pass = s->memory_pass;
    q->memory_pairs = (int)s->memory_pairs;
    q->allow_failures = s->allow_failures;
    q->unsupported_fail = s->unsupported == 1;
}

void planning_notes(const struct settings *s, const struct plan *plan)
{
    for (size_t i = 0; i < plan->notes.count; i++) {
        const char *note = plan->notes.items[i];
        struct buf text = BUF_INIT;
        safe_text(&text, note, strlen(note));
        terminal_note(s, text.data);
        buf_release(&text);
    }
}

int planning_build(struct planning *g, const struct plan_request *q, struct plan *plan,
                   struct err *err)
{
    const bool builds = q->build || q->product || q->files.count;
    struct held held;
    int rc;

    if (builds) /* what is exported and built lies in folders that must not be left behind */
        held_begin(&held);
    rc = plan_build(plan, q, &g->s->arena, err);
    if (builds) {
        if (rc == 0 && held_signal())
            rc = err_set(err, ERR_INTERRUPTED, "ended by a signal before the first run");
        held_end(&held);
    }
    supports_close(&g->supports);
    if (rc != 0)
        return -1;
    planning_notes(g->s, plan);
    return 0;
}

int planning_check_budget(const struct settings *s, const struct plan *plan, struct err *err)
{
    struct buf all = BUF_INIT, part = BUF_INIT, budget = BUF_INIT;
    uint64_t main_ns, all_ns;
    const char *unknown;
    int rc = 0;

    if (s->budget_ns == 0)
        return 0;
    if (!plan_estimate(plan, &main_ns, &all_ns, &unknown)) {
        err_set(err, ERR_USAGE, "option '--budget': nobody knows what a run of '%s' takes",
                unknown);
        return err_hint(err, "\"takes\": \"2s\" in the profile says it");
    }
    plan_time_text(all_ns, &all);
    plan_time_text(main_ns, &part);
    plan_time_text((uint64_t)s->budget_ns, &budget);
    if (all_ns > (uint64_t)s->budget_ns) {
        rc = err_set(err, ERR_USAGE,
                     "option '--budget': the series takes about %s, and %s with all confirming "
                     "pairs; the budget is %s",
                     part.data, all.data, budget.data);
        err_hint(err, "fewer profiles, -n or --confirm take less; 'RUNNER/quick-*' are the short "
                      "profiles");
    }
    buf_release(&all);
    buf_release(&part);
    buf_release(&budget);
    return rc;
}

int planning_show(const struct settings *s, const struct plan *plan, struct err *err)
{
    struct buf out = BUF_INIT;
    int rc = 0;
    if (s->format == FORMAT_JSON) {
        rc = plan_encode(plan, &out, err);
        buf_addch(&out, '\n');
    } else {
        struct report_style style = terminal_style(s);
        plan_text(plan, s->duration_ms, &style, &out);
    }
    if (rc == 0)
        rc = terminal_result(s, &out, err);
    buf_release(&out);
    return rc;
}
