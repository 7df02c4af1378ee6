/*
 * Any text as report.json: it is refused with a message, or it is taken and then encoding and
 * decoding are inverse.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "model/report.h"

static void check(const struct json *tree)
{
    struct arena arena = ARENA_INIT;
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct report one, two;
    struct err err = {0};

    if (report_decode(&one, tree, "report.json", &arena, &err) < 0) {
        ABBA_ASSERT(err.code == ERR_ARCHIVE && err.msg[0]);
    } else {
        report_encode(&one, &first);
        struct json *again = json_parse(first.data, first.len, "again", &err);

        ABBA_ASSERT(again && report_decode(&two, again, "again", &arena, &err) == 0);
        report_encode(&two, &second);
        ABBA_ASSERT(strcmp(first.data, second.data) == 0);
        json_free(again);
    }
    buf_release(&first);
    buf_release(&second);
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err;
    struct json *tree = json_parse((const char *)data, size, "report.json", &err);

    if (tree)
        check(tree);
    json_free(tree);
    return 0;
}
