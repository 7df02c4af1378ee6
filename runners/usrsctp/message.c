#include "message.h"

#include <string.h>

#define MARK 0x9e3779b97f4a7c15u /* 2^64 over the golden ratio: no text looks like it */

static void put(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t take(const unsigned char *from, int bytes)
{
    uint64_t value = 0;

    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

void message_fill(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 167 + 13);
}

void message_stamp(unsigned char *bytes, size_t size, const struct message_id *id)
{
    put(bytes, id->round, 4);
    put(bytes + 4, id->pair, 4);
    put(bytes + 8, id->sequence, 8);
    put(bytes + size - 8, id->sequence ^ MARK, 8);
}

int message_read(const unsigned char *bytes, size_t got, size_t size, struct message_id *id)
{
    if (got != size || got < MESSAGE_LEAST)
        return -1;
    id->round = (uint32_t)take(bytes, 4);
    id->pair = (uint32_t)take(bytes + 4, 4);
    id->sequence = take(bytes + 8, 8);
    return take(bytes + size - 8, 8) == (id->sequence ^ MARK) ? 0 : -1;
}
