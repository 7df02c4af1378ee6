#include "plan/plan_parts.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "plan/accepted.h"
#include "plan/home.h"
#include "plan/load.h"
#include "plan/memory.h"
#include "plan/profiles.h"
#include "plan/support.h"
#include "plan/thresholds.h"
#include "plan/variants.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COMPARE_TIMEOUT_NS (3600 * NSEC_PER_SEC)

/* ---- profiles ---- */

/* Takes ",pass=memory" off a name that asks for that pass alone. */
static const char *without_pass(const char *asked, bool *memory, struct arena *arena)
{
    size_t len = strlen(asked), tail = strlen(PROFILE_MEMORY_SUFFIX);

    *memory = len > tail && strcmp(asked + len - tail, PROFILE_MEMORY_SUFFIX) == 0;
    return *memory ? arena_strndup(arena, asked, len - tail) : asked;
}

/* "flow/pingpong,streams=1" asks for one combination of the profile's matrix. */
static int load_asked(const char *asked, struct profile *out, const char **file,
                      const char **combination, struct arena *arena, struct err *err)
{
    size_t stem = strcspn(asked, ",");

    *combination = NULL;
    if (asked[stem] == '\0' || lookup_is_path(LOOKUP_PROFILE, asked))
        return load_profile(asked, out, file, arena, err);
    *combination = asked;
    return load_profile(arena_strndup(arena, asked, stem), out, file, arena, err);
}

static int no_combination(const char *asked, const struct profile *all, size_t count,
                          struct err *err)
{
    err_set(err, ERR_USAGE, "profile '%s' has no such combination in its matrix", asked);
    return err_hint(err, "one is '%s'", all[count - 1].name);
}

/* Appends the profile's combinations, resolved against their runner. */
static int add_profile(struct plan *p, const char *asked, struct strings *names,
                       struct arena *arena, struct err *err)
{
    struct profile one, *all, *grown;
    const char *file, *combination, *name = asked;
    size_t count, before = p->profile_count;
    bool memory;

    asked = without_pass(asked, &memory, arena);
    if (load_asked(asked, &one, &file, &combination, arena, err) < 0)
        return -1;
    if (load_plan_runner(p, one.runner, arena, err) < 0)
        return err_wrap(err, "profile '%s'", one.name);
    strings_add(names, arena, memory ? name : combination ? combination : one.name);
    profile_expand(&one, &all, &count, arena);
    grown = arena_array(arena, before + count, sizeof(*grown));
    if (before)
        memcpy(grown, p->profiles, before * sizeof(*grown));
    p->profiles = grown;
    for (size_t i = 0; i < count; i++) {
        if (combination && strcmp(all[i].name, combination) != 0)
            continue;
        if (memory && all[i].pass != PASS_MEMORY)
            memory_pass_make(&all[i], arena);
        if (plan_find_profile(p, all[i].name))
            return err_set(err, ERR_USAGE, "profile '%s' is asked for twice", all[i].name);
        if (profile_resolve(&all[i], plan_find_runner(p, one.runner), file, arena, err) < 0)
            return -1;
        all[i].file = file;
        p->profiles[p->profile_count++] = all[i];
    }
    return p->profile_count == before ? no_combination(asked, all, count, err) : 0;
}

/* One name, or all that a glob such as "flow/quick-*" matches, in the order of their names. */
static int add_profiles(struct plan *p, const char *asked, struct strings *names,
                        struct arena *arena, struct err *err)
{
    struct strings all = {0};
    bool any = false;

    if (!strpbrk(asked, "*?[") || lookup_is_path(LOOKUP_PROFILE, asked))
        return add_profile(p, asked, names, arena, err);
    lookup_names(LOOKUP_PROFILE, &all, arena);
    for (size_t i = 0; i < all.count; i++) {
        if (fnmatch(asked, all.items[i], 0) != 0)
            continue;
        any = true;
        if (add_profile(p, all.items[i], names, arena, err) < 0)
            return -1;
    }
    if (any)
        return 0;
    err_set(err, ERR_USAGE, "no profile matches '%s'", asked);
    return err_hint(err, "`abba list profiles` shows what there is");
}

/* A name for the series that stays short: the profiles as they were asked for, without paths. */
static const char *series_name(const struct strings *names, struct arena *arena)
{
    const char *name = names->items[0];

    for (size_t i = 1; i < names->count && i < 4; i++)
        name = arena_printf(arena, "%s+%s", name, names->items[i]);
    if (names->count > 4)
        name = arena_printf(arena, "%s+%zu more", name, names->count - 4);
    return arena_strndup(arena, name, 200);
}

