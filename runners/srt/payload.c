#include "payload.h"

#include "../common/bytes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <endian.h>
#include <string.h>

enum { MAGIC = 0x70545253, AT_CHECKSUM = 32, HEAD = 40 };

void payload_prepare(uint8_t *data, size_t len, uint32_t stream)
{
    for (size_t i = 0; i < len; i += 8) {
        uint64_t word = htole64(XXH3_64bits_withSeed(&i, sizeof(i), stream));

        memcpy(data + i, &word, len - i < 8 ? len - i : 8);
    }
}

void payload_write(uint8_t *data, size_t len, const struct payload *p)
{
    put32(data, MAGIC);
    put32(data + 4, p->kind);
    put32(data + 8, p->stream);
    put32(data + 12, (uint32_t)len);
    put64(data + 16, p->sequence);
    put64(data + 24, (uint64_t)p->sent_ns);
    put64(data + AT_CHECKSUM, 0);
    put64(data + AT_CHECKSUM, XXH3_64bits(data, len));
}

bool payload_read(const uint8_t *data, size_t len, struct payload *p)
{
    uint32_t kind;

    if (len < HEAD || get32(data) != MAGIC || get32(data + 12) != len)
        return false;
    kind = get32(data + 4);
    if (kind < PAYLOAD_DATA || kind > PAYLOAD_FIN_ACK)
        return false;
    *p = (struct payload){
        .kind = (enum payload_kind)kind,
        .stream = get32(data + 8),
        .sequence = get64(data + 16),
        .sent_ns = (int64_t)get64(data + 24),
    };
    return true;
}

bool payload_intact(uint8_t *data, size_t len)
{
    uint64_t said;

    if (len < HEAD)
        return false;
    said = get64(data + AT_CHECKSUM);
    put64(data + AT_CHECKSUM, 0);
    return XXH3_64bits(data, len) == said;
}
