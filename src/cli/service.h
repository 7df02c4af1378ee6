/*
 * service: how a verdict reaches GitHub, GitLab or a webhook: a commit status, and one comment on
 * the pull request that is updated.
 *
 * The requests are those that docs.github.com/rest and docs.gitlab.com/api describe; a webhook gets
 * both in one JSON text by POST. An earlier comment is known by its marker and by its author, who
 * is the one that the token belongs to: anybody may copy a marker.
 */
#ifndef ABBA_CLI_SERVICE_H
#define ABBA_CLI_SERVICE_H

#include "base/err.h"
#include "cli/ci_event.h"

#include <stdbool.h>

struct buf;
struct http;

enum notice_state {
    NOTICE_SUCCESS,
    NOTICE_FAILURE,
    NOTICE_ERROR, /* no verdict could be made */
    NOTICE_OPEN,  /* inconclusive: neither good nor bad */
};

struct notice {
    const char *name; /* of the status and of the comment's marker */
    const char *verdict;
    enum notice_state state;
    const char *description; /* abba's own words, at most 140 columns */
    const char *comment;     /* whole, with its marker */
    const char *marker;
    const char *digest, *plan; /* "" where not known */
};

/* The word for the state that the service has; "" for a webhook's own. */
const char *service_state(enum service service, enum notice_state state);

/*
 * Each adds a line on what was done to `said`. Refusals name request, status, the service's words,
 * and what it takes. *fatal: the next request would fare no better. No message holds the token.
 */
int service_status(struct http *h, const struct ci_event *e, const struct notice *n,
                   struct buf *said, bool *fatal, struct err *err);
int service_comment(struct http *h, const struct ci_event *e, const struct notice *n,
                    struct buf *said, struct err *err);

/* A webhook's one request; `status` and `comment`: which of both are told. */
int service_webhook(struct http *h, const struct ci_event *e, const struct notice *n, bool status,
                    bool comment, struct buf *said, struct err *err);

#endif
