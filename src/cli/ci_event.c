#include "cli/ci_event.h"

#include "base/buf.h"
#include "base/files.h"
#include "base/json.h"
#include "cli/settings.h"

#include <stdlib.h>
#include <string.h>

#define MAX_EVENT ((size_t)32 << 20)

/* A variable that is there and not empty. */
static const char *var(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] ? value : NULL;
}

static const char *first_var(const char *a, const char *b)
{
    return var(a) ? var(a) : var(b);
}

/* ---- what may be in an address ---- */

static bool is_commit(const char *text)
{
    size_t len = strlen(text);

    return (len == 40 || len == 64) && strspn(text, "0123456789abcdef") == len;
}

static bool is_repository(const char *text)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./";

    return text[0] && strlen(text) < 300 && strspn(text, allowed) == strlen(text) &&
           !strstr(text, "..") && !strstr(text, "//") && text[0] != '/' &&
           text[strlen(text) - 1] != '/';
}

static int check_commit(const char *where, const char *text, struct err *err)
{
    if (is_commit(text))
        return 0;
    return err_set(err, ERR_CONFIG, "%s: found '%.80s', needed are the 40 hex digits of a commit",
                   where, text);
}

static int check_repository(const struct ci_event *e, struct err *err)
{
    const char *slash = strchr(e->repository, '/');

    if (is_repository(e->repository) &&
        (e->service != SERVICE_GITHUB || (slash && !strchr(slash + 1, '/'))))
        return 0;
    return err_set(err, ERR_CONFIG, "the repository is '%.80s', needed is %s", e->repository,
                   e->service == SERVICE_GITHUB ? "OWNER/NAME" : "a project's number or path");
}

/* A token with a line end in it would be two headers. */
static int check_token(const struct ci_event *e, struct err *err)
{
    for (const char *p = e->token ? e->token : ""; *p; p++) {
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return err_set(err, ERR_CONFIG, "the token in %s holds a blank or a control character",
                           e->token_name);
    }
    return 0;
}

/* ---- GitHub ---- */

static const char *text_at(const struct json *root, const char *pointer, struct arena *arena)
{
    const struct json *j = json_pointer(root, pointer);

    return j && json_kind(j) == JSON_STRING && json_string(j)[0]
               ? arena_strdup(arena, json_string(j))
               : NULL;
}

static int64_t number_at(const struct json *root, const char *pointer)
{
    const struct json *j = json_pointer(root, pointer);
    int64_t number = 0;

    return j && json_kind(j) == JSON_NUMBER && json_integer(j, &number) && number > 0 ? number : 0;
}

static bool same_text(const struct json *root, const char *pointer, const char *text)
{
    const struct json *j = json_pointer(root, pointer);

    return j && json_kind(j) == JSON_STRING && text && strcmp(json_string(j), text) == 0;
}

/* The run that measured, which this one follows. Its list of pull requests may hold those of other
 * repositories, and is empty for one that comes from a fork. */
static void take_workflow_run(struct ci_event *e, const struct json *root, struct arena *arena)
{
    const struct json *list = json_pointer(root, "/workflow_run/pull_requests");
    int64_t home = number_at(root, "/repository/id");

    e->commit = text_at(root, "/workflow_run/head_sha", arena);
    e->page = text_at(root, "/workflow_run/html_url", arena);
    if (!same_text(root, "/workflow_run/event", "pull_request"))
        return;
    for (const struct json *p = list ? json_first(list) : NULL; p && !e->number; p = json_next(p)) {
        if (number_at(p, "/base/repo/id") == home && same_text(p, "/head/sha", e->commit))
            e->number = number_at(p, "/number");
    }
    if (e->number)
        return;
    e->head_owner = text_at(root, "/workflow_run/head_repository/owner/login", arena);
    e->head_branch = text_at(root, "/workflow_run/head_branch", arena);
}

static void take_event(struct ci_event *e, const char *name, const struct json *root,
                       struct arena *arena)
{
    if (strncmp(name, "pull_request", strlen("pull_request")) == 0) {
        e->commit = text_at(root, "/pull_request/head/sha", arena);
        e->number = number_at(root, "/pull_request/number");
    } else if (strcmp(name, "workflow_run") == 0) {
        take_workflow_run(e, root, arena);
    } else if (strcmp(name, "merge_group") == 0) {
        e->commit = text_at(root, "/merge_group/head_sha", arena);
    } else if (strcmp(name, "push") == 0) {
        e->commit = text_at(root, "/after", arena);
    } else {
        e->commit = var("GITHUB_SHA");
    }
}

static int read_event(struct ci_event *e, struct arena *arena, struct err *err)
{
    static const struct json_rules rules = {.max_bytes = MAX_EVENT, .big_integers = true};
    const char *path = var("GITHUB_EVENT_PATH"), *name = var("GITHUB_EVENT_NAME");
    struct buf text = BUF_INIT;
    int rc = -1;

    if (!path || !name) {
        e->commit = var("GITHUB_SHA");
        return 0;
    }
    if (files_read(path, MAX_EVENT, &text, err) == 0) {
        struct json *root = json_parse_with(text.data, text.len, path, &rules, err);
        if (root) {
            take_event(e, name, root, arena);
            rc = 0;
        }
        json_free(root);
    }
    buf_release(&text);
    return rc < 0 ? err_wrap(err, "GITHUB_EVENT_PATH") : 0;
}

