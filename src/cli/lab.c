#include "cli/lab.h"

#include "archive/lab_writer.h"
#include "archive/signature.h"
#include "archive/verify.h"
#include "base/buf.h"
#include "base/files.h"
#include "cli/cli.h"
#include "cli/execute.h"
#include "cli/held.h"
#include "cli/lab_folder.h"
#include "cli/lab_print.h"
#include "cli/planning.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "judge/judge.h"
#include "judge/lab.h"
#include "plan/lab.h"

#include <string.h>
#include <unistd.h>

/* A lab while it runs. */
struct lab_session {
    struct settings *s;
    const struct lab *lab;
    const char *folder;
    int held_fd;                        /* of the folder; -1: not held */
    bool fresh;                         /* the folder is new */
    size_t ran;                         /* comparisons that had runs now */
    const struct archive *const *likes; /* of each comparison; NULL: none */
    lab_done *done;                     /* in place of printing the report; NULL: print */
    void *user;
};

/* ---- what is there ---- */

enum state { STATE_NEW, STATE_PARTIAL, STATE_DONE };

static const char *archive_of(const struct lab_session *x, size_t i)
{
    return files_join(&x->s->arena, x->folder, x->lab->comparisons[i].folder);
}

/* An archive is done when it is closed and has all runs that its verdict needs. */
static int state_of(const struct lab_session *x, size_t i, enum state *state, struct err *err)
{
    struct arena arena = ARENA_INIT;
    const char *folder = archive_of(x, i);
    struct archive *a = NULL;
    struct report r;
    int rc = 0;

    *state = STATE_NEW;
    if (!files_exists(folder))
        return 0;
    rc = archive_open(&a, folder, err);
    if (rc == 0)
        rc = judge_archive(a, &r, &arena, err);
    if (rc == 0)
        *state = a->finished && r.finished ? STATE_DONE : STATE_PARTIAL;
    archive_close(a);
    arena_release(&arena);
    return rc;
}

/* ---- running ---- */

static void tell_skipped(const struct lab_session *x, size_t done)
{
    if (done == x->lab->comparison_count)
        terminal_note(x->s, "all comparisons are there already: nothing is run");
    else if (done)
        terminal_note(x->s, arena_printf(&x->s->arena,
                                         "%zu of %zu comparisons are there already and are not "
                                         "run again",
                                         done, x->lab->comparison_count));
}

static int count_done(const struct lab_session *x, size_t *done, struct err *err)
{
    enum state state;

    *done = 0;
    for (size_t i = 0; i < x->lab->comparison_count; i++) {
        if (state_of(x, i, &state, err) < 0)
            return -1;
        *done += state == STATE_DONE;
    }
    return 0;
}

/* One comparison, new or gone on with. What a machine cannot run costs the others nothing. */
static int run_comparison(struct lab_session *x, size_t i, enum state state, bool *interrupted,
                          struct err *err)
{
    const struct lab_comparison *c = &x->lab->comparisons[i];
    const char *where =
        arena_printf(&x->s->arena, "%zu/%zu %s", i + 1, x->lab->comparison_count, c->name);

    x->ran++;
    if (execute_comparison(x->s, &c->plan, archive_of(x, i), where, x->likes ? x->likes[i] : NULL,
                           state == STATE_PARTIAL, interrupted, err) == 0)
        return 0;
    err_wrap(err, "comparison '%s'", c->name);
    if (err->code != ERR_MEASURE)
        return -1;
    terminal_note(x->s, err->msg);
    return 0;
}

