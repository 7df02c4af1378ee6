#include "plan/template.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/decode.h"
#include "plan/lookup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What a filling needs to know. */
struct context {
    const struct plan *plan;
    const struct profile *profile;
    const struct variant *variant;
    const struct runner *runner;
    const struct template_values *values;
    struct arena *arena;
};

/* ---- load values in other units ---- */

struct output_unit {
    enum load_type type;
    const char *name;
    int64_t size; /* in ns, bit/s or bytes */
};

/* The first of each type is the one that is written without ":UNIT". */
static const struct output_unit output_units[] = {
    {LOAD_TIME, "s", 1000000000},    {LOAD_TIME, "ms", 1000000},
    {LOAD_TIME, "us", 1000},         {LOAD_TIME, "ns", 1},
    {LOAD_RATE, "bit/s", 1},         {LOAD_RATE, "kbit/s", 1000},
    {LOAD_RATE, "Mbit/s", 1000000},  {LOAD_RATE, "Gbit/s", 1000000000},
    {LOAD_RATE, "B/s", 8},           {LOAD_RATE, "kB/s", 8000},
    {LOAD_RATE, "MB/s", 8000000},    {LOAD_RATE, "KiB/s", 8LL << 10},
    {LOAD_RATE, "MiB/s", 8LL << 20}, {LOAD_SIZE, "B", 1},
    {LOAD_SIZE, "kB", 1000},         {LOAD_SIZE, "MB", 1000000},
    {LOAD_SIZE, "GB", 1000000000},   {LOAD_SIZE, "KiB", 1LL << 10},
    {LOAD_SIZE, "MiB", 1LL << 20},   {LOAD_SIZE, "GiB", 1LL << 30},
};

/* The unit of that name (NULL: the type's base unit), or NULL. */
static const struct output_unit *find_unit(enum load_type type, const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(output_units) / sizeof(output_units[0]); i++) {
        const struct output_unit *u = &output_units[i];

        if (u->type == type &&
            (!name || (strlen(u->name) == len && memcmp(u->name, name, len) == 0)))
            return u;
    }
    return NULL;
}

static int no_such_unit(const struct load_param *p, const char *name, size_t len, struct err *err)
{
    struct buf list = BUF_INIT;

    for (size_t i = 0; i < sizeof(output_units) / sizeof(output_units[0]); i++)
        if (output_units[i].type == p->type)
            buf_printf(&list, "%s'%s'", list.len ? ", " : "", output_units[i].name);
    if (list.len)
        err_set(err, ERR_CONFIG, "unknown unit '%.*s' of '%s'; known: %s", (int)len, name, p->name,
                list.data);
    else
        err_set(err, ERR_CONFIG, "'%s' is of type '%s' and takes no ':%.*s'", p->name,
                load_type_name(p->type), (int)len, name);
    buf_release(&list);
    return -1;
}

/* value / unit as an exact decimal: the units divide powers of 10 and 2, so the digits end. */
static void add_quotient(struct buf *out, int64_t value, int64_t unit)
{
    int64_t rest = value % unit;

    buf_printf(out, "%" PRId64, value / unit);
    if (rest)
        buf_addch(out, '.');
    for (; rest; rest = rest * 10 % unit)
        buf_addch(out, (char)('0' + rest * 10 / unit));
}

static int add_load(const struct context *c, const struct load_param *p, const char *unit_name,
                    size_t unit_len, struct buf *out, struct err *err)
{
    const char *text = profile_load(c->profile, p->name);
    const struct output_unit *unit = find_unit(p->type, unit_name, unit_len);
    int64_t value;

    if (unit_name && !unit)
        return no_such_unit(p, unit_name, unit_len, err);
    if (!text)
        text = p->default_text;
    if (!text)
        return err_set(err, ERR_CONFIG, "profile '%s' does not set '%s', which has no default",
                       c->profile->name, p->name);
    if (load_param_check(p, text, &value, err) < 0)
        return err_wrap(err, "'%s'", p->name);
    if (unit)
        add_quotient(out, value, unit->size);
    else
        buf_add(out, text, strlen(text) - (p->type == LOAD_PERCENT));
    return 0;
}

/* ---- names ---- */

static bool is(const char *name, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(name, word, len) == 0;
}

/* The file of the variant that is named, and whether its folder is meant; NULL: none. */
static const struct variant_file *find_file(const struct variant *v, const char *name, size_t len,
                                            bool *folder)
{
    static const char tail[] = ".folder";
    size_t tail_len = sizeof(tail) - 1;

    *folder = len > tail_len && memcmp(name + len - tail_len, tail, tail_len) == 0;
    len -= *folder ? tail_len : 0;
    for (size_t i = 0; i < v->file_count; i++)
        if (is(name, len, v->files[i].name))
            return &v->files[i];
    return NULL;
}

static void add_file(const struct variant_file *file, bool folder, struct buf *out)
{
    const char *path = file->path ? file->path : "";
    const char *slash = strrchr(path, '/');

    buf_add(out, path, folder && slash ? (size_t)(slash - path) : strlen(path));
}