static int load_profiles(struct plan *p, const struct plan_request *q, struct arena *arena,
                         struct err *err)
{
    struct strings names = {0};

    if (q->profiles.count == 0) {
        err_set(err, ERR_USAGE, "no profile is given");
        return err_hint(err, "`abba list profiles` shows what there is");
    }
    for (size_t i = 0; i < q->profiles.count; i++)
        if (add_profiles(p, q->profiles.items[i], &names, arena, err) < 0)
            return -1;
    p->series = q->series ? q->series : series_name(&names, arena);
    return 0;
}

/* The runner `command`, and a profile made from the options alone. */
static void make_compare(struct plan *p, struct arena *arena)
{
    struct runner *r = arena_alloc(arena, sizeof(*r));
    struct profile *one = arena_alloc(arena, sizeof(*one));

    plan_command_runner(r, arena);
    *one = (struct profile){
        .name = "compare",
        .runner = r->name,
        .confirm = -1,
        .timeout_ns = COMPARE_TIMEOUT_NS,
    };
    profile_noise_defaults(one);
    p->series = "compare";
    p->runners = r;
    p->runner_count = 1;
    p->profiles = one;
    p->profile_count = 1;
}

void plan_command_runner(struct runner *r, struct arena *arena)
{
    *r = (struct runner){
        .name = "command",
        .program = "command",
        .description = "The variant is the command itself",
        .roles = arena_alloc(arena, sizeof(*r->roles)),
        .role_count = 1,
        .numbers = {.decimal = ".", .group = ""},
        .is_command = true,
    };
    r->roles[0].name = "command";
    r->roles[0].ready.timeout_ns = READY_TIMEOUT_NS;
    strings_add(&r->roles[0].command, arena, "{program}");
}

/* ---- options over profiles ---- */

/* -n keeps the number of pairs that may fail. */
static void set_pairs(struct profile *one, int pairs)
{
    int may_fail = one->pairs && one->min_complete ? one->pairs - one->min_complete : 0;

    one->min_complete = may_fail == 0 ? 0 : pairs > may_fail ? pairs - may_fail : 1;
    one->pairs = pairs;
}

static int apply_options(struct plan *p, const struct plan_request *q, struct arena *arena,
                         struct err *err)
{
    for (size_t i = 0; i < p->profile_count; i++) {
        struct profile *one = &p->profiles[i];

        if (q->pairs > 0)
            set_pairs(one, q->pairs);
        if (q->confirm >= 0)
            one->confirm = q->confirm;
        if (q->warmup >= 0)
            one->warmup = q->warmup;
        if (q->pause_ns >= 0)
            one->pause_ns = q->pause_ns;
        if (q->timeout_ns >= 0)
            one->timeout_ns = q->timeout_ns;
        if (!q->cpus)
            continue;
        if (profile_axis(one, "cpus"))
            return err_set(err, ERR_USAGE,
                           "--cpus: profile '%s' has CPUs of its own, by its matrix", one->name);
        if (profile_check_cpus(q->cpus, NULL, err) < 0) {
            err->code = ERR_USAGE;
            return err_wrap(err, "--cpus");
        }
        one->cpus = arena_alloc(arena, sizeof(*one->cpus));
        one->cpus[0] = (struct role_cpus){"*", arena_strdup(arena, q->cpus)};
        one->cpus_count = 1;
    }
    return 0;
}

/* Profiles may leave the pair count to the thresholds, so this waits for them. */
static int check_pairs(const struct plan *p, struct err *err)
{
    for (size_t i = 0; i < p->profile_count; i++) {
        const struct profile *one = &p->profiles[i];

        if (one->min_complete > plan_pairs(p, one))
            return err_set(err, ERR_CONFIG,
                           "profile '%s': min_complete (%d) is above the number of pairs (%d)",
                           one->name, one->min_complete, plan_pairs(p, one));
    }
    return 0;
}

/* ---- the whole ---- */

static void add_events(struct plan *p, const struct plan_request *q, struct arena *arena)
{
    static const char *const defaults[] = {
        "PERF_COUNT_HW_CPU_CYCLES",       "PERF_COUNT_HW_INSTRUCTIONS",
        "PERF_COUNT_HW_CACHE_REFERENCES", "PERF_COUNT_HW_CACHE_MISSES",
        "PERF_COUNT_HW_BRANCH_MISSES",    "PERF_COUNT_SW_CPU_MIGRATIONS"};

    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
        strings_add(&p->events, arena, defaults[i]);
    for (size_t i = 0; i < q->events.count; i++)
        if (!strings_has(&p->events, q->events.items[i]))
            strings_add(&p->events, arena, arena_strdup(arena, q->events.items[i]));
}

