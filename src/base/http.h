/*
 * http: requests over https, http and file, by libcurl, whose only user this is.
 *
 * A request is tried again, with growing pauses, while the server is busy or the connection
 * breaks; everything has a limit in time and size. TLS is verified. Redirects are followed when
 * something is read, and only to https. Passwords come from a netrc file or a caller who read them
 * from the environment; they go over https or to this machine only, and stand in no message. One
 * `struct http` keeps its connections between requests.
 */
#ifndef ABBA_BASE_HTTP_H
#define ABBA_BASE_HTTP_H

#include "base/buf.h"
#include "base/err.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum http_method {
    HTTP_GET,
    HTTP_HEAD,
    HTTP_PUT,
    HTTP_POST,
    HTTP_PATCH,
    HTTP_DELETE,
    HTTP_MOVE,  /* RFC 4918, with the header Destination */
    HTTP_MKCOL, /* RFC 4918 */
};

/* 0 in a field: the default, HTTP_... below. */
struct http_limits {
    int64_t connect_ns;
    int64_t stall_ns; /* this long less than HTTP_STALL_BYTES a second: the try has failed */
    int64_t total_ns; /* a request, its tries and pauses together */
    int64_t pause_ns; /* before the second try; each further one is twice as long */
    int tries;
    uint64_t max_bytes; /* of an answer that goes to a file */
};

#define HTTP_CONNECT_NS (15 * 1000000000LL)
#define HTTP_STALL_NS (60 * 1000000000LL)
#define HTTP_STALL_BYTES 100
#define HTTP_TOTAL_NS (3600 * 1000000000LL)
#define HTTP_PAUSE_NS 500000000LL
#define HTTP_LONGEST_PAUSE_NS (60 * 1000000000LL)
#define HTTP_TRIES 6
#define HTTP_MAX_BYTES ((uint64_t)16 << 30)
#define HTTP_MAX_ANSWER ((size_t)4 << 20) /* of an answer that goes to memory */

struct http_options {
    struct http_limits limits;
    const char *ca_file; /* whom to trust; NULL: CURL_CA_BUNDLE, SSL_CERT_FILE, the system's */
    /* What a person should know: another try, an unprotected connection. May be NULL. */
    void (*note)(void *user, const char *text);
    /* Bytes of the present request's body, either way; all is 0 where unknown. May be NULL. */
    void (*progress)(void *user, uint64_t done, uint64_t all);
    void *user;
    const volatile sig_atomic_t *stop; /* ends a request once it is not 0; NULL: nothing does */
};

/* Keys of AWS Signature Version 4; borrowed. */
struct http_keys {
    const char *id, *secret;
    const char *token; /* of a temporary session; NULL: none */
    const char *region, *service;
};

struct http_request {
    enum http_method method;
    const char *url;
    const char *const *headers; /* "Name: value"; none may hold a secret */
    size_t header_count;
    const char *bearer;           /* secret: "Authorization: Bearer ..."; NULL: none */
    const struct http_keys *keys; /* the request is signed with them; NULL: not */
    const char *body_sha256;      /* signed requests only; NULL: it is computed of `body` */

    const void *body; /* or, if NULL and body_bytes > 0, a part of a file */
    int body_fd;
    uint64_t body_offset, body_bytes;

    bool to_file; /* the body of a good answer goes to `file`, behind what it holds already */
    int file;
    bool repeatable; /* POST and PATCH: may be sent again although the first may have arrived */
    bool once;       /* an answer that leaves open whether it was done (500, 502, 504) ends it */
};

struct http_response {
    int status;             /* 200 also for file: */
    struct buf body;        /* of an answer that did not go to a file */
    struct buf headers;     /* for http_header() */
    uint64_t bytes;         /* that the file has now */
    bool continued;         /* what the file held already was kept */
    int64_t retry_after_ns; /* that the server asks for; 0: nothing said */
};

#define HTTP_RESPONSE_INIT                                                                         \
    {                                                                                              \
        0, BUF_INIT_MAX(HTTP_MAX_ANSWER), BUF_INIT_MAX(65536), 0, false, 0                         \
    }

struct http;

/* ERR_CONFIG: the CA file cannot be read. */
int http_new(struct http **h, const struct http_options *options, struct err *err);
void http_free(struct http *h); /* safe on NULL */

/*
 * Sends it until the server gives an answer that another try would not change: 0, whatever the
 * status. `r` is cleared first. -1: no answer (ERR_SYSTEM), one beyond the limits (ERR_SYSTEM), a
 * server that is not trusted or an address that is none (ERR_CONFIG), stopped (ERR_INTERRUPTED).
 */
int http_send(struct http *h, const struct http_request *q, struct http_response *r,
              struct err *err);

/* The same, and an answer other than 2xx is an error as well, by http_refused(). */
int http_get_through(struct http *h, const struct http_request *q, struct http_response *r,
                     struct err *err);

/*
 * Tells that the server said no: status, its words, and what they hint at. ERR_CONFIG where address
 * or credentials are at fault (4xx), else ERR_SYSTEM. `words` is what the server explained, NULL:
 * nothing.
 */
int http_refused(const struct http_request *q, const struct http_response *r, const char *words,
                 struct err *err);

/* The value of an answer's header, name in any case; NULL: there is none. */
const char *http_header(const struct http_response *r, const char *name);

/* "GET", "POST", ... */
const char *http_method_name(enum http_method m);

void http_response_release(struct http_response *r);

#endif
