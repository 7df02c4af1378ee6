#include "model/lab.h"

#include <string.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/json_writer.h"
#include "model/decode.h"

#define FORMAT 1

void lab_seal(struct lab *l)
{
    struct buf text = BUF_INIT;
    struct json_writer w;

    jw_init(&w, &text, false);
    jw_object_begin(&w);
    jw_key(&w, "comparisons");
    jw_array_begin(&w);
    for (size_t i = 0; i < l->comparison_count; i++) {
        jw_object_begin(&w);
        jw_key(&w, "comparison");
        jw_string(&w, l->comparisons[i].name);
        jw_key(&w, "plan_sha256");
        jw_string(&w, l->comparisons[i].plan.sha256);
        jw_object_end(&w);
    }
    jw_array_end(&w);
    jw_key(&w, "series");
    jw_string(&w, l->name);
    jw_object_end(&w);
    digest_sha256(text.data, text.len, l->sha256);
    buf_release(&text);
}

uint64_t lab_run_count(const struct lab *l)
{
    uint64_t runs = 0;

    for (size_t i = 0; i < l->comparison_count; i++)
        runs += plan_run_count(&l->comparisons[i].plan);
    return runs;
}

/* ---- writing ---- */

static int encode_comparison(const struct lab_comparison *c, struct json_writer *w, struct err *err)
{
    struct buf plan = BUF_INIT;
    int rc = plan_encode(&c->plan, &plan, err);

    jw_object_begin(w);
    jw_key(w, "comparison");
    jw_string(w, c->name);
    jw_key(w, "description");
    jw_string(w, c->description);
    jw_key(w, "folder");
    jw_string(w, c->folder);
    jw_key(w, "plan_sha256");
    jw_string(w, c->plan.sha256);
    jw_key(w, "plan");
    jw_raw(w, plan.data, plan.len);
    jw_object_end(w);
    buf_release(&plan);
    return rc;
}

int lab_encode(const struct lab *l, const char *tool, const char *started, struct buf *out,
               struct err *err)
{
    struct buf text = BUF_INIT;
    struct json_writer w;
    struct json *tree;

    jw_init(&w, &text, false);
    jw_object_begin(&w);
    jw_key(&w, "abba");
    jw_int(&w, FORMAT);
    jw_key(&w, "tool");
    jw_string(&w, tool);
    jw_key(&w, "started");
    jw_string(&w, started);
    jw_key(&w, "series");
    jw_string(&w, l->name);
    jw_key(&w, "description");
    jw_string(&w, l->description);
    jw_key(&w, "lab_sha256");
    jw_string(&w, l->sha256);
    jw_key(&w, "comparisons");
    jw_array_begin(&w);
    for (size_t i = 0; i < l->comparison_count; i++) {
        if (encode_comparison(&l->comparisons[i], &w, err) < 0) {
            buf_release(&text);
            return -1;
        }
    }
    jw_array_end(&w);
    jw_object_end(&w);
    tree = json_parse(text.data, text.len, "lab.json", err);
    buf_release(&text);
    if (!tree)
        return -1;
    json_write_pretty(tree, out);
    buf_addch(out, '\n');
    json_free(tree);
    return 0;
}

/* ---- reading ---- */

