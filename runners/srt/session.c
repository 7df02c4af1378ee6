#include "session.h"

#include "../common/address.h"
#include "../common/timing.h"
#include "settings.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STREAMID_MOST = 512, CALLING_AT_ONCE = 8 };

static void nap(void)
{
    const struct timespec ms = {.tv_nsec = NS_PER_MS};

    nanosleep(&ms, NULL);
}

/* ---- streamids: "#!::r=3,u=abba,s=SECRET" (SRT access control) ---- */

static void make_streamid(const struct options *o, uint32_t stream, char out[STREAMID_MOST])
{
    if (o->auth)
        snprintf(out, STREAMID_MOST, "#!::r=%u,u=abba,s=%.400s", stream, o->secret);
    else
        snprintf(out, STREAMID_MOST, "#!::r=%u", stream);
}

/* The value of a key of one letter, or NULL; *len gets its length. */
static const char *streamid_value(const char *id, char key, size_t *len)
{
    if (strncmp(id, "#!::", 4) != 0)
        return NULL;
    for (id += 4; *id; id += strcspn(id, ","), id += *id == ',') {
        if (id[0] != key || id[1] != '=')
            continue;
        *len = strcspn(id + 2, ",");
        return id + 2;
    }
    return NULL;
}

/* Compares in a time that does not depend on where they differ. */
static bool same_secret(const char *said, size_t len, const char *secret)
{
    unsigned char differs = strlen(secret) != len;

    for (size_t i = 0; i < len && secret[i]; i++)
        differs |= (unsigned char)(said[i] ^ secret[i]);
    return differs == 0;
}

static int authorize(void *opaque, SRTSOCKET socket, int version, const struct sockaddr *peer,
                     const char *streamid)
{
    const struct session *s = opaque;
    size_t len = 0;
    const char *said = streamid ? streamid_value(streamid, 's', &len) : NULL;

    (void)version, (void)peer;
    if (said && same_secret(said, len, s->o->secret))
        return 0;
    s->lib->setrejectreason(socket, REJECT_UNAUTHORIZED);
    return -1;
}

static int stream_of(const struct session *s, SRTSOCKET socket, uint32_t *stream)
{
    char id[STREAMID_MOST + 1] = "";
    int len = STREAMID_MOST;
    size_t digits;
    const char *text;

    if (s->lib->getsockflag(socket, SRTO_STREAMID, id, &len) != 0)
        return -1;
    text = streamid_value(id, 'r', &digits);
    if (!text || digits == 0 || digits > 4 || strspn(text, "0123456789") < digits)
        return -1;
    *stream = (uint32_t)strtoul(text, NULL, 10);
    return 0;
}

/* ---- sockets and links ---- */

static uint32_t slot_of(const struct session *s, SRTSOCKET socket)
{
    uint32_t slot = ((uint32_t)socket * 2654435761U) >> 20; /* Knuth's multiplier; SLOTS is 2^12 */

    while (s->slots[slot] && s->links[s->slots[slot] - 1].socket != socket)
        slot = (slot + 1) % SLOTS;
    return slot;
}

static void remember(struct session *s, uint32_t index, SRTSOCKET socket, uint32_t stream)
{
    s->links[index] = (struct link){.socket = socket, .stream = stream};
    s->slots[slot_of(s, socket)] = (uint16_t)(index + 1);
}

struct link *session_link(struct session *s, SRTSOCKET socket)
{
    uint16_t found = s->slots[slot_of(s, socket)];

    return found ? &s->links[found - 1] : NULL;
}

static int new_socket(const struct session *s, SRTSOCKET *socket, struct err *e)
{
    int rc;

    *socket = s->lib->create_socket();
    if (*socket == SRT_INVALID_SOCK)
        return library_error(s->lib, e, "cannot make an SRT socket");
    rc = settings_apply(s->lib, *socket, s->o, e);
    if (rc == 0)
        return 0;
    s->lib->close(*socket);
    *socket = SRT_INVALID_SOCK;
    return rc;
}

static int bound_port(const struct session *s, SRTSOCKET socket, uint16_t *port, struct err *e)
{
    struct sockaddr_storage at;
    int len = sizeof(at);

    if (s->lib->getsockname(socket, (struct sockaddr *)&at, &len) != 0)
        return library_error(s->lib, e, "cannot read the port");
    *port = ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port
                                           : ((struct sockaddr_in *)&at)->sin_port);
    return 0;
}

/* ---- listening ---- */

