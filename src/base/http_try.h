/*
 * http_try: one try of a request, for base/http alone.
 */
#ifndef ABBA_BASE_HTTP_TRY_H
#define ABBA_BASE_HTTP_TRY_H

#include "base/http.h"

struct http {
    struct http_options options; /* defaults filled in; ca_file is owned */
    void *curl;                  /* CURL */
    bool warned_plain;
};

enum http_outcome {
    HTTP_ANSWERED, /* the response has a status */
    HTTP_BROKE,    /* no whole answer; another try may bring one */
    HTTP_FAILED,   /* no answer, and none to be expected */
};

/* Closes the library's handle, if there is one. */
void http_try_close(struct http *h);

/*
 * One try within `left_ns`. Fills in the response; err is set unless HTTP_ANSWERED. `etag`: what
 * the bytes that the file holds already belong to, "" unknown; filled in by a good answer.
 * `sent` says whether the server may have taken the request.
 */
enum http_outcome http_try(struct http *h, const struct http_request *q, int64_t left_ns,
                           struct buf *etag, bool *sent, struct http_response *r, struct err *err);

#endif
