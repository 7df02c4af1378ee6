/*
 * peers: pairs of SCTP endpoints in this process. Each pair is one association between an end that
 * sends and an end that receives, over a pair of UDP sockets on loopback, as a data channel has it:
 * AF_CONN, packets of at most 1200 bytes. No DTLS.
 *
 * Two threads read the sockets, one for all ends that send and one for all that receive; usrsctp
 * calls back on them. Nothing here prints.
 */
#ifndef USRSCTP_PEERS_H
#define USRSCTP_PEERS_H

#include <stddef.h>
#include <stdint.h>

#include "options.h"

struct peers;

/* What arrives and what happens; called on threads of the peers. */
struct peers_user {
    void *user;
    void (*message)(void *user, uint32_t pair, const void *bytes, size_t size);
    void (*room)(void *user, uint32_t pair); /* the send buffer has sunk to `low`; may be NULL */
};

/*
 * Makes `count` pairs and waits until all are connected, at most 15 s. `high` and `low` are the
 * bytes that a sender's buffer holds, and at which `room` is called. Ownership of *peers is the
 * caller's. Returns 0, or -1 with the message and nothing left.
 */
int peers_open(struct peers **peers, uint32_t count, const struct options *o, size_t high,
               size_t low, const struct peers_user *user, struct err *e);

/* Sends one message: 1, 0 where there is no room now, -1 with the message. */
int peers_send(struct peers *peers, uint32_t pair, const void *bytes, size_t size,
               enum delivery delivery, struct err *e);

/* What broke an association, or NULL. */
const char *peers_broken(const struct peers *peers);

/* Ends all associations and threads. */
void peers_close(struct peers *peers);

#endif
