/*
 * message: what a message holds, so that its receiver can tell that it is whole, whose it is and
 * which one. Little-endian: round, pair, sequence; a fill; at the end a mark of the sequence.
 */
#ifndef USRSCTP_MESSAGE_H
#define USRSCTP_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

enum { MESSAGE_LEAST = 24, MESSAGE_MOST = 65536 };

struct message_id {
    uint32_t round; /* 0: warm-up */
    uint32_t pair;
    uint64_t sequence;
};

/* Fills `size` bytes, once; message_stamp() makes a message of them. */
void message_fill(unsigned char *bytes, size_t size);
void message_stamp(unsigned char *bytes, size_t size, const struct message_id *id);

/* Returns 0, or -1 if the bytes are no whole message of that size. */
int message_read(const unsigned char *bytes, size_t got, size_t size, struct message_id *id);

#endif