static int decode_maybe(const struct fields *f, const char *key, const char **out, struct err *err)
{
    struct fields at;

    *out = NULL;
    if (fields_child(f, key, FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    return json_kind(at.value) == JSON_NULL ? 0 : fields_as_string(&at, out, err);
}

/* The plan, whose hash must come out again. */
static int decode_plan(const struct fields *f, struct plan *plan, struct arena *arena,
                       struct err *err)
{
    struct fields at;
    const char *stated;

    if (fields_string(f, "plan_sha256", FIELDS_REQUIRED, &stated, err) < 0 ||
        fields_object(f, "plan", FIELDS_REQUIRED, &at, err) < 0 ||
        plan_decode(plan, at.value, f->file, arena, err) < 0 || plan_seal(plan, err) < 0)
        return -1;
    if (strcmp(plan->sha256, stated) == 0)
        return 0;
    return fields_error(&at, err, "the plan is not the one that was hashed: it gives %.16s...",
                        plan->sha256);
}

/* A folder's name leads nowhere but into the lab's. */
static int decode_folder(const struct fields *f, struct lab_comparison *c, struct err *err)
{
    if (fields_string(f, "folder", FIELDS_REQUIRED, &c->folder, err) < 0)
        return -1;
    return decode_is_name(c->folder) ? 0 : fields_error(f, err, "'folder' is no name");
}

static int decode_comparison(const struct fields *f, struct lab_comparison *c, struct arena *arena,
                             struct err *err)
{
    static const char *const keys[] = {"comparison",  "description", "folder",
                                       "plan_sha256", "plan",        NULL};

    if (fields_as_object(f, err) < 0 || fields_known(f, keys, err) < 0 ||
        fields_string(f, "comparison", FIELDS_REQUIRED, &c->name, err) < 0 ||
        decode_maybe(f, "description", &c->description, err) < 0 || decode_folder(f, c, err) < 0)
        return -1;
    return decode_plan(f, &c->plan, arena, err);
}

static int decode_comparisons(const struct fields *f, struct lab *l, struct arena *arena,
                              struct err *err)
{
    struct fields list, item = {0};

    if (fields_array(f, "comparisons", FIELDS_REQUIRED, &list, err) < 0)
        return -1;
    l->comparisons = decode_room(&list, arena, sizeof(*l->comparisons), &l->comparison_count);
    for (size_t i = 0; fields_next(&list, &item); i++) {
        if (decode_comparison(&item, &l->comparisons[i], arena, err) < 0)
            return -1;
        for (size_t k = 0; k < i; k++)
            if (strcmp(l->comparisons[k].folder, l->comparisons[i].folder) == 0)
                return fields_error(&item, err, "the folder '%s' is there twice",
                                    l->comparisons[i].folder);
    }
    return l->comparison_count ? 0 : fields_error(&list, err, "no comparison");
}

static int decode_all(struct lab *l, const struct fields *f, struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"abba",        "tool",       "started",     "series",
                                       "description", "lab_sha256", "comparisons", NULL};
    const char *stated, *text;
    int64_t format;

    if (fields_int(f, "abba", FIELDS_REQUIRED, 1, JSON_MAX_INTEGER, &format, err) < 0)
        return -1;
    if (format != FORMAT)
        return fields_error(f, err, "format %lld is not known", (long long)format);
    if (fields_known(f, keys, err) < 0 ||
        fields_string(f, "tool", FIELDS_REQUIRED, &text, err) < 0 ||
        fields_string(f, "started", FIELDS_REQUIRED, &text, err) < 0 ||
        fields_string(f, "series", FIELDS_REQUIRED, &l->name, err) < 0 ||
        decode_maybe(f, "description", &l->description, err) < 0 ||
        fields_string(f, "lab_sha256", FIELDS_REQUIRED, &stated, err) < 0 ||
        decode_comparisons(f, l, arena, err) < 0)
        return -1;
    lab_seal(l);
    if (strcmp(l->sha256, stated) == 0)
        return 0;
    return fields_error(f, err,
                        "the comparisons are not those that were hashed: lab_sha256 is "
                        "%.16s..., theirs is %.16s...",
                        stated, l->sha256);
}

int lab_decode(struct lab *l, const struct json *root, const char *file, struct arena *arena,
               struct err *err)
{
    struct fields f;

    *l = (struct lab){0};
    if (fields_init(&f, file, root, err) == 0 && decode_all(l, &f, arena, err) == 0)
        return 0;
    err->code = ERR_ARCHIVE;
    return -1;
}
