/*
 * options: the command line. All sub-commands take the same options, since a variant's arguments
 * follow every role's own; what a sub-command has no use for, it ignores.
 */
#ifndef SRT_OPTIONS_H
#define SRT_OPTIONS_H

#include "../common/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum cryptomode { CRYPTO_AUTO, CRYPTO_AES_CTR, CRYPTO_AES_GCM };

/* For tests: what a program does on purpose. */
struct fault {
    uint64_t die;     /* a receiver: killed by itself after so many payloads; 0: never */
    uint64_t corrupt; /* a sender: one bit of every so-manieth payload is flipped; 0: never */
};

struct options {
    const char *library;
    const char *listen, *call; /* ADDRESS:PORT, one of them */
    uint32_t streams, first_stream;
    uint64_t rate_bps; /* payload, all streams together */
    int64_t duration_ns;
    uint64_t payload; /* bytes */
    int64_t latency_ns;
    const char *passphrase;
    uint32_t key_length; /* bytes; 0: libsrt's default */
    enum cryptomode cryptomode;
    const char *filter; /* of packets, in libsrt's words; "": none */
    bool tlpktdrop;
    uint32_t window;      /* packets in flight */
    uint64_t buffers;     /* bytes, of SRT, each way */
    uint64_t udp_buffers; /* bytes, each way */
    uint32_t pending;     /* payloads of a stream that wait or are unacknowledged */
    bool auth;
    const char *secret;
    bool verify;
    int64_t wait_ns;   /* for the connections */
    int64_t idle_ns;   /* how long the peer may be silent */
    uint64_t keep_bps; /* a receiver: what must arrive at least; 0: no matter */
    uint32_t may_fail; /* stream whose loss is no failure; NO_STREAM: none */
    uint64_t naks;     /* a second: what the relay injects and the sender must have processed */
    struct fault fault;
};

enum { STREAMS_MOST = 1024 };
#define NO_STREAM UINT32_MAX

/* Parses what follows the sub-command's name. Returns 0, 1 if help was asked for, or -1. */
int options_parse(struct options *o, int argc, char **argv, struct err *e);

void options_help(FILE *out);

const char *cryptomode_name(enum cryptomode mode);

#endif
