#include "cli/service.h"

#include "base/buf.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "base/url.h"
#include "cli/service_parts.h"

#include <string.h>

/* ---- one request ---- */

void service_call_init(struct service_call *c, struct http *h, const struct ci_event *e)
{
    *c = (struct service_call){.h = h, .e = e, .answer = HTTP_RESPONSE_INIT};
    c->answer.body.max = SERVICE_MAX_ANSWER;
    arena_init(&c->arena);
}

void service_call_release(struct service_call *c)
{
    json_free(c->json);
    http_response_release(&c->answer);
    arena_release(&c->arena);
}

const char *service_text(const struct json *root, const char *pointer)
{
    const struct json *j = root ? json_pointer(root, pointer) : NULL;

    return j && json_kind(j) == JSON_STRING ? json_string(j) : NULL;
}

int64_t service_number(const struct json *root, const char *pointer)
{
    const struct json *j = root ? json_pointer(root, pointer) : NULL;
    int64_t number = 0;

    return j && json_kind(j) == JSON_NUMBER && json_integer(j, &number) ? number : 0;
}

const char *service_project(struct service_call *c, const char *repository)
{
    struct buf out = BUF_INIT;
    bool github = c->e->service == SERVICE_GITHUB;

    buf_addstr(&out, github ? "repos/" : "projects/");
    url_encode(&out, repository, github);
    const char *text = arena_strdup(&c->arena, out.data);
    buf_release(&out);
    return text;
}

static const char *address(struct service_call *c, const char *path)
{
    size_t len = strlen(c->e->api);

    if (!path[0])
        return c->e->api;
    while (len > 0 && c->e->api[len - 1] == '/')
        len--;
    return arena_printf(&c->arena, "%.*s/%s", (int)len, c->e->api, path);
}

static int parse_answer(struct service_call *c, const struct http_request *q, struct err *err)
{
    static const struct json_rules rules = {
        .max_bytes = SERVICE_MAX_ANSWER, .big_integers = true, .code = ERR_SYSTEM};
    const char *shown = url_shown(q->url, &c->arena);
    bool good = c->answer.status >= 200 && c->answer.status < 300;
    struct err ignored;

    json_free(c->json);
    c->json = NULL;
    if (c->answer.body.len == 0 || c->e->service == SERVICE_WEBHOOK)
        return 0;
    c->json = json_parse_with(c->answer.body.data, c->answer.body.len, shown, &rules,
                              good ? err : &ignored);
    if (c->json || !good)
        return 0;
    err_wrap(err, "%s: the answer is not JSON", http_method_name(q->method));
    return err_hint(err, "is that the address of the service's API?");
}

int service_send(struct service_call *c, enum http_method method, const char *path,
                 const char *body, bool once, struct err *err)
{
    static const char *const github[] = {
        "Accept: application/vnd.github+json",
        "X-GitHub-Api-Version: 2022-11-28",
        "Content-Type: application/json",
    };
    static const char *const others[] = {"Accept: application/json",
                                         "Content-Type: application/json"};
    bool is_github = c->e->service == SERVICE_GITHUB;
    struct http_request q = {
        .method = method,
        .url = address(c, path),
        .headers = is_github ? github : others,
        .header_count = (is_github ? 2U : 1U) + (body ? 1U : 0U),
        .bearer = c->e->token,
        .body = body,
        .body_fd = -1,
        .body_bytes = body ? strlen(body) : 0,
        .repeatable = !once,
        .once = once,
    };

    c->method = method;
    c->url = q.url;
    if (http_send(c->h, &q, &c->answer, err) != 0)
        return -1;
    return parse_answer(c, &q, err);
}

/* ---- refusals ---- */

/* What the service explains, in one line; never anything that holds the token. */
static const char *explanation(struct service_call *c)
{
    const struct json *message = c->json ? json_pointer(c->json, "/message") : NULL;
    const struct json *errors = c->json ? json_pointer(c->json, "/errors") : NULL;
    struct buf out = BUF_INIT;
    const char *words = NULL;

    if (!message)
        message = c->json ? json_pointer(c->json, "/error") : NULL;
    if (message && json_kind(message) == JSON_STRING)
        buf_addstr(&out, json_string(message));
    else if (message)
        json_write(message, &out);
    if (errors && json_count(errors)) {
        buf_addch(&out, ' ');
        json_write(errors, &out);
    }
    if (out.len && !(c->e->token && strstr(out.data, c->e->token)))
        words = arena_strdup(&c->arena, out.data);
    buf_release(&out);
    return words;
}

