#include "cli/service.h"

#include "base/buf.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "base/url.h"
#include "cli/service_parts.h"

#include <string.h>

#define PAGE 100      /* comments, the most that both services give at once */
#define MAX_PAGES 100 /* a conversation of ten thousand */

/* Whose comments are looked at. */
struct author {
    int64_t id; /* 0: a GitHub App's token, which may not ask who it is: then any bot's */
};

/* A GitHub token of a job or an App is refused here (403); it posts as a bot. */
static int find_author(struct service_call *c, struct author *a, struct err *err)
{
    if (service_send(c, HTTP_GET, "user", NULL, false, err) != 0)
        return -1;
    int status = c->answer.status;
    a->id = status == 200 ? service_number(c->json, "/id") : 0;
    if (a->id || (c->e->service == SERVICE_GITHUB && (status == 403 || status == 404) &&
                  !http_header(&c->answer, "retry-after")))
        return 0;
    if (status == 200)
        return err_set(err, ERR_SYSTEM, "GET 'user': the answer has no id");
    return service_refused(c, err);
}

/* ---- which pull request ---- */

/* The open pull request of that head; where it has moved on meanwhile, none. */
static int ask_for_number(struct service_call *c, int64_t *number, struct err *err)
{
    const struct ci_event *e = c->e;
    struct buf path = BUF_INIT;

    buf_printf(&path, "%s/pulls?state=open&per_page=%d&head=", service_project(c, e->repository),
               PAGE);
    url_encode(&path, e->head_owner, false);
    buf_addstr(&path, "%3A");
    url_encode(&path, e->head_branch, false);
    int rc = service_need(c, HTTP_GET, path.data, NULL, false, err);
    buf_release(&path);
    if (rc != 0)
        return -1;
    for (const struct json *p = json_first(c->json); p; p = json_next(p)) {
        const char *head = service_text(p, "/head/sha");
        if (head && strcmp(head, e->commit) == 0)
            *number = service_number(p, "/number");
    }
    return 0;
}

/* ---- the comment that is there ---- */

static bool is_ours(const struct service_call *c, const struct author *a, const struct notice *n,
                    const struct json *comment)
{
    bool github = c->e->service == SERVICE_GITHUB;
    const char *body = service_text(comment, "/body");
    const char *type = service_text(comment, "/user/type");

    if (!body || strncmp(body, n->marker, strlen(n->marker)) != 0)
        return false;
    if (a->id)
        return service_number(comment, github ? "/user/id" : "/author/id") == a->id;
    return type && strcmp(type, "Bot") == 0;
}

/* Where the comments of the pull request are. */
static const char *comments(struct service_call *c, int64_t number)
{
    bool github = c->e->service == SERVICE_GITHUB;

    return arena_printf(
        &c->arena, github ? "%s/issues/%lld/comments" : "%s/merge_requests/%lld/notes",
        service_project(c, github ? c->e->repository : c->e->target), (long long)number);
}

/* Walks the pages, the oldest comment first. *id stays 0 where it is none of them. */
static int find_comment(struct service_call *c, const struct author *a, const struct notice *n,
                        int64_t number, int64_t *id, struct err *err)
{
    const char *order = c->e->service == SERVICE_GITLAB ? "&order_by=created_at&sort=asc" : "";
    size_t count = PAGE;

    for (int page = 1; page <= MAX_PAGES && count == PAGE && !*id; page++) {
        const char *path = arena_printf(&c->arena, "%s?per_page=%d&page=%d%s", comments(c, number),
                                        PAGE, page, order);
        if (service_need(c, HTTP_GET, path, NULL, false, err) != 0)
            return -1;
        count = 0;
        for (const struct json *p = json_first(c->json); p; p = json_next(p), count++) {
            if (!*id && is_ours(c, a, n, p))
                *id = service_number(p, "/id");
        }
    }
    return 0;
}

/* ---- making and changing it ---- */

static void comment_body(const struct notice *n, struct buf *out)
{
    struct json_writer w;

    jw_init(&w, out, false);
    jw_object_begin(&w);
    jw_key(&w, "body");
    jw_string(&w, n->comment);
    jw_object_end(&w);
}

static int change(struct service_call *c, int64_t number, int64_t id, const char *body,
                  struct err *err)
{
    bool github = c->e->service == SERVICE_GITHUB;
    const char *path = github
                           ? arena_printf(&c->arena, "%s/issues/comments/%lld",
                                          service_project(c, c->e->repository), (long long)id)
                           : arena_printf(&c->arena, "%s/%lld", comments(c, number), (long long)id);

    return service_need(c, github ? HTTP_PATCH : HTTP_PUT, path, body, false, err);
}

/* Changes the one that is there, or makes it. Where the service breaks while it is made, it may be
 * there nevertheless: *unsure. */
static int put(struct service_call *c, const struct author *a, const struct notice *n,
               int64_t number, bool *changed, bool *unsure, struct err *err)
{
    struct buf body = BUF_INIT;
    int64_t id = 0;
    int rc = find_comment(c, a, n, number, &id, err);

    *unsure = false;
    *changed = id != 0;
    comment_body(n, &body);
    if (rc == 0 && id) {
        rc = change(c, number, id, body.data, err);
    } else if (rc == 0) {
        rc = service_need(c, HTTP_POST, comments(c, number), body.data, true, err);
        *unsure = rc != 0 && err->code == ERR_SYSTEM && c->answer.status != 429;
    }
    buf_release(&body);
    return rc;
}

/* The comment's own page, where the service names one that can be shown. */
static void tell(struct service_call *c, int64_t number, bool changed, struct buf *said)
{
    const char *page = service_text(c->json, "/html_url");

    buf_printf(said, "comment  %s, on %s%lld", changed ? "updated" : "made",
               c->e->service == SERVICE_GITLAB ? "!" : "#", (long long)number);
    if (page) {
        buf_addstr(said, ", ");
        text_neutral(said, page, strlen(page), 200);
    }
    buf_addch(said, '\n');
}

static int comment_on(struct service_call *c, const struct notice *n, int64_t number,
                      struct buf *said, struct err *err)
{
    struct author a;
    bool changed, unsure;

    if (find_author(c, &a, err) != 0)
        return -1;
    int rc = put(c, &a, n, number, &changed, &unsure, err);
    if (rc != 0 && unsure)
        rc = put(c, &a, n, number, &changed, &unsure, err);
    if (rc == 0)
        tell(c, number, changed, said);
    return rc;
}

int service_comment(struct http *h, const struct ci_event *e, const struct notice *n,
                    struct buf *said, struct err *err)
{
    struct service_call c;
    int64_t number = e->number;
    int rc = 0;

    service_call_init(&c, h, e);
    if (!number && e->head_owner && e->head_branch)
        rc = ask_for_number(&c, &number, err);
    if (rc == 0 && number)
        rc = comment_on(&c, n, number, said, err);
    else if (rc == 0)
        buf_addstr(said, "comment  none: the event belongs to no open pull request\n");
    service_call_release(&c);
    return rc;
}
