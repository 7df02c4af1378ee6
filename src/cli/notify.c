#include "cli/commands.h"

#include "base/buf.h"
#include "base/http.h"
#include "base/text.h"
#include "cli/ci_event.h"
#include "cli/cli.h"
#include "cli/lab.h"
#include "cli/packs.h"
#include "cli/service.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "cli/verified.h"
#include "report/comment.h"
#include "report/figures.h"
#include "report/lab_figures.h"

#include <string.h>

#define DESCRIPTION_COLUMNS 140 /* GitHub's limit for a status */
#define HOUR_NS (3600 * 1000000000LL)
#define AT(member) offsetof(struct settings, member)

static const char *const service_choices[] = {"auto", "github", "gitlab", "webhook", NULL};

static const struct option_def whom[] = {
    {.name = "service",
     .arg = "SERVICE",
     .kind = OPTION_CHOICE,
     .offset = AT(service),
     .choices = service_choices,
     .preset = "auto",
     .help = "github, gitlab or webhook; auto: the one whose CI this is"},
    {.name = "webhook",
     .arg = "URL",
     .kind = OPTION_TEXT,
     .offset = AT(webhook),
     .help = "POST status and comment as one JSON text to this address instead"},
    {.name = "repository",
     .arg = "NAME",
     .kind = OPTION_TEXT,
     .offset = AT(repository),
     .absent = "the CI's own",
     .help = "OWNER/NAME at GitHub; a project's number or path at GitLab"},
    {.name = "commit",
     .arg = "SHA",
     .kind = OPTION_TEXT,
     .offset = AT(commit),
     .absent = "that of the CI's event",
     .help = "the commit that gets the status"},
    {.name = "pull-request",
     .arg = "N",
     .kind = OPTION_INTEGER,
     .offset = AT(pull_request),
     .min = 1,
     .max = INT32_MAX,
     .absent = "that of the CI's event; none for a push",
     .help = "the pull or merge request that gets the comment"},
};
static const struct option_group group_whom = {"Who is told", whom, sizeof(whom) / sizeof(whom[0])};

static const struct option_def what[] = {
    {.name = "name",
     .arg = "NAME",
     .kind = OPTION_TEXT,
     .offset = AT(name),
     .preset = "abba",
     .help = "of the status and of the comment: several gates of one pull request have several"},
    {.name = "max-bytes",
     .arg = "N",
     .kind = OPTION_INTEGER,
     .offset = AT(max_bytes),
     .min = COMMENT_MIN_BYTES,
     .max = 1000000,
     .preset = "60000",
     .help = "the largest comment; what does not fit is left out from its end on, the verdict "
             "stays"},
    {.name = "no-status", .kind = OPTION_FLAG, .offset = AT(no_status), .help = "only the comment"},
    {.name = "no-comment",
     .kind = OPTION_FLAG,
     .offset = AT(no_comment),
     .help = "only the status of the commit"},
    {.name = "require-notify",
     .kind = OPTION_FLAG,
     .offset = AT(require_notify),
     .help = "exit 2 where it could not be told, whatever the verdict; without it only the verdict "
             "makes the exit status"},
    {.name = "dry-run",
     .kind = OPTION_FLAG,
     .offset = AT(dry_run),
     .help = "print status and comment, send nothing"},
};
static const struct option_group group_what = {"What is told", what,
                                               sizeof(what) / sizeof(what[0])};

static const struct option_def way[] = {
    {.name = "ca-file",
     .arg = "FILE",
     .kind = OPTION_TEXT,
     .offset = AT(ca_file),
     .names = NAMES_FILE,
     .absent = "CURL_CA_BUNDLE, SSL_CERT_FILE, or the system's",
     .help = "the authorities that may vouch for a server of https, in PEM"},
    {.name = "timeout",
     .arg = "TIME",
     .kind = OPTION_TIME,
     .offset = AT(timeout_ns),
     .min = 100000000,
     .max = HOUR_NS,
     .preset = "2min",
     .help = "how long one request may take, with all its tries"},
    {.name = "tries",
     .arg = "N",
     .kind = OPTION_INTEGER,
     .offset = AT(tries),
     .min = 1,
     .max = 100,
     .preset = "4",
     .help = "how often a request is made while the service is busy"},
    {.name = "retry-pause",
     .arg = "TIME",
     .kind = OPTION_TIME,
     .offset = AT(retry_pause_ns),
     .min = 1000000,
     .max = HOUR_NS,
     .preset = "1s",
     .help = "the pause before the second try; each further one is twice as long, or what the "
             "service asks for"},
};
static const struct option_group group_there = {"The way there", way, sizeof(way) / sizeof(way[0])};

static const struct option_group *const groups[] = {
    &group_whom, &group_what, &group_expected, &group_there, &group_plain, &group_help, NULL};

