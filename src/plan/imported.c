#include "plan/imported.h"

#include <string.h>

#include "base/mem.h"
#include "model/decode.h"
#include "plan/load.h"
#include "plan/thresholds.h"

#define NO_TIMEOUT_NS 3600000000000LL

int imported_runner(const char *name, struct runner *runner, struct arena *arena, struct err *err)
{
    return load_runner(name, runner, NULL, arena, err);
}

static void add_profiles(struct plan *p, const struct imported_request *q, struct arena *arena)
{
    p->profiles = arena_array(arena, q->profile_count, sizeof(*p->profiles));
    p->profile_count = q->profile_count;
    for (size_t i = 0; i < q->profile_count; i++) {
        struct profile *one = &p->profiles[i];

        *one = (struct profile){
            .name = q->profiles[i].name,
            .runner = q->runner->name,
            .description = "read from logs",
            .pairs = q->profiles[i].pairs,
            .warmup = q->profiles[i].warmup,
            .timeout_ns = NO_TIMEOUT_NS,
        };
        profile_noise_defaults(one);
    }
}

int imported_plan(struct plan *p, const struct imported_request *q, struct arena *arena,
                  struct err *err)
{
    struct plan_request limits = {.thresholds = q->thresholds,
                                  .thresholds_file =
                                      q->thresholds_file ? q->thresholds_file : "none"};

    *p = (struct plan){
        .series = q->profile_count == 1 ? q->profiles[0].name
                                        : arena_printf(arena, "%s+%zu more", q->profiles[0].name,
                                                       q->profile_count - 1),
        .command = "import",
        .import = q->paired ? IMPORT_PAIRED : IMPORT_UNPAIRED,
        .analysis = PLAN_ANALYSIS,
        .isolation = "none",
        .variant_count = q->variant_count,
        .runner_count = 1,
    };
    p->variants = arena_array(arena, q->variant_count, sizeof(*p->variants));
    memcpy(p->variants, q->variants, q->variant_count * sizeof(*p->variants));
    p->runners = arena_alloc(arena, sizeof(*p->runners));
    *p->runners = *q->runner;
    add_profiles(p, q, arena);
    if (thresholds_resolve(p, &limits, arena, err) < 0)
        return -1;
    return plan_seal(p, err);
}
