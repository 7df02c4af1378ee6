#include "base/digest.h"
#include "base/json_writer.h"
#include "model/decode.h"
#include "model/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const commands[] = {"run", "compare", "import", NULL};
static const char *const isolations[] = {"pid-namespace", "subreaper", "none", NULL};
static const char *const imports[] = {"", "paired", "unpaired", NULL};
static const char *const unsupported[] = {"skip", "fail", NULL};

/* ---- encoding ---- */

static void encode_lists(const struct plan *p, struct json_writer *w)
{
    jw_key(w, "variants");
    jw_array_begin(w);
    for (size_t i = 0; i < p->variant_count; i++)
        variant_encode(&p->variants[i], w);
    jw_array_end(w);
    jw_key(w, "runners");
    jw_array_begin(w);
    for (size_t i = 0; i < p->runner_count; i++)
        runner_encode(&p->runners[i], w);
    jw_array_end(w);
    jw_key(w, "profiles");
    jw_array_begin(w);
    for (size_t i = 0; i < p->profile_count; i++)
        profile_encode(&p->profiles[i], w);
    jw_array_end(w);
    jw_key(w, "thresholds");
    thresholds_encode(&p->thresholds, w);
    if (p->accepted_count) {
        jw_key(w, "accepted");
        jw_array_begin(w);
        for (size_t i = 0; i < p->accepted_count; i++)
            accepted_encode(&p->accepted[i], w);
        jw_array_end(w);
    }
    jw_key(w, "events");
    jw_array_begin(w);
    for (size_t i = 0; i < p->events.count; i++)
        jw_string(w, p->events.items[i]);
    jw_array_end(w);
}

/* The plan in the order in which it is thought, not yet canonical. */
static void encode_plain(const struct plan *p, struct buf *out)
{
    struct json_writer w;
    char seed[24];

    snprintf(seed, sizeof(seed), "%" PRIu64, p->seed);
    jw_init(&w, out, false);
    jw_object_begin(&w);
    jw_key(&w, "series"), jw_string(&w, p->series);
    jw_key(&w, "command"), jw_string(&w, p->command);
    if (p->import)
        jw_key(&w, "imported"), jw_string(&w, imports[p->import]);
    jw_key(&w, "analysis"), jw_int(&w, p->analysis);
    encode_lists(p, &w);
    jw_key(&w, "seed"), jw_string(&w, seed);
    jw_key(&w, "aa"), jw_bool(&w, p->aa);
    jw_key(&w, "allow_failures"), jw_bool(&w, p->allow_failures);
    jw_key(&w, "unsupported"), jw_string(&w, unsupported[p->unsupported_fail]);
    jw_key(&w, "isolation"), jw_string(&w, p->isolation);
    if (p->input) {
        jw_key(&w, "input"), jw_string(&w, p->input);
        jw_key(&w, "input_sha256"), jw_string(&w, p->input_sha256);
    }
    if (p->heap_sha256[0])
        jw_key(&w, "heap_library_sha256"), jw_string(&w, p->heap_sha256);
    env_encode(p->env, p->env_count, &w);
    jw_object_end(&w);
}

int plan_encode(const struct plan *p, struct buf *out, struct err *err)
{
    struct buf plain = BUF_INIT;
    struct json *tree;
    int status = -1;

    encode_plain(p, &plain);
    tree = json_parse(plain.data, plain.len, "the plan", err);
    if (tree)
        status = json_write_canonical(tree, out, err);
    json_free(tree);
    buf_release(&plain);
    return status;
}

int plan_seal(struct plan *p, struct err *err)
{
    struct buf text = BUF_INIT;
    int status = plan_encode(p, &text, err);

    if (status == 0)
        digest_sha256(text.data, text.len, p->sha256);
    buf_release(&text);
    return status;
}

/* ---- decoding ---- */

static int decode_variants(const struct fields *f, struct plan *p, struct arena *arena,
                           struct err *err)
{
    struct fields list, item = {0};