/* Every run reads it from its start; and a pipe or an endless device has no digest. */
static int check_input(const char *path, struct err *err)
{
    struct stat st, null;

    if (stat(path, &st) < 0)
        return err_sys(err, ERR_USAGE, errno, "--input: cannot open '%s'", path);
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_USAGE, "--input: '%s' is a folder", path);
    if (S_ISREG(st.st_mode) ||
        (S_ISCHR(st.st_mode) && stat("/dev/null", &null) == 0 && st.st_rdev == null.st_rdev))
        return 0;
    err_set(err, ERR_USAGE, "--input: '%s' is no regular file", path);
    return err_hint(err, "every run reads it from the start; write it to a file first");
}

static int set_input(struct plan *p, const struct plan_request *q, struct arena *arena,
                     struct err *err)
{
    if (!q->input)
        return 0;
    if (check_input(q->input, err) < 0)
        return -1;
    p->input_path = arena_strdup(arena, q->input);
    p->input = home_hide(p->input_path, arena);
    if (digest_sha256_file(q->input, p->input_sha256, NULL, err) == 0)
        return 0;
    err->code = ERR_USAGE;
    return err_wrap(err, "--input");
}

static int set_scalars(struct plan *p, const struct plan_request *q, struct err *err)
{
    p->command = strcmp(q->command, "compare") == 0 ? "compare" : "run";
    p->analysis = PLAN_ANALYSIS;
    p->aa = q->aa;
    p->allow_failures = q->allow_failures;
    p->unsupported_fail = q->unsupported_fail;
    p->isolation =
        q->isolation && strcmp(q->isolation, "pid-namespace") == 0 ? "pid-namespace" : "subreaper";
    p->seed = 1;
    if (q->seed && !plan_parse_seed(q->seed, &p->seed))
        return err_set(err, ERR_USAGE, "--seed: '%s' is no whole number from 0 to 2^64 - 1",
                       q->seed);
    return 0;
}

/* compare without -n: warm-up runs tell how many pairs fit the time. */
static bool pairs_are_open(const struct plan *p, const struct plan_request *q)
{
    return strcmp(p->command, "compare") == 0 && q->pairs <= 0;
}

static int build(struct plan *p, const struct plan_request *q, struct arena *arena, struct err *err)
{
    if (set_scalars(p, q, err) < 0 || set_input(p, q, arena, err) < 0)
        return -1;
    add_events(p, q, arena);
    if (strcmp(p->command, "compare") == 0)
        make_compare(p, arena);
    else if (load_profiles(p, q, arena, err) < 0)
        return -1;
    if (apply_options(p, q, arena, err) < 0 || plan_apply_impair(p, q, arena, err) < 0 ||
        plan_check_cpus(p, q, arena, err) < 0 || plan_check_networks(p, q, arena, err) < 0 ||
        memory_passes_add(p, q, arena, err) < 0 ||
        env_resolve(&q->env, &p->env, &p->env_count, arena, err) < 0 ||
        variants_resolve(p, q, arena, err) < 0 || thresholds_resolve(p, q, arena, err) < 0 ||
        accepted_resolve(p, q, arena, err) < 0 || check_pairs(p, err) < 0)
        return -1;
    if (plan_check_templates(p, arena, err) < 0)
        return -1;
    return support_check(p, q, arena, err);
}

/* What is measured must be read again: a plan that its reader refuses is refused before any run. */
static int check_readable(struct plan *p, struct err *err)
{
    struct buf text = BUF_INIT;
    struct arena arena = ARENA_INIT;
    struct json *tree = NULL;
    struct plan again;
    const int pairs = p->profiles[0].pairs;
    int status = -1;

    if (pairs < 1)
        p->profiles[0].pairs = 1; /* not known yet */
    if (plan_encode(p, &text, err) == 0 &&
        (tree = json_parse(text.data, text.len, "the plan", err)) != NULL)
        status = plan_decode(&again, tree, "the plan", &arena, err);
    p->profiles[0].pairs = pairs;
    if (status < 0)
        err->code = ERR_CONFIG;
    json_free(tree);
    arena_release(&arena);
    buf_release(&text);
    return status;
}

int plan_build(struct plan *p, const struct plan_request *q, struct arena *arena, struct err *err)
{
    *p = (struct plan){0};
    if (build(p, q, arena, err) < 0 || check_readable(p, err) < 0)
        return -1;
    if (!pairs_are_open(p, q))
        return plan_seal(p, err);
    if (p->profiles[0].warmup < 1)
        p->profiles[0].warmup = 1;
    return 0;
}
