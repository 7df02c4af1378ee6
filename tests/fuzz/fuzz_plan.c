/* Any text as a plan: it is refused with a message, or its canonical form is a fixed point. */
#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "model/plan.h"

static int decode(struct plan *p, const char *text, size_t len, struct arena *arena,
                  struct err *err)
{
    struct json *tree = json_parse(text, len, "f", err);
    int status = tree ? plan_decode(p, tree, "f", arena, err) : -1;

    json_free(tree);
    return status;
}

/* Questions that must not trip over a plan that was taken. */
static void ask(const struct plan *p)
{
    const char *unit;
    enum metric_better better;

    for (size_t i = 0; i < p->profile_count; i++) {
        (void)plan_yields(p, &p->profiles[i], "throughput");
        (void)plan_min_complete(p, &p->profiles[i]);
        (void)thresholds_limit(&p->thresholds, p->profiles[i].name, "throughput");
    }
    (void)plan_metric(p, "throughput", &unit, &better);
    (void)plan_identical(p);
    (void)plan_run_count(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = ARENA_INIT;
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct err err = {0};
    struct plan p;

    if (decode(&p, (const char *)data, size, &arena, &err) < 0) {
        ABBA_ASSERT(err.code == ERR_CONFIG && err.msg[0]);
    } else if (plan_encode(&p, &first, &err) == 0) {
        ask(&p);
        ABBA_ASSERT(decode(&p, first.data, first.len, &arena, &err) == 0);
        ABBA_ASSERT(plan_encode(&p, &second, &err) == 0);
        ABBA_ASSERT(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    } else {
        ABBA_ASSERT(err.code == ERR_CONFIG && err.msg[0]);
    }
    buf_release(&first);
    buf_release(&second);
    arena_release(&arena);
    return 0;
}
