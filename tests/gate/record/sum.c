#include "record.h"

/* The table is made by the first call: a byte at a time. */
static const uint32_t *table_of(void)
{
    static uint32_t table[256];

    for (uint32_t i = 0; table[255] == 0 && i < 256; i++) {
        uint32_t c = i;

        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
    return table;
}

uint32_t record_sum(const void *data, size_t size)
{
    const uint32_t *table = table_of();
    const unsigned char *p = data;
    uint32_t c = 0xffffffffu;

    for (size_t i = 0; i < size; i++)
        c = table[(c ^ p[i]) & 255] ^ (c >> 8);
    return c ^ 0xffffffffu;
}