static const char *const examples[] = {
    "abba notify ARCHIVE",
    "in a job of GitHub or GitLab with a token: status and comment",
    "abba notify ARCHIVE --dry-run --service github --repository me/it --commit SHA",
    "what would be said, anywhere",
    "abba notify ARCHIVE --webhook https://HOST/ci --commit SHA",
    "the same as JSON to an address of one's own",
    NULL};

/* ---- what is said ---- */

struct saying {
    struct notice notice;
    struct buf markdown, description, comment, marker;
    int status; /* the verdict's exit status */
};

static void saying_release(struct saying *x)
{
    buf_release(&x->markdown);
    buf_release(&x->description);
    buf_release(&x->comment);
    buf_release(&x->marker);
}

static enum notice_state state_of(int status)
{
    switch (status) {
    case STATUS_PASSED:
        return NOTICE_SUCCESS;
    case STATUS_REGRESSED:
        return NOTICE_FAILURE;
    case STATUS_INCONCLUSIVE:
        return NOTICE_OPEN;
    default:
        return NOTICE_ERROR;
    }
}

/* Numbers alone, since a status is plain text of a limited length. */
static void count_metrics(const struct report *r, struct buf *out)
{
    size_t judged = 0, same = 0;

    for (size_t i = 0; i < r->profile_count; i++) {
        for (size_t k = 0; k < r->profiles[i].metric_count; k++) {
            judged += metric_judged(&r->profiles[i].metrics[k]);
            same += metric_judged(&r->profiles[i].metrics[k]) &&
                    r->profiles[i].metrics[k].verdict == r->verdict;
        }
    }
    buf_printf(out, "%zu of %zu judged metrics, %zu profile%s", same, judged, r->profile_count,
               r->profile_count == 1 ? "" : "s");
    if (r->earlier_count)
        buf_printf(out, ", attempt %zu", r->earlier_count + 1);
}

/* The text of a whole archive, or of several. */
static void say_report(struct saying *x, const struct verified *v)
{
    const struct report_style style = {.utf8 = true, .digest = v->digest};
    enum verdict verdict = v->a ? v->report.verdict : v->lab_report.verdict;

    x->notice.verdict = verdict_name(verdict);
    x->notice.digest = v->digest;
    buf_addstr(&x->description, figure_verdict(verdict));
    buf_addstr(&x->description, ": ");
    if (v->a) {
        x->status = status_of_report(&v->report, true);
        x->notice.plan = v->report.plan_sha256;
        count_metrics(&v->report, &x->description);
        report_markdown(&v->report, &style, &x->markdown);
    } else {
        x->status = lab_status(&v->lab_report, true);
        x->notice.plan = v->lab_report.sha256;
        lab_summary(&v->lab_report, &x->description);
        lab_markdown(&v->lab_report, &style, &x->markdown);
    }
}

/* The text about an archive that cannot be believed. */
static void say_fault(struct saying *x, const struct err *fault)
{
    bool unfinished = fault->code == ERR_UNFINISHED;

    x->status = fault->code == ERR_ARCHIVE ? STATUS_ARCHIVE : STATUS_INCOMPLETE;
    x->notice.verdict = unfinished ? "incomplete" : "invalid";
    buf_addstr(&x->description, unfinished ? "no verdict: the measurement has not ended"
                                           : "no verdict: the archive is damaged or is none");
    buf_addstr(&x->markdown, "### ⚠️ abba: no verdict\n\n");
    text_markdown(&x->markdown, fault->msg);
    buf_addch(&x->markdown, '\n');
}

static void complete(struct saying *x, const struct settings *s, const struct ci_event *e)
{
    struct buf end = BUF_INIT, short_one = BUF_INIT;

    if (e->commit)
        buf_printf(&end, "Commit %s. ", e->commit);
    if (x->notice.digest)
        buf_printf(&end, "Archive `%s`.", x->notice.digest);
    comment_marker(s->name, &x->marker);
    comment_make(s->name, x->markdown.data, x->markdown.len, end.data, (size_t)s->max_bytes,
                 &x->comment);
    text_truncate(&short_one, x->description.data, DESCRIPTION_COLUMNS);
    buf_clear(&x->description);
    buf_addstr(&x->description, short_one.data);
    x->notice.name = s->name;
    x->notice.state = state_of(x->status);
    x->notice.description = x->description.data;
    x->notice.comment = x->comment.data;
    x->notice.marker = x->marker.data;
    buf_release(&end);
    buf_release(&short_one);
}

/* ---- telling ---- */

static void note(void *user, const char *text)
{
    terminal_note(user, text);
}

static int open_way(struct settings *s, struct http **h, struct err *err)
{
    const struct http_options options = {.ca_file = s->ca_file,
                                         .note = note,
                                         .user = s,
                                         .stop = packs_stop(),
                                         .limits = {.total_ns = s->timeout_ns,
                                                    .pause_ns = s->retry_pause_ns,
                                                    .tries = (int)s->tries}};

    return http_new(h, &options, err);
}

