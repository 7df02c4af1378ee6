#include "payload.h"

#include <endian.h>
#include <string.h>

#define GOLDEN 0x9e3779b97f4a7c15ULL /* 2^64 / golden ratio, odd: the step of splitmix64 */

struct cut cut_make(uint64_t message, uint32_t max_payload)
{
    struct cut c = {.message = message};

    c.fragments = (uint32_t)((message + max_payload - 1) / max_payload);
    c.fragment = (uint32_t)((message + c.fragments - 1) / c.fragments);
    /* Pieces rounded up may need fewer of them than planned (many pieces of few bytes). */
    c.fragments = (uint32_t)((message + c.fragment - 1) / c.fragment);
    return c;
}

uint32_t cut_length(const struct cut *c, uint64_t seq)
{
    if (!cut_ends_message(c, seq))
        return c->fragment;
    return (uint32_t)(c->message - (uint64_t)c->fragment * (c->fragments - 1));
}

bool cut_ends_message(const struct cut *c, uint64_t seq)
{
    return seq % c->fragments == c->fragments - 1;
}

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

static uint64_t first_word(uint32_t stream, uint64_t seq)
{
    return mix(mix((uint64_t)stream + 1) + seq);
}

static uint64_t word_at(uint64_t first, size_t i)
{
    uint64_t x = first + i * GOLDEN;

    return htole64(x ^ (x >> 29));
}

void payload_fill(uint8_t *out, size_t len, uint32_t stream, uint64_t seq)
{
    uint64_t first = first_word(stream, seq);
    uint64_t word;
    size_t i;

    for (i = 0; i < len / 8; i++) {
        word = word_at(first, i);
        memcpy(out + 8 * i, &word, 8);
    }
    word = word_at(first, i);
    memcpy(out + 8 * i, &word, len % 8);
}

bool payload_matches(const uint8_t *data, size_t len, uint32_t stream, uint64_t seq)
{
    uint64_t first = first_word(stream, seq);
    uint64_t differs = 0;
    uint64_t word;
    size_t i;

    for (i = 0; i < len / 8; i++) {
        memcpy(&word, data + 8 * i, 8);
        differs |= word ^ word_at(first, i);
    }
    word = word_at(first, i);
    return differs == 0 && memcmp(data + 8 * i, &word, len % 8) == 0;
}
