/*
 * datagrams: the same payloads over bare UDP, at both ends of a program that carries them further
 * (srt-live-transmit): `feed` offers them, `sink` checks what arrives.
 */
#ifndef SRT_DATAGRAMS_H
#define SRT_DATAGRAMS_H

#include "receiver.h"
#include "sender.h"

/* Sends to --call at the rate, then says several times how many there were. */
int feed_run(const struct options *o, struct sender_result *r, struct err *e);

/* Prints "ready port=N" and reads at --listen until the end was said, and some more. */
int sink_run(const struct options *o, struct receiver_result *r, struct err *e);

#endif
