/*
 * options: the command line, the same for every data-channel harness; only --crc32c is usrsctp's.
 */
#ifndef USRSCTP_OPTIONS_H
#define USRSCTP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../common/err.h"

enum delivery { ORDERED, UNORDERED, UNRELIABLE };

/* What the sender does while there is no room: looks again at once; lets others have the CPU and
 * looks again; sleeps until there is room for some messages. */
enum pacing { YIELD, SPIN, WAIT };

struct options {
    bool flow; /* else the message shape */
    uint64_t size;
    enum delivery delivery;
    enum pacing pacing;
    bool no_crc32c;

    /* message shape */
    uint64_t in_flight, warmup, messages, repeats;
    double limit_s;

    /* flow shape */
    uint64_t pairs, low, high, skip, bytes;
};

/* Returns 0; 1 if help was asked for; -1 with the message. argv[0] is the shape. */
int options_parse(struct options *o, int argc, char **argv, struct err *e);
void options_help(FILE *to);

const char *delivery_name(enum delivery delivery);
const char *pacing_name(enum pacing pacing);

#endif
