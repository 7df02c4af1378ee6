#include "series/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pattern.h"
#include "plan/command.h"

/* One variant's roles, as the run room takes them. */
struct prepared {
    const struct runner *runner;
    struct run_role *roles;
    struct pattern **patterns; /* of each role, NULL where there is none */
    size_t *pads;
    const char **obstacles; /* of each role: see request_heap_obstacles() */
    bool varies;
};

struct request_set {
    const struct plan *plan;
    const struct profile *profile;
    struct prepared *variants;
    bool needs_port, needs_scratch;
    struct arena arena;
};

static enum run_ready_kind ready_kind(enum ready_kind kind)
{
    switch (kind) {
    case READY_AT_ONCE:
        return RUN_READY_AT_ONCE;
    case READY_STDOUT:
        return RUN_READY_STDOUT;
    case READY_STDERR:
        return RUN_READY_STDERR;
    case READY_TCP:
        return RUN_READY_TCP;
    case READY_UDP:
        return RUN_READY_UDP;
    }
    return RUN_READY_AT_ONCE;
}

/* The bit set of the roles that `role` waits for. */
static uint32_t after_bits(const struct runner *runner, const struct runner_role *role)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < runner->role_count; i++)
        if (strings_has(&role->after, runner->roles[i].name))
            bits |= UINT32_C(1) << i;
    return bits;
}

/* Fills in what may differ from run to run: command, environment, ready port. */
static int fill_role(struct request_set *set, size_t v, size_t r,
                     const struct template_values *values, struct run_role *out,
                     struct arena *arena, bool *varies, struct err *err)
{
    struct prepared *prep = &set->variants[v];
    const struct runner_role *role = &prep->runner->roles[r];
    struct role_command command;
    const char *port;

    if (plan_role_command(set->plan, set->profile, &set->plan->variants[v], role, values,
                          prep->pads[r], &command, arena, err) != 0)
        return -1;
    prep->obstacles[r] = command.obstacle;
    out->argv = command.argv;
    out->envp = command.envp;
    if (role->ready.port) {
        if (template_fill(role->ready.port, set->plan, set->profile, &set->plan->variants[v],
                          values, &port, arena, err) != 0)
            return -1;
        out->ready_port = (uint16_t)strtoul(port, NULL, 10);
        command.varies = true;
    }
    *varies = *varies || command.varies;
    return 0;
}

/* What stays the same for the whole profile. */
static int prepare_role(struct request_set *set, size_t v, size_t r, struct err *err)
{
    struct prepared *prep = &set->variants[v];
    const struct runner_role *role = &prep->runner->roles[r];
    struct run_role *out = &prep->roles[r];

    out->name = role->name;
    out->cpus = profile_role_cpus(set->profile, role->name);
    out->after = after_bits(prep->runner, role);
    out->ready = ready_kind(role->ready.kind);
    out->ready_timeout_ns = (uint64_t)role->ready.timeout_ns;
    out->stop_signal = role->stop_signal;
    out->net_fd = -1;
    if (role->ready.pattern) {
        prep->patterns[r] = pattern_new(role->ready.pattern, err);
        if (!prep->patterns[r])
            return err_wrap(err, "ready pattern of role '%s'", role->name);
        out->ready_pattern = prep->patterns[r];
    }
    return 0;
}

static bool uses(const char *text, const char *name)
{
    return text && strstr(text, name);
}

static void note_needs(struct request_set *set, const struct runner *runner)
{
    for (size_t r = 0; r < runner->role_count; r++) {
        const struct runner_role *role = &runner->roles[r];

        for (size_t i = 0; i < role->command.count; i++) {
            set->needs_port |= uses(role->command.items[i], "{port");
            set->needs_scratch |= uses(role->command.items[i], "{scratch");
        }
        set->needs_port |= uses(role->ready.port, "{port");
    }
    for (size_t i = 0; i < runner->metric_count; i++)
        set->needs_scratch |= uses(runner->metrics[i].from.file, "{scratch");
}

/* Roles, pads and the first filling of one variant. */
static int prepare_variant(struct request_set *set, size_t v, struct err *err)
{
    struct template_values values = {.port = 1, .scratch = ""};
    struct prepared *prep = &set->variants[v];
    size_t n;

    prep->runner = plan_runner(set->plan, set->profile, &set->plan->variants[v]);
    n = prep->runner->role_count;
    prep->roles = arena_array(&set->arena, n, sizeof(*prep->roles));
    prep->patterns = arena_array(&set->arena, n, sizeof(*prep->patterns));
    prep->pads = arena_array(&set->arena, n, sizeof(*prep->pads));
    prep->obstacles = arena_array(&set->arena, n, sizeof(*prep->obstacles));
    note_needs(set, prep->runner);
    for (size_t r = 0; r < n; r++) {
        size_t *all = arena_array(&set->arena, set->plan->variant_count, sizeof(*all));

        if (plan_role_pads(set->plan, set->profile, r, all, err) != 0)
            return -1;
        prep->pads[r] = all[v];
        if (prepare_role(set, v, r, err) != 0 ||
            fill_role(set, v, r, &values, &prep->roles[r], &set->arena, &prep->varies, err) != 0)
            return -1;
    }
    return 0;
}

int request_set_new(struct request_set **out, const struct plan *plan,
                    const struct profile *profile, struct err *err)
{
    struct request_set *set = xcalloc(1, sizeof(*set));

    set->plan = plan;
    set->profile = profile;
    set->needs_scratch = profile->pass == PASS_MEMORY;
    arena_init(&set->arena);
    set->variants = xcalloc(plan->variant_count, sizeof(*set->variants));
    for (size_t v = 0; v < plan->variant_count; v++)
        if (prepare_variant(set, v, err) != 0) {
            request_set_free(set);
            *out = NULL;
            return err_wrap(err, "profile '%s'", profile->name);
        }
    *out = set;
    return 0;
}

void request_set_free(struct request_set *set)
{
    if (!set)
        return;
    for (size_t v = 0; v < set->plan->variant_count; v++) {
        struct prepared *prep = &set->variants[v];

        for (size_t r = 0; prep->patterns && r < prep->runner->role_count; r++)
            pattern_free(prep->patterns[r]);
    }
    free(set->variants);
    arena_release(&set->arena);
    free(set);
}

bool request_set_varies(const struct request_set *set)
{
    for (size_t v = 0; v < set->plan->variant_count; v++)
        if (set->variants[v].varies)
            return true;
    return false;
}

bool request_set_needs_port(const struct request_set *set)
{
    return set->needs_port;
}

bool request_set_needs_scratch(const struct request_set *set)
{
    return set->needs_scratch;
}

const char *const *request_heap_obstacles(const struct request_set *set, size_t v)
{
    return set->profile->pass == PASS_MEMORY ? set->variants[v].obstacles : NULL;
}

int request_make(struct request_set *set, size_t v, const struct template_values *values,
                 struct run_request *out, struct arena *arena, struct err *err)
{
    struct prepared *prep = &set->variants[v];

    for (size_t r = 0; prep->varies && r < prep->runner->role_count; r++)
        if (fill_role(set, v, r, values, &prep->roles[r], arena, &prep->varies, err) != 0)
            return -1;
    *out = (struct run_request){
        .number = values->run,
        .roles = prep->roles,
        .role_count = prep->runner->role_count,
        .stdin_fd = -1,
        .timeout_ns = (uint64_t)set->profile->timeout_ns,
    };
    return 0;
}
