/*
 * options: the command line of `flow receive` and `flow send`. One table a sub-command drives
 * parsing and help.
 */
#ifndef FLOW_OPTIONS_H
#define FLOW_OPTIONS_H

#include "../common/err.h"
#include "fault.h"
#include "io.h"

#include <stdint.h>
#include <stdio.h>

enum flow_mode { MODE_STREAM, MODE_PINGPONG };

struct options {
    enum io_mode io;
    int64_t idle_ns; /* how long the peer may be silent */
    struct fault fault;
    /* receive */
    const char *bind;
    uint16_t port;
    uint64_t consume_bps; /* 0: as fast as it comes */
    uint64_t receive_buffer;
    int64_t wait_ns; /* how long to wait for a sender */
    /* send */
    const char *to;
    uint32_t streams;
    uint64_t message;
    uint32_t payload;
    uint64_t rate_bps; /* over all streams; 0: unpaced */
    uint64_t window;   /* bytes that the receiver keeps, a stream */
    enum flow_mode mode;
    int64_t duration_ns; /* 0: no bound */
    uint64_t messages;   /* a stream; 0: no bound */
};

/* Parses what follows the sub-command's name. Returns 0, 1 if help was asked for, or -1. */
int options_receive(struct options *o, int argc, char **argv, struct err *e);
int options_send(struct options *o, int argc, char **argv, struct err *e);

void options_help(FILE *out);

#endif
