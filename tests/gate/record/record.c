#include "record.h"

#include <stdlib.h>
#include <string.h>

#define HEAD 8 /* size and sum, each 32 bits in host order */

struct record_store {
    unsigned char *bytes;
    size_t *at; /* where each record begins */
    size_t used, room, count, most;
};

struct record_store *record_store_new(size_t count, size_t size)
{
    struct record_store *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->most = count;
    s->room = count * (size + HEAD);
    s->bytes = malloc(s->room);
    s->at = calloc(count, sizeof(*s->at));
    if (!s->bytes || !s->at) {
        record_store_free(s);
        return NULL;
    }
    memset(s->bytes, 0xff, s->room);
    return s;
}

void record_store_free(struct record_store *s)
{
    if (!s)
        return;
    free(s->bytes);
    free(s->at);
    free(s);
}

int record_append(struct record_store *s, const void *data, size_t size)
{
    uint32_t head[2] = {(uint32_t)size, 0};

    if (s->count == s->most || s->room - s->used < size + HEAD)
        return -1;
    head[1] = record_sum(data, size);
    memcpy(s->bytes + s->used, head, HEAD);
    memcpy(s->bytes + s->used + HEAD, data, size);
    s->at[s->count++] = s->used;
    s->used += size + HEAD;
    return 0;
}

long record_read(const struct record_store *s, size_t number, const void **data)
{
    const unsigned char *p;
    uint32_t head[2];

    if (number >= s->count)
        return -1;
    p = s->bytes + s->at[number];
    memcpy(head, p, HEAD);
    if (record_sum(p + HEAD, head[0]) != head[1])
        return -1;
    *data = p + HEAD;
    return (long)head[0];
}