static void hint(const struct service_call *c, struct err *err)
{
    bool github = c->e->service == SERVICE_GITHUB;
    const char *left = http_header(&c->answer, "x-ratelimit-remaining");
    const char *after = http_header(&c->answer, "retry-after");

    err->hint[0] = '\0';
    if (c->answer.status == 429 ||
        (c->answer.status == 403 && (after || (left && !strcmp(left, "0")))))
        err_hint(err,
                 "too many requests for this token; the service says when it takes more: "
                 "%.40s",
                 after ? after : "not now");
    else if (c->answer.status == 401 && c->e->service == SERVICE_WEBHOOK)
        err_hint(err, "its token comes from ABBA_WEBHOOK_TOKEN");
    else if (c->answer.status == 401)
        err_hint(err, "the token in %s is wrong or has expired", c->e->token_name);
    else if (c->answer.status == 403 || c->answer.status == 404)
        err_hint(err, github ? "the token needs 'statuses: write' and 'pull-requests: write' for "
                               "this repository; a job of a fork's pull request has neither"
                             : "the token needs the scope 'api' and the role Developer for this "
                               "project");
}

int service_refused(struct service_call *c, struct err *err)
{
    const struct http_request q = {.method = c->method, .url = c->url};

    http_refused(&q, &c->answer, explanation(c), err);
    hint(c, err);
    return -1;
}

int service_need(struct service_call *c, enum http_method method, const char *path,
                 const char *body, bool once, struct err *err)
{
    if (service_send(c, method, path, body, once, err) != 0)
        return -1;
    return c->answer.status >= 200 && c->answer.status < 300 ? 0 : service_refused(c, err);
}

/* ---- commit status ---- */

const char *service_state(enum service service, enum notice_state state)
{
    static const char *const github[] = {"success", "failure", "error", "pending"};
    static const char *const gitlab[] = {"success", "failed", "failed", "skipped"};
    static const char *const own[] = {"success", "failure", "error", "inconclusive"};

    return service == SERVICE_GITHUB   ? github[state]
           : service == SERVICE_GITLAB ? gitlab[state]
                                       : own[state];
}

static void member(struct json_writer *w, const char *key, const char *text)
{
    if (!text || !text[0])
        return;
    jw_key(w, key);
    jw_string(w, text);
}

static void status_body(const struct ci_event *e, const struct notice *n, struct buf *out)
{
    struct json_writer w;

    jw_init(&w, out, false);
    jw_object_begin(&w);
    member(&w, "state", service_state(e->service, n->state));
    member(&w, "target_url", e->page);
    member(&w, "description", n->description);
    member(&w, e->service == SERVICE_GITHUB ? "context" : "name", n->name);
    if (e->service == SERVICE_GITLAB && e->pipeline) {
        jw_key(&w, "pipeline_id");
        jw_raw(&w, e->pipeline, strlen(e->pipeline));
    }
    jw_object_end(&w);
}

int service_status(struct http *h, const struct ci_event *e, const struct notice *n,
                   struct buf *said, bool *fatal, struct err *err)
{
    struct service_call c;
    struct buf body = BUF_INIT;

    service_call_init(&c, h, e);
    status_body(e, n, &body);
    const char *path =
        arena_printf(&c.arena, "%s/statuses/%s", service_project(&c, e->repository), e->commit);
    int rc = service_need(&c, HTTP_POST, path, body.data, false, err);
    int status = c.answer.status;
    *fatal = rc != 0 && status != 400 && status != 403 && status != 404 && status != 422;
    if (rc == 0)
        buf_printf(said, "status   %s, of commit %.12s\n", service_state(e->service, n->state),
                   e->commit);
    buf_release(&body);
    service_call_release(&c);
    return rc;
}

/* ---- webhook ---- */

static void webhook_body(const struct ci_event *e, const struct notice *n, bool status,
                         bool comment, struct buf *out)
{
    struct json_writer w;

    jw_init(&w, out, false);
    jw_object_begin(&w);
    jw_key(&w, "abba");
    jw_int(&w, 1);
    member(&w, "name", n->name);
    member(&w, "verdict", n->verdict);
    member(&w, "repository", e->repository);
    member(&w, "commit", e->commit);
    if (e->number) {
        jw_key(&w, "pull_request");
        jw_int(&w, e->number);
    }
    if (status) {
        member(&w, "state", service_state(SERVICE_WEBHOOK, n->state));
        member(&w, "description", n->description);
    }
    member(&w, "target_url", e->page);
    member(&w, "plan_sha256", n->plan);
    member(&w, "digest", n->digest);
    if (comment) {
        member(&w, "marker", n->marker);
        member(&w, "comment", n->comment);
    }
    jw_object_end(&w);
}

int service_webhook(struct http *h, const struct ci_event *e, const struct notice *n, bool status,
                    bool comment, struct buf *said, struct err *err)
{
    struct service_call c;
    struct buf body = BUF_INIT;

    service_call_init(&c, h, e);
    webhook_body(e, n, status, comment, &body);
    int rc = service_need(&c, HTTP_POST, "", body.data, false, err);
    if (rc == 0)
        buf_printf(said, "webhook  %s\n", url_shown(e->api, &c.arena));
    buf_release(&body);
    service_call_release(&c);
    return rc;
}
