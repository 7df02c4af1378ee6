#include "checksum.h"

#include <endian.h>
#include <string.h>

#define POLYNOMIAL 0x82f63b78U /* 0x1edc6f41, bits reversed */

static uint32_t table[8][256];

void crc32c_init(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (POLYNOMIAL & (0U - (crc & 1)));
        table[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int t = 1; t < 8; t++)
            table[t][i] = (table[t - 1][i] >> 8) ^ table[0][table[t - 1][i] & 0xff];
}

static uint32_t step8(uint32_t crc, const uint8_t *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof(word));
    word = le64toh(word) ^ crc;
    return table[7][word & 0xff] ^ table[6][(word >> 8) & 0xff] ^ table[5][(word >> 16) & 0xff] ^
           table[4][(word >> 24) & 0xff] ^ table[3][(word >> 32) & 0xff] ^
           table[2][(word >> 40) & 0xff] ^ table[1][(word >> 48) & 0xff] ^ table[0][word >> 56];
}

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
    const uint8_t *p = data;

    crc = ~crc;
    for (; len >= 8; len -= 8, p += 8)
        crc = step8(crc, p);
    for (; len; len--, p++)
        crc = (crc >> 8) ^ table[0][(crc ^ *p) & 0xff];
    return ~crc;
}
