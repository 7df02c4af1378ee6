/*
 * Any text as a runner's, profile's, thresholds' or variant's file: it is refused with a message,
 * or it is taken and then encoding and decoding are inverse.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "model/profile.h"
#include "model/runner.h"
#include "model/thresholds.h"
#include "model/variant.h"

union file {
    struct runner runner;
    struct profile profile;
    struct thresholds thresholds;
    struct variant variant;
};

static int decode(int kind, union file *f, const struct json *tree, struct arena *arena,
                  struct err *err)
{
    switch (kind) {
    case 0:
        return runner_decode(&f->runner, tree, "f", arena, err);
    case 1:
        return profile_decode(&f->profile, tree, "f", arena, err);
    case 2:
        return thresholds_decode(&f->thresholds, tree, "f", arena, err);
    default:
        return variant_decode(&f->variant, tree, "f", arena, err);
    }
}

static void encode(int kind, const union file *f, struct buf *out)
{
    struct json_writer w;

    jw_init(&w, out, false);
    switch (kind) {
    case 0:
        runner_encode(&f->runner, &w);
        break;
    case 1:
        profile_encode(&f->profile, &w);
        break;
    case 2:
        thresholds_encode(&f->thresholds, &w);
        break;
    default:
        variant_encode(&f->variant, &w);
    }
}

static void check(int kind, const struct json *tree)
{
    struct arena arena = ARENA_INIT;
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct err err = {0};
    union file f;

    if (decode(kind, &f, tree, &arena, &err) < 0) {
        ABBA_ASSERT(err.code == ERR_CONFIG && err.msg[0]);
    } else {
        encode(kind, &f, &first);
        struct json *again = json_parse(first.data, first.len, "again", &err);

        ABBA_ASSERT(again && decode(kind, &f, again, &arena, &err) == 0);
        encode(kind, &f, &second);
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
    struct json *tree = json_parse((const char *)data, size, "f", &err);

    for (int kind = 0; tree && kind < 4; kind++)
        check(kind, tree);
    json_free(tree);
    return 0;
}