    if (fields_array(f, "variants", FIELDS_REQUIRED, &list, err) < 0)
        return -1;
    p->variants = decode_room(&list, arena, sizeof(*p->variants), &p->variant_count);
    for (size_t i = 0; fields_next(&list, &item); i++) {
        if (variant_decode(&p->variants[i], item.value, f->file, arena, err) < 0)
            return err_wrap(err, "variant %zu of the plan", i + 1);
        for (size_t k = 0; k < i; k++)
            if (strcmp(p->variants[k].name, p->variants[i].name) == 0)
                return fields_error(&item, err, "variant '%s' is there twice", p->variants[i].name);
    }
    if (p->variant_count < (p->import == IMPORT_UNPAIRED ? 1 : 2))
        return fields_error(&list, err, "has %zu variants: a comparison needs two",
                            p->variant_count);
    return 0;
}

static int decode_runners(const struct fields *f, struct plan *p, struct arena *arena,
                          struct err *err)
{
    struct fields list, item = {0};

    if (fields_array(f, "runners", FIELDS_REQUIRED, &list, err) < 0)
        return -1;
    p->runners = decode_room(&list, arena, sizeof(*p->runners), &p->runner_count);
    for (size_t i = 0; fields_next(&list, &item); i++)
        if (runner_decode(&p->runners[i], item.value, f->file, arena, err) < 0)
            return err_wrap(err, "runner %zu of the plan", i + 1);
    return 0;
}

static int decode_profiles(const struct fields *f, struct plan *p, struct arena *arena,
                           struct err *err)
{
    struct fields list, item = {0};

    if (fields_array(f, "profiles", FIELDS_REQUIRED, &list, err) < 0)
        return -1;
    p->profiles = decode_room(&list, arena, sizeof(*p->profiles), &p->profile_count);
    for (size_t i = 0; fields_next(&list, &item); i++) {
        if (profile_decode(&p->profiles[i], item.value, f->file, arena, err) < 0)
            return err_wrap(err, "profile %zu of the plan", i + 1);
        if (p->profiles[i].matrix_count)
            return fields_error(&item, err, "has a matrix: a plan holds expanded profiles");
    }
    if (p->profile_count == 0)
        return fields_error(&list, err, "has no profiles");
    return 0;
}

static int decode_accepted(const struct fields *f, struct plan *p, struct arena *arena,
                           struct err *err)
{
    struct fields list, item = {0};

    if (fields_array(f, "accepted", FIELDS_OPTIONAL, &list, err) < 0)
        return -1;
    p->accepted = decode_room(&list, arena, sizeof(*p->accepted), &p->accepted_count);
    for (size_t i = 0; fields_next(&list, &item); i++)
        if (accepted_decode(&p->accepted[i], item.value, f->file, arena, err) < 0)
            return err_wrap(err, "accepted change %zu of the plan", i + 1);
    return 0;
}

/* Every runner that a profile or variant names is there. */
static int check_runners(const struct fields *f, const struct plan *p, struct err *err)
{
    for (size_t i = 0; i < p->profile_count; i++)
        for (size_t k = 0; k < p->variant_count; k++)
            if (!plan_runner(p, &p->profiles[i], &p->variants[k]))
                return fields_error(f, err, "the runner '%s' of profile '%s' is not in the plan",
                                    p->variants[k].runner ? p->variants[k].runner
                                                          : p->profiles[i].runner,
                                    p->profiles[i].name);
    return 0;
}

/* The library that counts is part of a plan that has something to count, and of no other. */
static int check_memory(const struct fields *f, const struct plan *p, struct err *err)
{
    if (plan_has_memory_pass(p) == (p->heap_sha256[0] != '\0'))
        return 0;
    return fields_error(f, err,
                        p->heap_sha256[0]
                            ? "'heap_library_sha256' is there, and no profile is a memory pass"
                            : "a profile is a memory pass, and 'heap_library_sha256' is "
                              "missing");
}

