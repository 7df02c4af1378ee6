/* Whatever the words: they are refused with a message, or give an impairment that is written as
 * JSON and read back the same, that loses a share between none and all, and that decides for
 * packets without losing count of them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "model/network.h"
#include "net/fate.h"

static void must(bool ok)
{
    if (!ok)
        abort();
}

static char *encoded(const struct network *n, struct arena *arena)
{
    struct buf out = BUF_INIT;
    struct json_writer w;
    char *text;

    jw_init(&w, &out, false);
    network_encode(n, &w);
    text = arena_strdup(arena, out.data);
    buf_release(&out);
    return text;
}

static void check_round_trip(const struct net_impair *impair, struct arena *arena)
{
    struct network n = {.topology = NET_LOOPBACK, .impair = *impair}, again;
    struct err err = {0};
    struct json *tree;
    struct fields f;
    char *text;

    n.has_impair = net_impair_any(impair);
    n.bound.lateness_p99_ns = 2000000;
    text = encoded(&n, arena);
    tree = json_parse(text, strlen(text), "f.json", &err);
    must(tree && fields_init(&f, "f.json", tree, &err) == 0);
    must(network_decode(&again, &f, arena, &err) == 0);
    must(strcmp(encoded(&again, arena), text) == 0);
    json_free(tree);
}

/* Without tables, which would be read from files. */
static void check_decisions(struct net_impair *impair, struct arena *arena)
{
    struct fate_copy copies[FATE_COPIES];
    struct fate_queue q = {0};
    struct err err = {0};
    struct fate f;
    uint64_t entered = 0;

    impair->distribution = impair->slot.distribution = NULL;
    must(fate_init(&f, impair, 42, 1330, arena, &err) == 0);
    for (int i = 0; i < 50; i++) {
        int count = fate_decide(&f, i * 1000000, 42 + (uint32_t)i * 30, i & 1, &q, copies);

        must(count >= 0 && count <= FATE_COPIES);
        entered += (uint64_t)count;
        for (int c = 0; c < count; c++)
            fate_release_ns(&f, i * 1000000, copies[c].due_ns, 42);
    }
    must(f.counts.offered + f.counts.duplicated == f.counts.lost + f.counts.limit + entered);
    must(q.length == entered);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = ARENA_INIT;
    struct net_impair impair;
    struct err err = {0};
    char *words = malloc(size + 1);

    memcpy(words, data, size);
    words[size] = '\0';
    if (net_impair_parse_words(&impair, words, &arena, &err) == 0) {
        check_round_trip(&impair, &arena);
        if (impair.loss.correlation.scaled < UINT32_MAX / 2) {
            double share = net_loss_effective(&impair.loss, NULL);

            must(share >= 0 && share <= 1.0000001);
        }
        check_decisions(&impair, &arena);
    } else {
        must(err.code == ERR_USAGE && strncmp(err.msg, "impairment", 10) == 0);
    }
    free(words);
    arena_release(&arena);
    return 0;
}
