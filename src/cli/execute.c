#include "cli/execute.h"

#include "archive/reader.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/files.h"
#include "cli/cli.h"
#include "cli/networks.h"
#include "cli/plan_text.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "judge/judge.h"
#include "report/figures.h"
#include "report/report.h"
#include "run/events.h"
#include "run/run.h"
#include "series/series.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One execution, from plan to report. */
struct session {
    struct settings *s;
    const struct execute_options *options;
    struct plan plan;
    struct networks networks;
    struct progress progress;
    const char *folder;    /* of the archive */
    const char *temporary; /* folder that holds it and is removed at the end, or NULL */
    struct archive *read;  /* the finished series, read back, and what was judged from it */
    struct report report;
    struct arena judged;
};

/* ---- signals while files are lying about ---- */

/*
 * A series holds signals itself. Around it they are only noted, so that a temporary archive is
 * removed also when the signal comes while the report is made.
 */
static volatile sig_atomic_t noted;
static const int held[] = {SIGINT, SIGTERM, SIGHUP};
#define HELD (sizeof(held) / sizeof(held[0]))

static void note_signal(int signal)
{
    noted = signal;
}

static void hold_signals(struct sigaction before[HELD])
{
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < HELD; i++) {
        sigaction(held[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(held[i], &action, NULL);
    }
}

static void release_signals(const struct sigaction before[HELD])
{
    for (size_t i = 0; i < HELD; i++)
        sigaction(held[i], &before[i], NULL);
    if (noted)
        cli_raise_later(noted);
}

/* ---- what a series asks back
 * ---------------------------------------------------------------------- */

static void on_progress(void *user, const struct series_progress *p)
{
    struct session *x = user;
    progress_show(&x->progress, p);
}

static void on_note(void *user, const char *text)
{
    struct session *x = user;
    progress_wipe(&x->progress);
    terminal_note(x->s, text);
}

static int on_needs_confirm(void *user, const char *folder, const char *profile, struct err *err)
{
    struct archive *a = NULL;
    (void)user;
    if (archive_open(&a, folder, ROLES_OF_FAILED, err) != 0)
        return -1;
    int needed = judge_needs_confirm(a, profile);
    archive_close(a);
    return needed;
}

/* The report that is archived, and printed afterwards: of the samples as they stand on disk. */
static int on_report(void *user, const char *folder, struct buf *out, struct err *err)
{
    struct session *x = user;
    if (archive_open(&x->read, folder, ROLES_OF_FAILED, err) != 0 ||
        judge_archive(x->read, &x->report, &x->judged, err) != 0)
        return -1;
    report_encode(&x->report, out);
    return 0;
}

int execute_fit_pairs(int64_t duration_ms, const double *took_s, size_t count)
{
    double block = 0;
    for (size_t i = 0; i < count; i++)
        block += took_s[i];
    double fit = block > 0 ? (double)duration_ms / 1e3 * (double)count / block : 5000;
    if (!(fit < 5000))
        return 5000;
    int pairs = (int)(fit + 1e-6) / 2 * 2; /* a sum of tenths may fall short of one */
    return pairs < 6 ? 6 : pairs;
}

static void on_fix_pairs(void *user, struct plan *plan, const double *took_s, size_t count)
{
    struct session *x = user;
    plan->profiles[0].pairs = execute_fit_pairs(x->s->duration_ms, took_s, count);
}

/* ---- plan
 * ------------------------------------------------------------------------------------------ */

/* What isolation this machine reaches: it is part of the plan. */
static int find_isolation(const char **isolation, struct err *err)
{
    struct run_host *host = NULL;
    struct run_options options = {.max_roles = 1, .wake_fd = -1};
    if (run_host_open(&host, &options, err) != 0)
        return -1;
    *isolation = isolation_name(run_host_isolation(host));
    run_host_close(host);
    return 0;
}

static int look_at_network(void *user, const struct profile *profile, const char **reason,
                           const char **isolation, struct arena *arena, struct err *err)
{
    struct session *x = user;

    if (networks_look(&x->networks, arena, err) != 0)
        return -1;
    *reason = networks_why_not(&x->networks, &profile->network);
    *isolation = x->networks.isolation;
    return 0;
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

/* What the plan has to say before it runs. */
static void show_notes(const struct session *x)
{
    for (size_t i = 0; i < x->plan.notes.count; i++) {
        const char *note = x->plan.notes.items[i];
        struct buf text = BUF_INIT;
        safe_text(&text, note, strlen(note));
        terminal_note(x->s, text.data);
        buf_release(&text);
    }
}

static int make_plan(struct session *x, struct plan_request *q, struct err *err)
{
    struct settings *s = x->s;
    if (check_events(s, err) != 0 || find_isolation(&q->isolation, err) != 0)
        return -1;
    q->env = s->env;
    q->thresholds = s->thresholds;
    q->thresholds_file = s->thresholds_file;
    q->events = s->events;
    q->claims = s->claims;
    q->cpus = s->cpus;
    q->input = s->input;
    q->impair = s->impair;
    q->look_at_network = look_at_network;
    q->user = x;
    q->pairs = (int)s->pairs;
    q->confirm = (int)s->confirm;
    q->warmup = (int)s->warmup;
    q->pause_ns = s->pause_ns;
    q->timeout_ns = s->timeout_ns;
    q->seed = s->seed;
    q->aa = s->aa;
    q->allow_failures = s->allow_failures;
    q->unsupported_fail = s->unsupported == 1;
    if (plan_build(&x->plan, q, &s->arena, err) != 0)
        return -1;
    show_notes(x);
    return 0;
}

static int show_plan(struct session *x, struct err *err)
{
    struct buf out = BUF_INIT;
    int rc = 0;
    if (x->s->format == FORMAT_JSON) {
        rc = plan_encode(&x->plan, &out, err);
        buf_addch(&out, '\n');
    } else {
        struct report_style style = terminal_style(x->s);
        plan_text(&x->plan, x->s->duration_ms, &style, &out);
    }
    if (rc == 0)
        rc = terminal_result(x->s, &out, err);
    buf_release(&out);
    return rc;
}

/* ---- where the archive goes
 * ---------------------------------------------------------------------- */

static int temporary_folder(struct session *x, struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    char *folder =
        arena_printf(&x->s->arena, "%s/abba-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp");
    if (!mkdtemp(folder)) {
        err_sys(err, ERR_SYSTEM, errno, "cannot make a temporary folder '%s'", folder);
        return err_hint(err, "--archive DIR says where the data go");
    }
    x->temporary = folder;
    x->folder = files_join(&x->s->arena, folder, "archive");
    return 0;
}

/* "archive/20240506T070809Z-flow-pingpong-1a2b3c4d" */
static int dated_folder(struct session *x, struct err *err)
{
    const struct plan *plan = &x->plan;
    char time[CLOCK_TEXT];
    struct buf name = BUF_INIT;
    clock_format_utc_name(clock_real_ns(), time);
    for (const char *p = plan->profiles[0].name; *p && name.len < 60; p++)
        buf_addch(&name, isalnum((unsigned char)*p) || strchr("._=,-", *p) ? *p : '-');
    if (plan->profile_count > 1)
        buf_printf(&name, "+%zu", plan->profile_count - 1);
    x->folder = arena_printf(&x->s->arena, "archive/%s-%s-%.8s", time, name.data, plan->sha256);
    buf_release(&name);
    if (files_mkdirs("archive", err) == 0)
        return 0;
    return err_hint(err, "--archive DIR says where the data go");
}

static int choose_folder(struct session *x, struct err *err)
{
    if (!x->s->archive)
        return x->options->keep ? dated_folder(x, err) : temporary_folder(x, err);
    x->folder = x->s->archive;
    if (files_exists(x->folder)) {
        err_set(err, ERR_USAGE, "option '--archive': '%s' exists already", x->folder);
        return err_hint(err, "an archive is a folder of its own; nothing is ever added to one");
    }
    return files_mkdirs(files_dirname(&x->s->arena, x->folder), err);
}

/* ---- reports
 * --------------------------------------------------------------------------------------- */

int execute_print(const struct settings *s, const struct report *r, const char *archive,
                  const char *digest, struct err *err)
{
    struct buf out = BUF_INIT;
    struct report_style style = terminal_style(s);
    style.archive = archive;
    style.digest = digest;
    switch ((enum report_format)s->format) {
    case FORMAT_TEXT:
        report_text(r, &style, &out);
        break;
    case FORMAT_MARKDOWN:
        report_markdown(r, &style, &out);
        break;
    case FORMAT_JUNIT:
        report_junit(r, &out);
        break;
    case FORMAT_JSON:
        report_encode(r, &out);
        break;
    }
    int rc = terminal_result(s, &out, err);
    buf_release(&out);
    return rc;
}

/* Prints what was judged from the archive. The status, or -1. */
static int print_report(struct session *x, const char *digest, struct err *err)
{
    const char *kept = x->temporary ? NULL : x->folder;
    if (execute_print(x->s, &x->report, kept, kept ? digest : NULL, err) != 0)
        return -1;
    if (kept && (x->s->format != FORMAT_TEXT || x->s->output))
        terminal_note(x->s, arena_printf(&x->s->arena, "archive %s, digest %s", kept, digest));
    return status_of_report(&x->report, x->options->must_judge);
}

static int run_series(struct session *x, struct err *err)
{
    struct series_result result;
    struct series_options options = {
        .archive_folder = x->folder,
        .lock = !x->s->no_lock,
        .identify = x->s->identify,
        .temporary = x->temporary != NULL,
        .progress = on_progress,
        .note = on_note,
        .needs_confirm = on_needs_confirm,
        .fix_pairs = x->plan.sha256[0] ? NULL : on_fix_pairs,
        .report = on_report,
        .user = x,
    };
    progress_init(&x->progress, x->s->quiet);
    int rc = series_run(&x->plan, &options, &result, err);
    progress_wipe(&x->progress);
    if (result.interrupted) {
        noted = result.signal;
        terminal_note(x->s,
                      arena_printf(&x->s->arena, "interrupted by SIG%s after %llu runs",
                                   sigabbrev_np(result.signal), (unsigned long long)result.runs));
    }
    if (rc == 0)
        return print_report(x, result.digest, err);
    if (result.runs > 0)
        x->temporary = NULL; /* an error costs nothing that was measured */
    if (!x->temporary && files_exists(x->folder) && !err->hint[0])
        err_hint(err, "what was measured so far is in '%s'", x->folder);
    return -1;
}

/* A place that cannot be written to is told before the runs, not after them. */
static int check_output(const struct settings *s, struct err *err)
{
    if (!s->output || strcmp(s->output, "-") == 0 || files_check_writable(s->output, err) == 0)
        return 0;
    return err_wrap(err, "option '--output'");
}

int execute(struct settings *s, struct plan_request *request, const struct execute_options *options,
            struct err *err)
{
    struct session x = {.s = s, .options = options};
    struct sigaction before[HELD];
    struct err ignored = {0};
    int status = -1;

    if (make_plan(&x, request, err) != 0 || check_output(s, err) != 0)
        return -1;
    if (s->plan)
        return show_plan(&x, err);
    hold_signals(before);
    if (choose_folder(&x, err) == 0)
        status = run_series(&x, err);
    archive_close(x.read);
    arena_release(&x.judged);
    if (x.temporary)
        (void)files_remove_tree(x.temporary, &ignored);
    release_signals(before);
    return status;
}
