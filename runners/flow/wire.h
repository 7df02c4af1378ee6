/*
 * wire: the datagrams of flow. All numbers are little-endian.
 *
 *   0  magic     u16   "F1"
 *   2  type      u8    enum wire_type
 *   3  flags     u8    enum wire_flag
 *   4  session   u32   chosen at random by the sender
 *   8  checksum  u32   CRC-32C of everything else in the datagram
 *   12 body, by type:
 *      DATA       stream u32, seq u64, payload
 *      ACK        stream u32, cumulative u64, limit u64, duplicates u32, count u32,
 *                 count x (start u32, end u32), counted from cumulative
 *      HELLO      streams u32, message u64, fragment u32, slots u32
 *      HELLO_ACK  slots u32, flight u32
 *      FIN        messages u64, bytes u64
 *      FIN_ACK    done u32, intact u32
 *      BYE        nothing
 *
 * Sequence numbers count the datagrams of one stream from 0. A datagram whose checksum is wrong
 * is treated as lost.
 */
#ifndef FLOW_WIRE_H
#define FLOW_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_type {
    WIRE_DATA = 1,
    WIRE_ACK,
    WIRE_HELLO,
    WIRE_HELLO_ACK,
    WIRE_FIN,
    WIRE_FIN_ACK,
    WIRE_BYE,
};

enum wire_flag { WIRE_PUSH = 1 }; /* DATA: acknowledge at once */

enum {
    WIRE_DATA_HEADER = 24,
    WIRE_MAX_RANGES = 64,
    WIRE_ACK_MAX = 40 + 8 * WIRE_MAX_RANGES,
    WIRE_CONTROL_MAX = 64,
    WIRE_MAX_DATAGRAM = 65507, /* over IPv4 */
    WIRE_MAX_PAYLOAD = WIRE_MAX_DATAGRAM - WIRE_DATA_HEADER,
};

struct wire_range {
    uint32_t start, end; /* received: cumulative + start .. cumulative + end - 1 */
};

struct wire_ack {
    uint32_t stream;
    uint64_t cumulative; /* everything below was received */
    uint64_t limit;      /* the sender may send up to limit - 1 */
    uint32_t duplicates; /* datagrams of the stream that came again, so far */
    uint32_t count;
    struct wire_range range[WIRE_MAX_RANGES];
};

struct wire_hello {
    uint32_t streams;
    uint64_t message;
    uint32_t fragment;
    uint32_t slots; /* datagrams that the receiver keeps for a stream */
};

/* A datagram read: its kind, and the fields of that kind. */
struct wire_packet {
    enum wire_type type;
    uint8_t flags;
    uint32_t session;
    uint32_t stream; /* DATA */
    uint64_t seq;    /* DATA */
    const uint8_t *payload;
    size_t payload_len;
    struct wire_ack ack;
    struct wire_hello hello;
    uint32_t slots, flight;   /* HELLO_ACK: kept at most, and unacknowledged at most */
    uint64_t messages, bytes; /* FIN */
    bool done, intact;        /* FIN_ACK */
};

/* Writers: `out` has room for the kind; they return the length of the datagram. */
size_t wire_put_hello(uint8_t *out, uint32_t session, const struct wire_hello *h);
size_t wire_put_hello_ack(uint8_t *out, uint32_t session, uint32_t slots, uint32_t flight);
size_t wire_put_ack(uint8_t *out, uint32_t session, const struct wire_ack *a);
size_t wire_put_fin(uint8_t *out, uint32_t session, uint64_t messages, uint64_t bytes);
size_t wire_put_fin_ack(uint8_t *out, uint32_t session, bool done, bool intact);
size_t wire_put_bye(uint8_t *out, uint32_t session);

/* The payload of len bytes stands already at out + WIRE_DATA_HEADER. */
size_t wire_seal_data(uint8_t *out, uint32_t session, uint32_t stream, uint64_t seq, size_t len,
                      uint8_t flags);

/* Reads a datagram; the packet borrows its bytes. Returns 0, or -1 if it is damaged or foreign. */
int wire_read(const uint8_t *data, size_t len, struct wire_packet *p);

#endif