/* Status first; where it is refused alone, the comment is tried nevertheless. */
static int tell_both(const struct settings *s, struct http *h, const struct ci_event *e,
                     const struct notice *n, struct buf *said, struct err *err)
{
    struct err second = {0};
    bool fatal = false;
    int rc = 0;

    if (!s->no_status)
        rc = service_status(h, e, n, said, &fatal, err);
    if (rc != 0)
        err_wrap(err, "commit status");
    if (s->no_comment || fatal)
        return rc;
    if (service_comment(h, e, n, said, &second) == 0)
        return rc;
    err_wrap(&second, "comment");
    if (rc != 0)
        terminal_error(err);
    *err = second;
    return -1;
}

static int tell(struct settings *s, const struct ci_event *e, const struct notice *n,
                struct buf *said, struct err *err)
{
    struct http *h = NULL;
    int rc = -1;

    if (packs_hold_signals(err) != 0)
        return -1;
    if (open_way(s, &h, err) == 0)
        rc = e->service == SERVICE_WEBHOOK
                 ? service_webhook(h, e, n, !s->no_status, !s->no_comment, said, err)
                 : tell_both(s, h, e, n, said, err);
    http_free(h);
    packs_release_signals();
    return rc;
}

static void show(const struct ci_event *e, const struct notice *n, struct buf *out)
{
    buf_printf(out, "status   %s: %s\n", service_state(e->service, n->state), n->description);
    buf_printf(out, "commit   %s\n", e->commit ? e->commit : "-");
    if (e->number)
        buf_printf(out, "request  %lld\n", (long long)e->number);
    buf_printf(out, "\n%s", n->comment);
}

/* What could not be told changes the exit status only where that was asked for: then it is always
 * the same one, so that whoever posts for another job can tell it from any verdict that is not
 * good. */
static int after_failure(const struct settings *s, int verdict, struct err *err)
{
    if (err->code == ERR_INTERRUPTED)
        return -1;
    err_wrap(err, "not told");
    if (s->require_notify) {
        err->code = ERR_CONFIG;
        return -1;
    }
    terminal_error(err);
    return verdict;
}

static int say(struct settings *s, struct saying *x, struct err *err)
{
    struct ci_event e;
    struct buf out = BUF_INIT;
    int rc = ci_event_find(s, &e, err);

    if (rc != 0 && err->code == ERR_USAGE)
        return -1;
    if (rc == 0) {
        complete(x, s, &e);
        if (s->dry_run)
            show(&e, &x->notice, &out);
        else
            rc = tell(s, &e, &x->notice, &out, err);
    }
    int status = rc == 0 ? x->status : after_failure(s, x->status, err);
    if (terminal_print(out.data, s->quiet ? 0 : out.len, err) != 0)
        status = -1;
    buf_release(&out);
    return status;
}

static int notify(struct settings *s, struct err *err)
{
    struct saying x = {
        .markdown = BUF_INIT, .description = BUF_INIT, .comment = BUF_INIT, .marker = BUF_INIT};
    struct verified v = {0};
    struct buf ignored = BUF_INIT;
    struct err fault = {0};
    int status = -1;

    if (s->no_status && s->no_comment) {
        err_set(err, ERR_USAGE, "options '--no-status' and '--no-comment' leave nothing to tell");
    } else if (verified_open(&v, s, s->operands.items[0], &ignored, &fault) == 0) {
        say_report(&x, &v);
        status = say(s, &x, err);
    } else if (fault.code == ERR_USAGE) {
        *err = fault;
    } else {
        terminal_error(&fault);
        say_fault(&x, &fault);
        status = say(s, &x, err);
    }
    verified_close(&v);
    buf_release(&ignored);
    saying_release(&x);
    return status;
}

const struct command_def command_notify = {
    .name = "notify",
    .operands = "ARCHIVE",
    .summary = "tell a pull request: commit status, and one comment that is updated",
    .about =
        "Verifies an archive (or the folder of 'abba run --series') and tells its verdict to "
        "GitHub, GitLab or a webhook: as the status of the commit, and as one comment on the pull "
        "request, which later ones replace. Commit and pull request come from the CI's own event "
        "or from options, never from the archive. What programs have printed becomes no markup, "
        "link or mention. The job that measures needs no token: give the archive to a job that "
        "has one. Who may run code in the measuring job can make an archive up, though; nothing "
        "in it can be believed more than that job.\n\n"
        "Tokens come from the environment: GITHUB_TOKEN (GH_TOKEN), GITLAB_TOKEN, "
        "ABBA_WEBHOOK_TOKEN. The exit status is the verdict's, as of 'abba run': 3 also where "
        "nothing was judged, 5 for a damaged archive, which is told as well. What could not be "
        "told is said and changes it only with --require-notify.\n\n"
        "A webhook gets one JSON object: abba (1), name, verdict, repository, commit, "
        "pull_request, state (success, failure, error or inconclusive), description, target_url, "
        "plan_sha256, digest, marker, comment; what is not known is left out.",
    .groups = groups,
    .examples = examples,
    .min_operands = 1,
    .max_operands = 1,
    .names = NAMES_FOLDER,
    .run = notify,
};
