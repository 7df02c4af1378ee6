#include "wire.h"

#include "../common/bytes.h"
#include "checksum.h"

#include <endian.h>
#include <string.h>

enum { MAGIC = 0x3146, AT_CHECKSUM = 8, AT_BODY = 12 };

static uint32_t sum(const uint8_t *data, size_t len)
{
    return crc32c(crc32c(0, data, AT_CHECKSUM), data + AT_BODY, len - AT_BODY);
}

static size_t seal(uint8_t *out, enum wire_type type, uint8_t flags, uint32_t session, size_t len)
{
    out[0] = MAGIC & 0xff;
    out[1] = MAGIC >> 8;
    out[2] = (uint8_t)type;
    out[3] = flags;
    put32(out + 4, session);
    put32(out + AT_CHECKSUM, sum(out, len));
    return len;
}

size_t wire_seal_data(uint8_t *out, uint32_t session, uint32_t stream, uint64_t seq, size_t len,
                      uint8_t flags)
{
    put32(out + 12, stream);
    put64(out + 16, seq);
    return seal(out, WIRE_DATA, flags, session, WIRE_DATA_HEADER + len);
}

size_t wire_put_hello(uint8_t *out, uint32_t session, const struct wire_hello *h)
{
    put32(out + 12, h->streams);
    put64(out + 16, h->message);
    put32(out + 24, h->fragment);
    put32(out + 28, h->slots);
    return seal(out, WIRE_HELLO, 0, session, 32);
}

size_t wire_put_hello_ack(uint8_t *out, uint32_t session, uint32_t slots, uint32_t flight)
{
    put32(out + 12, slots);
    put32(out + 16, flight);
    return seal(out, WIRE_HELLO_ACK, 0, session, 20);
}

size_t wire_put_ack(uint8_t *out, uint32_t session, const struct wire_ack *a)
{
    put32(out + 12, a->stream);
    put64(out + 16, a->cumulative);
    put64(out + 24, a->limit);
    put32(out + 32, a->duplicates);
    put32(out + 36, a->count);
    for (uint32_t i = 0; i < a->count; i++) {
        put32(out + 40 + 8 * i, a->range[i].start);
        put32(out + 44 + 8 * i, a->range[i].end);
    }
    return seal(out, WIRE_ACK, 0, session, 40 + 8 * (size_t)a->count);
}

size_t wire_put_fin(uint8_t *out, uint32_t session, uint64_t messages, uint64_t bytes)
{
    put64(out + 12, messages);
    put64(out + 20, bytes);
    return seal(out, WIRE_FIN, 0, session, 28);
}

size_t wire_put_fin_ack(uint8_t *out, uint32_t session, bool done, bool intact)
{
    put32(out + 12, done);
    put32(out + 16, intact);
    return seal(out, WIRE_FIN_ACK, 0, session, 20);
}

size_t wire_put_bye(uint8_t *out, uint32_t session)
{
    return seal(out, WIRE_BYE, 0, session, AT_BODY);
}

static int read_ack(const uint8_t *data, size_t len, struct wire_ack *a)
{
    if (len < 40)
        return -1;
    a->stream = get32(data + 12);
    a->cumulative = get64(data + 16);
    a->limit = get64(data + 24);
    a->duplicates = get32(data + 32);
    a->count = get32(data + 36);
    if (a->count > WIRE_MAX_RANGES || len != 40 + 8 * (size_t)a->count)
        return -1;
    for (uint32_t i = 0; i < a->count; i++) {
        a->range[i].start = get32(data + 40 + 8 * i);
        a->range[i].end = get32(data + 44 + 8 * i);
    }
    return 0;
}

static int read_data(const uint8_t *data, size_t len, struct wire_packet *p)
{
    if (len <= WIRE_DATA_HEADER)
        return -1;
    p->stream = get32(data + 12);
    p->seq = get64(data + 16);
    p->payload = data + WIRE_DATA_HEADER;
    p->payload_len = len - WIRE_DATA_HEADER;
    return 0;
}

static int read_control(const uint8_t *data, size_t len, struct wire_packet *p)
{
    switch (p->type) {
    case WIRE_HELLO:
        if (len != 32)
            return -1;
        p->hello = (struct wire_hello){get32(data + 12), get64(data + 16), get32(data + 24),
                                       get32(data + 28)};
        return 0;
    case WIRE_HELLO_ACK:
        if (len != 20)
            return -1;
        p->slots = get32(data + 12);
        p->flight = get32(data + 16);
        return 0;
    case WIRE_FIN:
        if (len != 28)
            return -1;
        p->messages = get64(data + 12);
        p->bytes = get64(data + 20);
        return 0;
    case WIRE_FIN_ACK:
        if (len != 20)
            return -1;
        p->done = get32(data + 12) == 1;
        p->intact = get32(data + 16) == 1;
        return 0;
    case WIRE_BYE:
        return len == AT_BODY ? 0 : -1;
    default:
        return -1;
    }
}

int wire_read(const uint8_t *data, size_t len, struct wire_packet *p)
{
    if (len < AT_BODY || data[0] != (MAGIC & 0xff) || data[1] != MAGIC >> 8)
        return -1;
    if (get32(data + AT_CHECKSUM) != sum(data, len))
        return -1;
    p->type = data[2];
    p->flags = data[3];
    p->session = get32(data + 4);
    if (p->type == WIRE_DATA)
        return read_data(data, len, p);
    if (p->type == WIRE_ACK)
        return read_ack(data, len, &p->ack);
    return read_control(data, len, p);
}
