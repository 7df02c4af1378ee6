/*
 * service_parts: one request to a service's API, for service.c and service_comment.c.
 */
#ifndef ABBA_CLI_SERVICE_PARTS_H
#define ABBA_CLI_SERVICE_PARTS_H

#include "base/err.h"
#include "base/http.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/ci_event.h"

#include <stdbool.h>

#define SERVICE_MAX_ANSWER ((size_t)32 << 20) /* a page of a hundred long comments */

struct service_call {
    struct http *h;
    const struct ci_event *e;
    struct arena arena;
    enum http_method method; /* of the last request */
    const char *url;
    struct http_response answer;
    struct json *json; /* of a good answer; NULL: it had none */
};

void service_call_init(struct service_call *c, struct http *h, const struct ci_event *e);
void service_call_release(struct service_call *c);

/* "projects/1" as part of an address: "repos/OWNER/NAME", "projects/GROUP%2FNAME". */
const char *service_project(struct service_call *c, const char *repository);

/*
 * Sends `body` (JSON; NULL: none) to API/`path` and reads the answer into c->json. `once`: not
 * again where an earlier try may have been done. -1 without an answer that is JSON; any status
 * else.
 */
int service_send(struct service_call *c, enum http_method method, const char *path,
                 const char *body, bool once, struct err *err);

/* The same; a status other than 2xx is an error by service_refused(). */
int service_need(struct service_call *c, enum http_method method, const char *path,
                 const char *body, bool once, struct err *err);

/* Tells the refusal that c->answer is. */
int service_refused(struct service_call *c, struct err *err);

/* A text or number of c->json; NULL, 0: it is not there. */
const char *service_text(const struct json *root, const char *pointer);
int64_t service_number(const struct json *root, const char *pointer);

#endif
