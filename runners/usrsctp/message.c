#include "message.h"

#include "../common/bytes.h"

#define MARK 0x9e3779b97f4a7c15u /* 2^64 over the golden ratio: no text looks like it */

void message_fill(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 167 + 13);
}

void message_stamp(unsigned char *bytes, size_t size, const struct message_id *id)
{
    put32(bytes, id->round);
    put32(bytes + 4, id->pair);
    put64(bytes + 8, id->sequence);
    put64(bytes + size - 8, id->sequence ^ MARK);
}

int message_read(const unsigned char *bytes, size_t got, size_t size, struct message_id *id)
{
    if (got != size || got < MESSAGE_LEAST)
        return -1;
    id->round = get32(bytes);
    id->pair = get32(bytes + 4);
    id->sequence = get64(bytes + 8);
    return get64(bytes + size - 8) == (id->sequence ^ MARK) ? 0 : -1;
}
