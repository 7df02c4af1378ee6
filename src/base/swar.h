/*
 * swar: finds the bytes of a JSON string that need a second look, eight at a time.
 *
 * The tests are those of "Bit Twiddling Hacks" (haszero, hasless). A borrow can report a byte too
 * many, but only above one that is rightly reported: the lowest is always right.
 */
#ifndef ABBA_BASE_SWAR_H
#define ABBA_BASE_SWAR_H

#include <stdint.h>
#include <string.h>

#define SWAR_ONES 0x0101010101010101U
#define SWAR_HIGH 0x8080808080808080U

static inline uint64_t swar_zero(uint64_t x)
{
    return (x - SWAR_ONES) & ~x & SWAR_HIGH;
}

static inline uint64_t swar_special(uint64_t x)
{
    uint64_t control = (x - SWAR_ONES * 0x20) & ~x & SWAR_HIGH;

    return control | (x & SWAR_HIGH) | swar_zero(x ^ (SWAR_ONES * '"')) |
           swar_zero(x ^ (SWAR_ONES * '\\'));
}

/* The first quote, backslash, control character or non-ASCII byte from `p` on, or `end`. */
static inline const char *swar_plain(const char *p, const char *end)
{
    for (; end - p >= 8; p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        uint64_t special = swar_special(word);
        if (special == 0)
            continue;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        return p + (__builtin_ctzll(special) >> 3);
#else
        break;
#endif
    }
    while (p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x80 && *p != '"' &&
           *p != '\\')
        p++;
    return p;
}

#endif