static int listen_at(struct session *s, const struct addrinfo *a, struct err *e)
{
    int rc = new_socket(s, &s->listener, e);

    if (rc)
        return rc;
    if (s->lib->bind(s->listener, a->ai_addr, (int)a->ai_addrlen) != 0)
        return library_error(s->lib, e, "cannot bind to '%s'", s->o->listen);
    if (s->o->auth && s->lib->listen_callback(s->listener, authorize, s) != 0)
        return library_error(s->lib, e, "cannot watch callers");
    if (s->lib->listen(s->listener, (int)s->o->streams) != 0)
        return library_error(s->lib, e, "cannot listen at '%s'", s->o->listen);
    return bound_port(s, s->listener, &s->port, e);
}

static bool taken(const struct session *s, uint32_t stream, uint32_t accepted)
{
    for (uint32_t i = 0; i < accepted; i++)
        if (s->links[i].stream == stream)
            return true;
    return false;
}

static int accept_one(struct session *s, uint32_t index, struct err *e)
{
    SRTSOCKET socket = s->lib->accept(s->listener, NULL, NULL);
    uint32_t stream;

    if (socket == SRT_INVALID_SOCK)
        return library_error(s->lib, e, "cannot accept a caller");
    if (stream_of(s, socket, &stream)) {
        s->lib->close(socket);
        return err_set(e, "a caller does not say its stream's number in its streamid");
    }
    if (stream < s->o->first_stream || stream - s->o->first_stream >= s->count ||
        taken(s, stream, index)) {
        s->lib->close(socket);
        return err_set(e, "a caller says stream %u: expected are %u streams from %u on, each once",
                       stream, s->count, s->o->first_stream);
    }
    remember(s, index, socket, stream);
    return settings_agreed(s->lib, socket, s->o, e);
}

static int accept_all(struct session *s, struct err *e)
{
    int64_t end = clock_ns() + s->o->wait_ns;
    int epoll = s->lib->epoll_create(), events = SRT_EPOLL_IN | SRT_EPOLL_ERR;
    SRT_EPOLL_EVENT event;

    if (epoll < 0 || s->lib->epoll_add_usock(epoll, s->listener, &events) != 0)
        return library_error(s->lib, e, "cannot wait for callers");
    for (uint32_t i = 0; i < s->count;) {
        int64_t left_ms = (end - clock_ns()) / NS_PER_MS;

        if (left_ms <= 0)
            return err_set(e, "%u of %u callers came within %g s", i, s->count,
                           (double)s->o->wait_ns / 1e9);
        if (s->lib->epoll_uwait(epoll, &event, 1, left_ms) <= 0)
            continue;
        if (accept_one(s, i++, e))
            return -1;
    }
    return 0;
}

/* ---- calling ---- */

/* All callers share the port that the first one gets. */
static int bind_caller(struct session *s, SRTSOCKET socket, int family, struct err *e)
{
    struct sockaddr_storage any = {.ss_family = (sa_family_t)family};
    socklen_t len = sizeof(struct sockaddr_in);

    if (family == AF_INET6) {
        ((struct sockaddr_in6 *)&any)->sin6_port = htons(s->port);
        len = sizeof(struct sockaddr_in6);
    } else {
        ((struct sockaddr_in *)&any)->sin_port = htons(s->port);
    }
    if (s->lib->bind(socket, (struct sockaddr *)&any, (int)len) != 0)
        return library_error(s->lib, e, "cannot bind a caller");
    return s->port ? 0 : bound_port(s, socket, &s->port, e);
}

static int call_one(struct session *s, uint32_t index, const struct addrinfo *to, struct err *e)
{
    uint32_t stream = s->o->first_stream + index;
    char id[STREAMID_MOST];
    SRTSOCKET socket;
    int rc = new_socket(s, &socket, e), v6only = 1;

    if (rc)
        return rc;
    remember(s, index, socket, stream);
    make_streamid(s->o, stream, id);
    if (s->lib->setsockflag(socket, SRTO_STREAMID, id, (int)strlen(id)) != 0 ||
        (to->ai_family == AF_INET6 &&
         s->lib->setsockflag(socket, SRTO_IPV6ONLY, &v6only, sizeof(v6only)) != 0))
        return library_error(s->lib, e, "cannot set the streamid");
    if (bind_caller(s, socket, to->ai_family, e))
        return -1;
    if (s->lib->connect(socket, to->ai_addr, (int)to->ai_addrlen) == SRT_ERROR)
        return library_error(s->lib, e, "stream %u: cannot call '%s'", stream, s->o->call);
    return 0;
}

static int refused(const struct session *s, const struct link *l, struct err *e)
{
    char why[256];

    library_reject_text(s->lib, s->lib->getrejectreason(l->socket), why, sizeof(why));
    return err_set(e, "stream %u: the connection was refused: %s", l->stream, why);
}

