/*
 * Any text as a line of samples.jsonl: it is refused with a message, or it is taken and then
 * encoding and decoding are inverse, also where texts are shared with an earlier sample.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "model/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sample_source from = {.file = "samples.jsonl", .line = 1};
    struct arena arena = ARENA_INIT;
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct sample one, two;
    struct err err = {0};

    if (sample_decode(&one, (const char *)data, size, &from, &arena, &err) < 0) {
        ABBA_ASSERT(err.code == ERR_ARCHIVE && err.msg[0]);
    } else {
        sample_encode(&one, &first);
        from.like = &one;
        ABBA_ASSERT(sample_decode(&two, first.data, first.len, &from, &arena, &err) == 0);
        sample_encode(&two, &second);
        ABBA_ASSERT(strcmp(first.data, second.data) == 0);
    }
    buf_release(&first);
    buf_release(&second);
    arena_release(&arena);
    return 0;
}
