/* Fills a store and reads all of it again: bench RECORDS ROUNDS */
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 1000

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0, read = 0;
    struct record_store *s = record_store_new(count, SIZE);
    unsigned char data[SIZE];

    if (!s || count == 0)
        return 2;
    for (size_t i = 0; i < count; i++) {
        memset(data, (int)i, sizeof(data));
        if (record_append(s, data, sizeof(data)) != 0)
            return 1;
    }
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++) {
            const void *found;

            if (record_read(s, i, &found) != SIZE || *(const unsigned char *)found != (i & 255))
                return 1;
            read++;
        }
    printf("delivered_messages=%zu\n", read);
    record_store_free(s);
    return 0;
}