/*
 * Whether a connection that is not there is given up for good. For a moment between connecting and
 * connected libsrt calls a socket broken, without a reason: its own thread sets two flags one after
 * the other (CUDTSocket::getStatus).
 */
static bool is_refused(const struct session *s, const struct link *l, SRT_SOCKSTATUS state)
{
    return state >= SRTS_BROKEN && s->lib->getrejectreason(l->socket) != SRT_REJ_UNKNOWN;
}

/* Counts connected callers among the first `started`. -1: one was refused. */
static int count_connected(struct session *s, uint32_t started, uint32_t *up, struct err *e)
{
    *up = 0;
    for (uint32_t i = 0; i < started; i++) {
        SRT_SOCKSTATUS state = s->lib->getsockstate(s->links[i].socket);

        if (state == SRTS_CONNECTED)
            ++*up;
        else if (is_refused(s, &s->links[i], state))
            return refused(s, &s->links[i], e);
    }
    return 0;
}

/*
 * A few at a time: a listener answers one after the other, with encryption tens of milliseconds
 * each, and meanwhile hears nothing from those that are connected.
 */
static int call_in_turn(struct session *s, const struct addrinfo *to, struct err *e)
{
    int64_t end = clock_ns() + s->o->wait_ns + NS_PER_S; /* libsrt's own time-out comes first */
    uint32_t started = 0, up = 0;
    int rc = 0;

    while (rc == 0 && up < s->count) {
        while (rc == 0 && started < s->count && started - up < CALLING_AT_ONCE)
            rc = call_one(s, started++, to, e);
        if (rc == 0)
            rc = count_connected(s, started, &up, e);
        if (rc == 0 && up < s->count && clock_ns() > end)
            rc = err_set(e, "%u of %u streams were connected within %g s", up, s->count,
                         (double)s->o->wait_ns / 1e9);
        nap();
    }
    return rc;
}

static int call_all(struct session *s, struct err *e)
{
    struct addrinfo *to;
    int rc;

    if (address_parse(s->o->call, &to, e))
        return -1;
    rc = call_in_turn(s, to, e);
    freeaddrinfo(to);
    for (uint32_t i = 0; rc == 0 && i < s->count; i++)
        rc = settings_agreed(s->lib, s->links[i].socket, s->o, e);
    return rc;
}

/* ---- the session ---- */

int session_open(struct session *s, const struct library *lib, const struct options *o,
                 struct err *e)
{
    struct addrinfo *at;
    int rc;

    *s = (struct session){.lib = lib, .o = o, .listener = SRT_INVALID_SOCK, .count = o->streams};
    s->links = calloc(o->streams, sizeof(*s->links));
    if (!s->links)
        return err_set(e, "out of memory");
    for (uint32_t i = 0; i < o->streams; i++)
        s->links[i].socket = SRT_INVALID_SOCK;
    if (!o->listen)
        return 0;
    if (address_parse(o->listen, &at, e))
        return -1;
    rc = listen_at(s, at, e);
    freeaddrinfo(at);
    return rc;
}

int session_connect(struct session *s, struct err *e)
{
    return s->o->listen ? accept_all(s, e) : call_all(s, e);
}

int session_epoll(struct session *s, struct err *e)
{
    int events = SRT_EPOLL_IN | SRT_EPOLL_ERR, epoll = s->lib->epoll_create();

    if (epoll < 0)
        return library_error(s->lib, e, "cannot make an epoll");
    s->lib->epoll_set(epoll, SRT_EPOLL_ENABLE_EMPTY);
    for (uint32_t i = 0; i < s->count; i++)
        if (!s->links[i].lost && s->lib->epoll_add_usock(epoll, s->links[i].socket, &events) != 0)
            return library_error(s->lib, e, "cannot watch stream %u", s->links[i].stream);
    return epoll;
}

bool session_is_up(const struct session *s, const struct link *l)
{
    return s->lib->getsockstate(l->socket) == SRTS_CONNECTED;
}

int session_lose(struct session *s, struct link *l, const char *when, uint64_t payloads,
                 struct err *e)
{
    l->lost = true;
    if (l->stream == s->o->may_fail)
        return 0;
    return err_set(e, "stream %u: the connection was lost %s, after %llu payloads", l->stream, when,
                   (unsigned long long)payloads);
}

void session_close(struct session *s)
{
    for (uint32_t i = 0; s->links && i < s->count; i++)
        if (s->links[i].socket != SRT_INVALID_SOCK)
            s->lib->close(s->links[i].socket);
    if (s->links && s->listener != SRT_INVALID_SOCK)
        s->lib->close(s->listener);
    free(s->links);
    s->links = NULL;
}