static int find_github(struct ci_event *e, struct arena *arena, struct err *err)
{
    const char *server = var("GITHUB_SERVER_URL"), *run = var("GITHUB_RUN_ID");

    e->api = var("GITHUB_API_URL") ? var("GITHUB_API_URL") : "https://api.github.com";
    e->repository = var("GITHUB_REPOSITORY");
    e->token = first_var("GITHUB_TOKEN", "GH_TOKEN");
    e->token_name = "GITHUB_TOKEN or GH_TOKEN";
    if (server && run && e->repository)
        e->page = arena_printf(arena, "%s/%s/actions/runs/%s", server, e->repository, run);
    return read_event(e, arena, err);
}

/* ---- GitLab ---- */

static int find_gitlab(struct ci_event *e, struct err *err)
{
    const char *iid = var("CI_MERGE_REQUEST_IID"), *source;

    source = var("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"); /* pipelines of merged results have it */
    e->api = var("CI_API_V4_URL") ? var("CI_API_V4_URL") : "https://gitlab.com/api/v4";
    e->repository = var("CI_PROJECT_ID");
    e->target = var("CI_MERGE_REQUEST_PROJECT_ID");
    e->commit = source ? source : var("CI_COMMIT_SHA");
    e->pipeline = source ? NULL : var("CI_PIPELINE_ID");
    e->page = first_var("CI_PIPELINE_URL", "CI_JOB_URL");
    e->token = var("GITLAB_TOKEN");
    e->token_name = "GITLAB_TOKEN";
    if (iid) {
        char *end;
        e->number = strtoll(iid, &end, 10);
        if (*end || e->number <= 0)
            return err_set(err, ERR_CONFIG, "CI_MERGE_REQUEST_IID is '%.80s', needed is a number",
                           iid);
    }
    if (e->pipeline && strspn(e->pipeline, "0123456789") != strlen(e->pipeline))
        return err_set(err, ERR_CONFIG, "CI_PIPELINE_ID is '%.80s', needed is a number",
                       e->pipeline);
    return 0;
}

/* ---- which, and what options say ---- */

static enum service service_here(void)
{
    if (var("GITHUB_ACTIONS"))
        return SERVICE_GITHUB;
    return var("GITLAB_CI") ? SERVICE_GITLAB : SERVICE_AUTO;
}

static int choose(const struct settings *s, enum service *events, struct ci_event *e,
                  struct err *err)
{
    enum service given = (enum service)s->service;

    if (s->webhook && given != SERVICE_AUTO && given != SERVICE_WEBHOOK)
        return err_set(err, ERR_USAGE, "option '--webhook' and another '--service'");
    if (!s->webhook && given == SERVICE_WEBHOOK)
        return err_set(err, ERR_USAGE, "option '--service webhook' needs --webhook URL");
    *events = s->webhook || given == SERVICE_AUTO ? service_here() : given;
    e->service = s->webhook ? SERVICE_WEBHOOK : *events;
    if (e->service != SERVICE_AUTO)
        return 0;
    err_set(err, ERR_CONFIG, "whom to tell is not known: no GITHUB_ACTIONS or GITLAB_CI here");
    return err_hint(err, "--service github or gitlab with --repository and --commit, or --webhook "
                         "URL");
}

static void take_options(const struct settings *s, struct ci_event *e)
{
    if (s->repository) {
        e->repository = s->repository;
        e->target = NULL;
    }
    if (s->commit) {
        e->commit = s->commit;
        e->pipeline = NULL;
    }
    if (s->pull_request)
        e->number = s->pull_request;
    if (s->commit || s->pull_request)
        e->head_owner = e->head_branch = NULL;
    if (e->service == SERVICE_WEBHOOK) {
        e->api = s->webhook;
        e->token = var("ABBA_WEBHOOK_TOKEN");
        e->token_name = "ABBA_WEBHOOK_TOKEN";
    }
}

static int check(const struct settings *s, struct ci_event *e, struct err *err)
{
    bool needs = e->service != SERVICE_WEBHOOK;

    if (e->page && strncmp(e->page, "https://", 8) != 0 && strncmp(e->page, "http://", 7) != 0)
        e->page = NULL;
    if (!e->repository && needs)
        return err_set(err, ERR_CONFIG, "no repository: neither the CI nor --repository names one");
    if (!e->commit && needs)
        return err_set(err, ERR_CONFIG, "no commit: neither the CI's event nor --commit names one");
    if ((e->repository && check_repository(e, err) != 0) ||
        (e->commit && check_commit("the CI's event or --commit", e->commit, err) != 0))
        return -1;
    if (!e->target)
        e->target = e->repository;
    if (e->target && !is_repository(e->target))
        return err_set(err, ERR_CONFIG, "CI_MERGE_REQUEST_PROJECT_ID is '%.80s'", e->target);
    if (!e->token && needs && !s->dry_run)
        return err_set(err, ERR_CONFIG, "no token: %s is not set", e->token_name);
    return check_token(e, err);
}

int ci_event_find(struct settings *s, struct ci_event *e, struct err *err)
{
    enum service events;
    int rc = 0;

    *e = (struct ci_event){0};
    if (choose(s, &events, e, err) != 0)
        return -1;
    if (events == SERVICE_GITHUB)
        rc = find_github(e, &s->arena, err);
    else if (events == SERVICE_GITLAB)
        rc = find_gitlab(e, err);
    if (rc != 0)
        return -1;
    take_options(s, e);
    return check(s, e, err);
}
