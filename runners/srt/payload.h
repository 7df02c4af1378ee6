/*
 * payload: what a message of a stream carries, and whether it arrived as it was sent.
 *
 *   0  magic     u32  "SRTp"
 *   4  kind      u32  enum payload_kind
 *   8  stream    u32
 *   12 length    u32  of the whole
 *   16 sequence  u64  from 0 in each stream; FIN, FIN_ACK: payloads that were sent, received
 *   24 sent      u64  CLOCK_MONOTONIC, ns
 *   32 checksum  u64  XXH3 of everything, with this field 0
 *   40 filling
 *
 * All numbers are little-endian.
 */
#ifndef SRT_PAYLOAD_H
#define SRT_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum payload_kind { PAYLOAD_DATA = 1, PAYLOAD_FIN, PAYLOAD_FIN_ACK };

enum { PAYLOAD_LEAST = 64, PAYLOAD_MOST = 1456 };

struct payload {
    enum payload_kind kind;
    uint32_t stream;
    uint64_t sequence;
    int64_t sent_ns;
};

/* Fills a stream's buffer once; payload_write then only changes its head. */
void payload_prepare(uint8_t *data, size_t len, uint32_t stream);

/* Writes the head and the checksum over all of `len` bytes. */
void payload_write(uint8_t *data, size_t len, const struct payload *p);

/* Reads the head alone. False if it is none. */
bool payload_read(const uint8_t *data, size_t len, struct payload *p);

/* Whether the checksum holds. Leaves the checksum field 0. */
bool payload_intact(uint8_t *data, size_t len);

#endif
