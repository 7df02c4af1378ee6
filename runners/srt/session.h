/*
 * session: the connections of a program, all over one UDP socket: a listener and those that it
 * accepted, or callers that are bound to one port (each bound by itself would make a socket and
 * two threads of its own). Every caller says its stream's number in its streamid, and with
 * --auth on a secret, which the listener asks for before it lets the caller in.
 */
#ifndef SRT_SESSION_H
#define SRT_SESSION_H

#include "library.h"
#include "options.h"

enum { SLOTS = 4 * STREAMS_MOST };

struct link {
    SRTSOCKET socket;
    uint32_t stream;
    bool lost;
};

struct session {
    const struct library *lib;
    const struct options *o;
    SRTSOCKET listener;
    uint16_t port;
    struct link *links;
    uint32_t count;
    uint16_t slots[SLOTS]; /* sockets to links: 1 + index, 0 for none */
};

/* Binds and listens, or does nothing for a caller. Returns 0, 1 if the library lacks what was
 * asked, or -1. */
int session_open(struct session *s, const struct library *lib, const struct options *o,
                 struct err *e);

/* Waits until all connections are there and have what was asked for. Says the SRT reject reason. */
int session_connect(struct session *s, struct err *e);

/* The link of a socket, or NULL. */
struct link *session_link(struct session *s, SRTSOCKET socket);

/* An epoll of all links that are not lost: readable, broken. -1 on failure. */
int session_epoll(struct session *s, struct err *e);

/*
 * Notes that a link broke. Returns 0 where its stream may fail, otherwise -1 with `e` saying which
 * stream and where it stood.
 */
int session_lose(struct session *s, struct link *l, const char *when, uint64_t payloads,
                 struct err *e);

/* Whether a socket is connected. */
bool session_is_up(const struct session *s, const struct link *l);

/* Closes all sockets. Safe on a session that was not opened. */
void session_close(struct session *s);

#endif