static int run_all(struct lab_session *x, struct err *err)
{
    bool interrupted = false;

    for (size_t i = 0; i < x->lab->comparison_count && !interrupted && !held_signal(); i++) {
        enum state state;

        if (state_of(x, i, &state, err) < 0)
            return -1;
        if (state != STATE_DONE && run_comparison(x, i, state, &interrupted, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- the end ---- */

static bool all_closed(const struct lab_archive *l)
{
    for (size_t i = 0; i < l->lab->comparison_count; i++)
        if (l->archives[i] && !l->archives[i]->finished)
            return false;
    return true;
}

/* Writes report.json and SHA256SUMS, unless an archive was left open. */
static int close_lab(struct lab_session *x, const struct lab_archive *l, const struct lab_report *r,
                     char digest[65], struct err *err)
{
    struct buf text = BUF_INIT;
    int rc = 0;

    memcpy(digest, l->digest, sizeof(l->digest));
    if (x->ran == 0 && l->finished)
        return 0;
    lab_report_encode(r, &text);
    if (all_closed(l))
        rc = lab_finish(x->folder, l->lab, text.data, text.len, digest, err);
    if (rc == 0 && digest[0] && x->s->sign)
        rc = signature_make(x->folder, x->s->sign, err);
    buf_release(&text);
    return rc;
}

static int show(struct lab_session *x, const struct lab_archive *l, const struct lab_report *r,
                const char *digest, struct err *err)
{
    if (x->done)
        return x->done(x->user, l, r, x->folder, digest, err);
    return lab_print(x->s, r, x->folder, digest, err) == 0 ? lab_status(r, true) : -1;
}

static int conclude(struct lab_session *x, struct err *err)
{
    struct lab_archive *l = NULL;
    struct lab_report r;
    char digest[65];
    int status = -1;

    if (lab_open(&l, x->folder, err) == 0 && judge_lab(l, &r, &x->s->arena, err) == 0 &&
        close_lab(x, l, &r, digest, err) == 0)
        status = show(x, l, &r, digest, err);
    lab_close(l);
    return status;
}

/* ---- the whole ---- */

static int begin(struct lab_session *x, struct err *err)
{
    size_t done;

    if (x->fresh && lab_begin(x->folder, x->lab, err) < 0)
        return -1;
    if (lab_hold(x->folder, &x->held_fd, err) < 0 || count_done(x, &done, err) < 0)
        return -1;
    tell_skipped(x, done);
    return done < x->lab->comparison_count ? lab_reopen(x->folder, err) : 0;
}

static int execute_lab(struct lab_session *x, struct err *err)
{
    struct held held;
    int status = -1;

    held_begin(&held);
    if (begin(x, err) == 0 && run_all(x, err) == 0)
        status = conclude(x, err);
    else if (files_exists(x->folder) && !err->hint[0])
        err_hint(err, "'abba resume %s' goes on with what is there", x->folder);
    if (x->held_fd >= 0)
        close(x->held_fd);
    held_end(&held);
    return status;
}

/* What the series file says and the command line may not. */
static int check_options(const struct settings *s, struct err *err)
{
    const struct {
        const char *name;
        bool given;
    } options[] = {
        {"--baseline", s->baselines.count},
        {"--candidate", s->candidates.count},
        {"--baseline-arg", s->baseline_args.count},
        {"--candidate-arg", s->candidate_args.count},
        {"--baseline-env", s->baseline_env.count},
        {"--candidate-env", s->candidate_env.count},
        {"--aa", s->aa},
    };

    if (s->operands.count)
        return err_set(err, ERR_USAGE,
                       "option '--series' names the profiles, found also the profile '%s'",
                       s->operands.items[0]);
    if (s->budget_ns)
        return err_set(err, ERR_USAGE, "option '--budget' is of one series, not of '--series'");
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (options[i].given)
            return err_set(err, ERR_USAGE,
                           "option '--series' says what is compared, found also '%s'",
                           options[i].name);
    return 0;
}

int lab_run(struct settings *s, struct err *err)
{
    struct lab lab;
    struct planning planning;
    struct plan_request common = {.command = "run"};
    struct lab_session x = {.s = s, .lab = &lab, .held_fd = -1};
    int rc;

    if (check_options(s, err) < 0 || lab_check_format(s, err) < 0 ||
        planning_init(&planning, s, err) < 0)
        return -1;
    planning_request(&planning, &common);
    rc = lab_build(&lab, s->series, &s->set, &common, &s->arena, err);
    supports_close(&planning.supports);
    if (rc < 0)
        return -1;
    for (size_t i = 0; i < lab.comparison_count; i++)
        planning_notes(s, &lab.comparisons[i].plan);
    if (s->plan)
        return lab_print_plan(s, &lab, err);
    if (execute_check_output(s, err) < 0 || execute_check_key(s, true, err) < 0 ||
        lab_folder_choose(s, &lab, &x.folder, &x.fresh, err) < 0)
        return -1;
    return execute_lab(&x, err);
}

int lab_go_on(struct settings *s, const char *folder, struct err *err)
{
    struct lab_archive *l = NULL;
    struct lab_session x = {.s = s, .folder = folder, .held_fd = -1};
    int status = -1;

    if (lab_check_format(s, err) < 0 || lab_open(&l, folder, err) < 0)
        return -1;
    x.lab = l->lab;
    for (size_t i = 0; i < l->lab->comparison_count; i++) {
        if (l->archives[i] && l->archives[i]->machine->host)
            s->identify = true;
        if (plan_find_programs(&l->lab->comparisons[i].plan, &s->arena, err) < 0) {
            err_wrap(err, "comparison '%s'", l->lab->comparisons[i].name);
            goto out;
        }
    }
    status = s->plan ? lab_print_plan(s, l->lab, err) : execute_lab(&x, err);
out:
    lab_close(l);
    return status;
}

int lab_run_again(struct settings *s, const struct lab *lab, const struct archive *const *likes,
                  lab_done *done, void *user, struct err *err)
{
    struct lab_session x = {.s = s,
                            .lab = lab,
                            .held_fd = -1,
                            .fresh = true,
                            .likes = likes,
                            .done = done,
                            .user = user};

    if (execute_check_output(s, err) < 0 || execute_check_key(s, true, err) < 0 ||
        lab_folder_new(s, lab, &x.folder, err) < 0)
        return -1;
    return execute_lab(&x, err);
}

/* ---- reading one ---- */

int lab_report(struct settings *s, const char *folder, struct err *err)
{
    struct lab_archive *l = NULL;
    struct lab_report r;
    int status = -1;

    if (s->thresholds.count > 0) {
        err_set(err, ERR_USAGE, "option '--threshold': '%s' holds several archives", folder);
        return err_hint(err, "name one of them, such as '%s/01-...'", folder);
    }
    if (lab_check_format(s, err) < 0)
        return -1;
    if (lab_open(&l, folder, err) == 0 && lab_check_sources(l, err) == 0 &&
        judge_lab(l, &r, &s->arena, err) == 0 && lab_print(s, &r, folder, l->digest, err) == 0)
        status = lab_status(&r, false);
    lab_close(l);
    return status;
}

int lab_status(const struct lab_report *r, bool must_judge)
{
    bool all_aa = true;

    switch (r->verdict) {
    case VERDICT_INVALID:
        return STATUS_INCOMPLETE;
    case VERDICT_REGRESSED:
        return STATUS_REGRESSED;
    case VERDICT_INCOMPLETE:
        return STATUS_INCOMPLETE;
    case VERDICT_INCONCLUSIVE:
        return STATUS_INCONCLUSIVE;
    default:
        break;
    }
    if (!r->finished)
        return STATUS_INCOMPLETE;
    for (size_t i = 0; i < r->comparison_count; i++) {
        const struct lab_result *c = &r->comparisons[i];

        if (c->report && status_of_report(c->report, false) != STATUS_PASSED)
            return STATUS_INCOMPLETE; /* nothing judged, and runs failed */
        all_aa = all_aa && c->aa;
    }
    return r->verdict == VERDICT_NOT_JUDGED && must_judge && !all_aa ? STATUS_INCOMPLETE
                                                                     : STATUS_PASSED;
}