static int unknown_name(const struct context *c, const char *name, size_t len, struct err *err)
{
    static const char *const fixed[] = {"program", "port", "scratch", "run", "seed"};
    const char *known[5 + 256 + 32];
    char role_address[16][80];
    char found[80];
    size_t count = 0;
    struct buf list = BUF_INIT_MAX(500);
    const char *near;

    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        known[count++] = fixed[i];
    for (size_t i = 0; i < c->runner->role_count && i < 16; i++) {
        snprintf(role_address[i], sizeof(role_address[i]), "%s.address", c->runner->roles[i].name);
        known[count++] = role_address[i];
    }
    for (size_t i = 0; i < c->runner->load_count && count < 5 + 256; i++)
        known[count++] = c->runner->load[i].name;
    for (size_t i = 0; i < c->variant->file_count && i < 32; i++)
        known[count++] = c->variant->files[i].name;
    for (size_t i = 0; i < count; i++)
        if (buf_printf(&list, "%s'%s'", i ? ", " : "", known[i]) < 0)
            break;
    snprintf(found, sizeof(found), "%.*s", len < 70 ? (int)len : 70, name);
    err_set(err, ERR_CONFIG, "unknown name '{%s}'; known: %s", found, list.data);
    near = text_nearest(found, known, count);
    if (near)
        err_hint(err, "did you mean '{%s}'?", near);
    buf_release(&list);
    return -1;
}

/* Index of the role whose address is named, or the number of roles. */
static size_t addressed(const struct context *c, const char *name, size_t len)
{
    static const char tail[] = ".address";
    size_t tail_len = sizeof(tail) - 1;

    if (len <= tail_len || memcmp(name + len - tail_len, tail, tail_len) != 0)
        return c->runner->role_count;
    for (size_t i = 0; i < c->runner->role_count; i++)
        if (is(name, len - tail_len, c->runner->roles[i].name))
            return i;
    return c->runner->role_count;
}

/* The program of another runner, such as one that makes traffic for this one's. */
static int add_shipped(const struct context *c, const char *name, size_t len, struct buf *out,
                       struct err *err)
{
    const char *program = arena_strndup(c->arena, name, len);
    const char *path;

    if (lookup_program(program, program, &path, c->arena, err) < 0)
        return err_wrap(err, "'{shipped.%s}'", program);
    return buf_addstr(out, path);
}

/* One {NAME} or {NAME:UNIT}. */
static int add_name(const struct context *c, const char *name, size_t len, struct buf *out,
                    struct err *err)
{
    const struct template_values *v = c->values;
    const char *colon = memchr(name, ':', len);
    size_t name_len = colon ? (size_t)(colon - name) : len;
    size_t role = addressed(c, name, len);
    bool folder;
    const struct variant_file *file = find_file(c->variant, name, len, &folder);

    for (size_t i = 0; i < c->runner->load_count; i++)
        if (is(name, name_len, c->runner->load[i].name))
            return add_load(c, &c->runner->load[i], colon ? colon + 1 : NULL,
                            colon ? len - name_len - 1 : 0, out, err);
    if (is(name, len, "program"))
        return buf_addstr(out, c->variant->path ? c->variant->path : "");
    if (is(name, len, "port"))
        return buf_printf(out, "%u", v->port);
    if (is(name, len, "scratch"))
        return buf_addstr(out, v->scratch ? v->scratch : "");
    if (is(name, len, "run"))
        return buf_printf(out, "%" PRIu64, v->run);
    if (is(name, len, "seed"))
        return buf_printf(out, "%" PRIu64, v->seed);
    if (role < c->runner->role_count)
        return buf_addstr(out, network_role_address(c->profile->network.topology, role));
    if (len > 8 && memcmp(name, "shipped.", 8) == 0 &&
        decode_is_name(arena_strndup(c->arena, name + 8, len - 8)))
        return add_shipped(c, name + 8, len - 8, out, err);
    if (file) {
        add_file(file, folder, out);
        return 0;
    }
    return unknown_name(c, name, len, err);
}

/* ---- texts ---- */

static int fill(const struct context *c, const char *text, struct buf *out, struct err *err)
{
    while (*text) {
        size_t plain = strcspn(text, "{");
        const char *end;

        buf_add(out, text, plain);
        text += plain;
        if (*text == '\0')
            break;
        if (text[1] == '{') {
            buf_addch(out, '{');
            text += 2;
            continue;
        }
        end = strchr(text, '}');
        if (!end) {
            err_set(err, ERR_CONFIG, "a '{' has no '}': '%.80s'", text);
            return err_hint(err, "a brace that is meant as such is written '{{'");
        }
        if (add_name(c, text + 1, (size_t)(end - text - 1), out, err) < 0)
            return -1;
        text = end + 1;
    }
    return 0;
}

int template_fill(const char *text, const struct plan *plan, const struct profile *profile,
                  const struct variant *variant, const struct template_values *values,
                  const char **out, struct arena *arena, struct err *err)
{
    struct context c = {plan, profile, variant, plan_runner(plan, profile, variant), values, arena};
    struct buf filled = BUF_INIT;
    int status = fill(&c, text, &filled, err);

    if (status == 0)
        *out = arena_strdup(arena, filled.data);
    buf_release(&filled);
    return status;
}

const char *template_fill_files(const char *text, const struct variant *v, struct arena *arena)
{
    struct buf out = BUF_INIT;
    const char *filled = text;

    if (v->file_count == 0 || !strchr(text, '{'))
        return text;
    while (*text) {
        size_t len = text[0] == '{' ? strcspn(text, "}") : 0;
        bool folder;
        const struct variant_file *file =
            len > 1 && text[len] ? find_file(v, text + 1, len - 1, &folder) : NULL;

        if (file)
            add_file(file, folder, &out);
        else
            buf_addch(&out, text[0]);
        text += file ? len + 1 : 1;
    }
    filled = arena_strdup(arena, out.data);
    buf_release(&out);
    return filled;
}

bool template_varies(const char *text)
{
    static const char *const names[] = {"{port}", "{scratch}", "{run}", "{seed}"};

    for (const char *p = strchr(text, '{'); p; p = strchr(p, '{')) {
        if (p[1] == '{') {
            p += 2;
            continue;
        }
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            if (strncmp(p, names[i], strlen(names[i])) == 0)
                return true;
        p++;
    }
    return false;
}
