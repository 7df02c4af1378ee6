#include "cli/execute.h"

#include "archive/reader.h"
#include "archive/signature.h"
#include "base/buf.h"
#include "base/files.h"
#include "cli/archives.h"
#include "cli/cli.h"
#include "cli/held.h"
#include "cli/planning.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "judge/judge.h"
#include "report/csv.h"
#include "report/report.h"
#include "series/resume.h"
#include "series/series.h"

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
    struct progress progress;
    struct resumption *resume;  /* the archive to go on with, or NULL */
    const struct archive *like; /* the archive that is run again, or NULL */
    execute_done *done;         /* what is done instead of printing the report */
    void *user;                 /* for done */
    const char *folder;         /* of the archive */
    const char *temporary;      /* folder that holds it and is removed at the end, or NULL */
    struct archive *read;       /* the finished series, read back, and what was judged from it */
    struct report report;
    struct arena judged;
};

/* ---- what a series asks back ---- */

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
    if (archive_open(&a, folder, err) != 0)
        return -1;
    int needed = judge_needs_confirm(a, profile);
    archive_close(a);
    return needed;
}

/* The report that is archived, and printed afterwards: of the samples as they stand on disk. */
static int on_report(void *user, const char *folder, struct buf *out, struct err *err)
{
    struct session *x = user;
    if (archive_open(&x->read, folder, err) != 0 ||
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

/* ---- where the archive goes ---- */

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

static int dated_folder(struct session *x, struct err *err)
{
    const struct plan *plan = &x->plan;
    const char *what = plan->profiles[0].name;

    if (plan->profile_count > 1)
        what = arena_printf(&x->s->arena, "%.55s+%zu", what, plan->profile_count - 1);
    x->folder = archives_dated(what, plan->sha256, &x->s->arena);
    if (files_mkdirs(ARCHIVES, err) == 0)
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

/* ---- reports ---- */

#define CSV_PIECE ((size_t)64 << 10)

struct csv {
    struct files_draft draft;
    struct buf text;
};

static int add_csv(void *user, const struct sample *s, struct err *err)
{
    struct csv *c = user;

    report_csv_sample(s, &c->text);
    if (c->text.len < CSV_PIECE)
        return 0;
    int rc = terminal_piece(&c->draft, &c->text, err);
    buf_clear(&c->text);
    return rc;
}

/* Run by run: it is as long as the samples. */
static int print_csv(const struct settings *s, const struct archive *a, struct err *err)
{
    struct csv c = {.text = BUF_INIT};

    if (terminal_begin(s, &c.draft, err) < 0)
        return -1;
    report_csv_head(&c.text);
    int rc = archive_each(a, add_csv, &c, err);
    if (rc == 0)
        rc = terminal_piece(&c.draft, &c.text, err);
    buf_release(&c.text);
    return terminal_end(&c.draft, rc, err);
}

int execute_print(const struct settings *s, const struct report *r, const struct archive *a,
                  const char *archive, const char *digest, struct err *err)
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
    case FORMAT_CSV:
        return print_csv(s, a, err);
    }
    int rc = terminal_result(s, &out, err);
    buf_release(&out);
    return rc;
}

/* Prints what was judged from the archive. The status, or -1. */
static int print_report(struct session *x, const char *digest, struct err *err)
{
    const char *kept = x->temporary ? NULL : x->folder;
    if (x->done)
        return x->done(x->user, &x->report, x->read, x->folder, digest, err);
    if (execute_print(x->s, &x->report, x->read, kept, kept ? digest : NULL, err) != 0)
        return -1;
    if (kept && (x->s->format != FORMAT_TEXT || x->s->output))
        terminal_note(x->s, arena_printf(&x->s->arena, "archive %s, digest %s", kept, digest));
    return status_of_report(&x->report, x->options->must_judge);
}

/* Runs the series, and says so where a signal ended it. */
static int make_runs(struct session *x, struct series_result *result, struct err *err)
{
    struct series_options options = {
        .archive_folder = x->folder,
        .lock = !x->s->no_lock,
        .identify = x->resume ? x->resume->archive->machine->host != NULL : x->s->identify,
        .temporary = x->temporary != NULL,
        .keep_programs = x->s->keep_programs,
        .progress = on_progress,
        .note = on_note,
        .needs_confirm = on_needs_confirm,
        .fix_pairs = x->plan.sha256[0] ? NULL : on_fix_pairs,
        .report = on_report,
        .user = x,
        .resume = x->resume,
        .like = x->like,
    };
    int rc = series_run(&x->plan, &options, result, err);
    progress_wipe(&x->progress);
    if (result->interrupted) {
        held_note(result->signal);
        terminal_note(x->s,
                      arena_printf(&x->s->arena, "interrupted by SIG%s after %llu runs",
                                   sigabbrev_np(result->signal), (unsigned long long)result->runs));
    }
    return rc;
}

static int run_series(struct session *x, struct err *err)
{
    struct series_result result;

    progress_init(&x->progress, x->s->quiet);
    int rc = make_runs(x, &result, err);
    if (rc == 0 && x->s->sign && signature_make(x->folder, x->s->sign, err) != 0)
        return err_hint(err, "the archive '%s' is whole, but not signed", x->folder);
    if (rc == 0)
        return print_report(x, result.digest, err);
    if (result.runs > 0)
        x->temporary = NULL; /* an error costs nothing that was measured */
    if (!x->temporary && files_exists(x->folder) && !err->hint[0])
        err_hint(err, "what was measured so far is in '%s'", x->folder);
    return -1;
}

int execute_check_output(const struct settings *s, struct err *err)
{
    if (!s->output || strcmp(s->output, "-") == 0 || files_check_writable(s->output, err) == 0)
        return 0;
    return err_wrap(err, "option '--output'");
}

/* Whether the key can sign, before the runs whose archive it is for. */
int execute_check_key(const struct settings *s, bool kept, struct err *err)
{
    if (s->keep_programs && !kept) {
        err_set(err, ERR_USAGE, "option '--keep-programs': there is no archive to keep them in");
        return err_hint(err, "--archive DIR keeps one");
    }
    if (!s->sign)
        return 0;
    if (!kept) {
        err_set(err, ERR_USAGE, "option '--sign': there is no archive to sign");
        return err_hint(err, "--archive DIR keeps one");
    }
    return signature_try(s->sign, err) == 0 ? 0 : err_wrap(err, "option '--sign'");
}

/* From a plan and a folder to a printed report. */
static int carry_out(struct session *x, struct err *err)
{
    struct held held;
    struct err ignored = {0};
    int status = -1;

    held_begin(&held);
    if (x->folder || choose_folder(x, err) == 0)
        status = run_series(x, err);
    archive_close(x->read);
    arena_release(&x->judged);
    if (x->temporary)
        (void)files_remove_tree(x->temporary, &ignored);
    held_end(&held);
    return status;
}

int execute(struct settings *s, struct plan_request *request, const struct execute_options *options,
            struct err *err)
{
    struct session x = {.s = s, .options = options, .done = options->done, .user = options->user};
    struct planning planning;

    if (planning_init(&planning, s, err) != 0)
        return -1;
    planning_request(&planning, request);
    if (planning_build(&planning, request, &x.plan, err) != 0 ||
        planning_check_budget(s, &x.plan, err) != 0 || execute_check_output(s, err) != 0 ||
        execute_check_key(s, options->keep || s->archive, err) != 0)
        return -1;
    return s->plan ? planning_show(s, &x.plan, err) : carry_out(&x, err);
}

int execute_resume(struct settings *s, struct resumption *r, struct err *err)
{
    const struct execute_options options = {.keep = true,
                                            .must_judge = strcmp(r->plan.command, "run") == 0};
    struct session x = {
        .s = s, .options = &options, .plan = r->plan, .resume = r, .folder = r->archive->folder};

    if (execute_check_output(s, err) != 0 || execute_check_key(s, true, err) != 0)
        return -1;
    return s->plan ? planning_show(s, &r->plan, err) : carry_out(&x, err);
}

int execute_again(struct settings *s, const struct plan *plan, const struct archive *like,
                  execute_done *done, void *user, struct err *err)
{
    const struct execute_options options = {.keep = true};
    struct session x = {
        .s = s, .options = &options, .plan = *plan, .like = like, .done = done, .user = user};

    if (execute_check_output(s, err) != 0 || execute_check_key(s, true, err) != 0)
        return -1;
    return carry_out(&x, err);
}

/* The archive to go on with, which must be one of that plan. */
static int take_up(struct session *x, struct resumption *r, const char *folder, struct err *err)
{
    if (resume_open(r, folder, &x->s->arena, err) != 0)
        return -1;
    if (strcmp(r->plan.sha256, x->plan.sha256) != 0)
        return err_set(err, ERR_CONFIG,
                       "archive '%s' is of another plan: it has %.12s..., and "
                       "this is %.12s...",
                       folder, r->plan.sha256, x->plan.sha256);
    x->plan = r->plan;
    x->resume = r;
    return 0;
}

int execute_comparison(struct settings *s, const struct plan *plan, const char *folder,
                       const char *where, const struct archive *like, bool go_on, bool *interrupted,
                       struct err *err)
{
    static const struct execute_options kept = {.keep = true};
    struct session x = {.s = s, .options = &kept, .plan = *plan, .folder = folder, .like = like};
    struct series_result result = {0};
    struct resumption r = {0};
    int rc = go_on ? take_up(&x, &r, folder, err) : 0;

    if (rc == 0) {
        progress_init(&x.progress, s->quiet);
        x.progress.where = where;
        rc = make_runs(&x, &result, err);
    }
    *interrupted = result.interrupted;
    archive_close(x.read);
    arena_release(&x.judged);
    resume_close(&r);
    return rc;
}