static int decode_seed(const struct fields *f, struct plan *p, struct err *err)
{
    const char *text;
    struct fields at;

    if (fields_string(f, "seed", FIELDS_REQUIRED, &text, err) < 0 ||
        fields_child(f, "seed", FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    if (plan_parse_seed(text, &p->seed))
        return 0;
    return fields_error(&at, err, "'%s' is no seed: a whole number from 0 to 2^64 - 1", text);
}

bool plan_parse_seed(const char *text, uint64_t *seed)
{
    char *end;

    if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
        return false;
    errno = 0;
    *seed = strtoull(text, &end, 10);
    return errno == 0;
}

static int decode_hash(const struct fields *f, const char *key, char out[DIGEST_HEX],
                       struct err *err)
{
    const char *hex = NULL;

    if (fields_string(f, key, FIELDS_OPTIONAL, &hex, err) < 0)
        return -1;
    if (!hex)
        return 0;
    if (strlen(hex) != DIGEST_HEX - 1 || strspn(hex, "0123456789abcdef") != DIGEST_HEX - 1)
        return fields_error(f, err, "'%s' is no SHA-256: 64 digits 0-9 a-f", key);
    memcpy(out, hex, DIGEST_HEX);
    return 0;
}

static int decode_scalars(const struct fields *f, struct plan *p, struct arena *arena,
                          struct err *err)
{
    int command = 0, isolation = 0, fail = 0, import = 0;

    if (decode_text(f, "series", FIELDS_REQUIRED, arena, &p->series, err) < 0 ||
        fields_choice(f, "command", FIELDS_REQUIRED, commands, &command, err) < 0 ||
        fields_choice(f, "imported", FIELDS_OPTIONAL, imports, &import, err) < 0 ||
        decode_int(f, "analysis", FIELDS_REQUIRED, 1, 1000000, &p->analysis, err) < 0 ||
        decode_strings(f, "events", FIELDS_REQUIRED, arena, &p->events, err) < 0 ||
        decode_seed(f, p, err) < 0 || fields_bool(f, "aa", FIELDS_REQUIRED, &p->aa, err) < 0 ||
        fields_bool(f, "allow_failures", FIELDS_REQUIRED, &p->allow_failures, err) < 0 ||
        fields_choice(f, "unsupported", FIELDS_REQUIRED, unsupported, &fail, err) < 0 ||
        fields_choice(f, "isolation", FIELDS_REQUIRED, isolations, &isolation, err) < 0 ||
        decode_text(f, "input", FIELDS_OPTIONAL, arena, &p->input, err) < 0 ||
        decode_hash(f, "input_sha256", p->input_sha256, err) < 0 ||
        decode_hash(f, "heap_library_sha256", p->heap_sha256, err) < 0)
        return -1;
    p->command = commands[command];
    p->import = (enum plan_import)import;
    if ((p->import != IMPORT_NONE) != (strcmp(p->command, "import") == 0))
        return fields_error(f, err, "'imported' and the command '%s' do not go together",
                            p->command);
    p->isolation = isolations[isolation];
    p->unsupported_fail = fail == 1;
    return env_decode(f, &p->env, &p->env_count, arena, err);
}

int plan_decode(struct plan *p, const struct json *root, const char *file, struct arena *arena,
                struct err *err)
{
    static const char *const keys[] = {"series",
                                       "command",
                                       "imported",
                                       "analysis",
                                       "variants",
                                       "runners",
                                       "profiles",
                                       "thresholds",
                                       "accepted",
                                       "events",
                                       "seed",
                                       "aa",
                                       "allow_failures",
                                       "unsupported",
                                       "isolation",
                                       "input",
                                       "input_sha256",
                                       "env",
                                       "heap_library_sha256",
                                       NULL};
    struct fields f, thresholds;

    *p = (struct plan){0};
    if (fields_init(&f, file, root, err) < 0 || fields_known(&f, keys, err) < 0 ||
        decode_scalars(&f, p, arena, err) < 0 || decode_variants(&f, p, arena, err) < 0 ||
        decode_runners(&f, p, arena, err) < 0 || decode_profiles(&f, p, arena, err) < 0 ||
        check_runners(&f, p, err) < 0 || check_memory(&f, p, err) < 0 ||
        decode_accepted(&f, p, arena, err) < 0 ||
        fields_object(&f, "thresholds", FIELDS_REQUIRED, &thresholds, err) < 0)
        return -1;
    if (thresholds_decode(&p->thresholds, thresholds.value, file, arena, err) < 0)
        return err_wrap(err, "thresholds of the plan");
    return 0;
}
