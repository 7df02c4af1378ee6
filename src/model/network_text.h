/*
 * network_text: a network in words for people: what was asked of its packets, one way and there and
 * back.
 */
#ifndef ABBA_MODEL_NETWORK_TEXT_H
#define ABBA_MODEL_NETWORK_TEXT_H

#include "model/network.h"

struct buf;

/*
 * The whole: "loopback; one way: delay 20ms, loss 0.1%; round trip: delay 40ms, loss 0.2%". Of a
 * pair, `a` and `b` are the roles; both may be NULL elsewhere.
 */
void network_say(const struct network *n, const char *a, const char *b, struct buf *out);

/* Where correlation makes the loss another than asked: "loss 10% correlated ... really loses 1.8%".
 * Adds nothing elsewhere. */
void network_say_effective(const struct net_impair *impair, struct buf *out);

#endif
