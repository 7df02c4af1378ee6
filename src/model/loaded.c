#include "model/loaded.h"

#include <string.h>

#include "base/fields.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "model/decode.h"

#define FORMAT 1
#define HEX "0123456789abcdef"

/* ---- writing ---- */

static void text_of(struct json_writer *w, const char *key, const char *text)
{
    jw_key(w, key);
    jw_string(w, text);
}

static void write_tool(const struct loaded *l, struct json_writer *w)
{
    jw_key(w, "tool");
    jw_object_begin(w);
    text_of(w, "version", l->tool);
    text_of(w, "sha256", l->tool_sha256);
    text_of(w, "build_id", l->tool_build_id);
    jw_object_end(w);
}

static void write_file(const struct loaded_file *f, struct json_writer *w)
{
    jw_object_begin(w);
    text_of(w, "path", f->path);
    text_of(w, "sha256", f->sha256);
    jw_key(w, "size");
    jw_uint(w, f->size_bytes);
    text_of(w, "build_id", f->build_id);
    text_of(w, "soname", f->soname);
    text_of(w, "package", f->package);
    jw_key(w, "compilers");
    jw_array_begin(w);
    for (size_t i = 0; i < f->compilers.count; i++)
        jw_string(w, f->compilers.items[i]);
    jw_array_end(w);
    text_of(w, "reason", f->reason);
    jw_object_end(w);
}

static void write_role(const struct loaded_role *r, struct json_writer *w)
{
    jw_object_begin(w);
    text_of(w, "variant", r->variant);
    text_of(w, "profile", r->profile);
    text_of(w, "role", r->role);
    jw_key(w, "run");
    jw_uint(w, r->run);
    jw_key(w, "looks");
    jw_uint(w, r->looks);
    jw_key(w, "traced");
    jw_bool(w, r->traced);
    text_of(w, "reason", r->reason);
    jw_key(w, "files");
    jw_array_begin(w);
    for (size_t i = 0; i < r->file_count; i++)
        jw_uint(w, r->files[i]);
    jw_array_end(w);
    jw_object_end(w);
}

void loaded_encode(const struct loaded *l, struct buf *out)
{
    struct json_writer w;

    jw_init(&w, out, true);
    jw_object_begin(&w);
    jw_key(&w, "abba");
    jw_int(&w, FORMAT);
    write_tool(l, &w);
    jw_key(&w, "files");
    jw_array_begin(&w);
    for (size_t i = 0; i < l->file_count; i++)
        write_file(&l->files[i], &w);
    jw_array_end(&w);
    jw_key(&w, "roles");
    jw_array_begin(&w);
    for (size_t i = 0; i < l->role_count; i++)
        write_role(&l->roles[i], &w);
    jw_array_end(&w);
    jw_object_end(&w);
    buf_addch(out, '\n');
}

/* ---- reading ---- */

/* Lower-case hex digits: exactly `digits`, or any even number of them with 0. */
static int hex_or_null(const struct fields *f, const char *key, size_t digits, struct arena *arena,
                       const char **out, struct err *err)
{
    size_t len;

    if (decode_text_or_null(f, key, arena, out, err) < 0)
        return -1;
    if (!*out)
        return 0;
    len = strlen(*out);
    if (strspn(*out, HEX) == len && len > 0 && (digits ? len == digits : len % 2 == 0))
        return 0;
    return fields_error(f, err, "%s '%.80s' is not made of %s", key, *out,
                        digits ? "64 digits 0-9 a-f" : "pairs of digits 0-9 a-f");
}

static int whole_number(const struct fields *f, const char *key, uint64_t *out, struct err *err)
{
    int64_t n = 0;

    if (fields_int(f, key, FIELDS_REQUIRED, 0, JSON_MAX_INTEGER, &n, err) < 0)
        return -1;
    *out = (uint64_t)n;
    return 0;
}

static int read_tool(const struct fields *f, struct loaded *l, struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"version", "sha256", "build_id", NULL};
    struct fields tool;

    if (fields_object(f, "tool", FIELDS_REQUIRED, &tool, err) < 0 ||
        fields_known(&tool, keys, err) < 0 ||
        decode_text(&tool, "version", FIELDS_REQUIRED, arena, &l->tool, err) < 0 ||
        hex_or_null(&tool, "sha256", 64, arena, &l->tool_sha256, err) < 0)
        return -1;
    return hex_or_null(&tool, "build_id", 0, arena, &l->tool_build_id, err);
}

static int read_file(const struct fields *f, struct loaded_file *file, struct arena *arena,
                     struct err *err)
{
    static const char *const keys[] = {"path",    "sha256",    "size",   "build_id", "soname",
                                       "package", "compilers", "reason", NULL};

    if (fields_as_object(f, err) < 0 || fields_known(f, keys, err) < 0 ||
        decode_text(f, "path", FIELDS_REQUIRED, arena, &file->path, err) < 0 ||
        hex_or_null(f, "sha256", 64, arena, &file->sha256, err) < 0 ||
        whole_number(f, "size", &file->size_bytes, err) < 0 ||
        hex_or_null(f, "build_id", 0, arena, &file->build_id, err) < 0 ||
        decode_text_or_null(f, "soname", arena, &file->soname, err) < 0 ||
        decode_text_or_null(f, "package", arena, &file->package, err) < 0 ||
        decode_strings(f, "compilers", FIELDS_REQUIRED, arena, &file->compilers, err) < 0 ||
        decode_text_or_null(f, "reason", arena, &file->reason, err) < 0)
        return -1;
    if (!file->sha256 == !file->reason)
        return fields_error(f, err, "a file has either a checksum or a reason for none");
    return 0;
}

static int read_files(const struct fields *f, struct loaded *l, struct arena *arena,
                      struct err *err)
{
    struct fields list, item = {0};

    if (fields_array(f, "files", FIELDS_REQUIRED, &list, err) < 0)
        return -1;
    l->files = arena_array(arena, json_count(list.value), sizeof(*l->files));
    while (fields_next(&list, &item))
        if (read_file(&item, &l->files[l->file_count++], arena, err) < 0)
            return -1;
    return 0;
}

/* The places of a role's files: in the list, and ascending. */
static int read_places(const struct fields *f, const struct loaded *l, struct loaded_role *role,
                       struct arena *arena, struct err *err)
{
    struct fields list, item = {0};
    int64_t least = 0, place;

    if (fields_array(f, "files", FIELDS_REQUIRED, &list, err) < 0)
        return -1;
    role->files = arena_array(arena, json_count(list.value), sizeof(*role->files));
    while (fields_next(&list, &item)) {
        if (fields_as_int(&item, least, (int64_t)l->file_count - 1, &place, err) < 0)
            return -1;
        role->files[role->file_count++] = (size_t)place;
        least = place + 1;
    }
    return 0;
}

static int read_role(const struct fields *f, const struct loaded *l, struct loaded_role *role,
                     struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"variant", "profile", "role",  "run", "looks",
                                       "traced",  "reason",  "files", NULL};

    if (fields_as_object(f, err) < 0 || fields_known(f, keys, err) < 0 ||
        decode_text(f, "variant", FIELDS_REQUIRED, arena, &role->variant, err) < 0 ||
        decode_text(f, "profile", FIELDS_REQUIRED, arena, &role->profile, err) < 0 ||
        decode_text(f, "role", FIELDS_REQUIRED, arena, &role->role, err) < 0 ||
        whole_number(f, "run", &role->run, err) < 0 ||
        whole_number(f, "looks", &role->looks, err) < 0 ||
        fields_bool(f, "traced", FIELDS_OPTIONAL, &role->traced, err) < 0 ||
        decode_text_or_null(f, "reason", arena, &role->reason, err) < 0 ||
        read_places(f, l, role, arena, err) < 0)
        return -1;
    if ((role->file_count == 0) != (role->reason != NULL))
        return fields_error(f, err, "a role has either files or a reason for none");
    return 0;
}

static int read_roles(const struct fields *f, struct loaded *l, struct arena *arena,
                      struct err *err)
{
    struct fields list, item = {0};

    if (fields_array(f, "roles", FIELDS_REQUIRED, &list, err) < 0)
        return -1;
    l->roles = arena_array(arena, json_count(list.value), sizeof(*l->roles));
    while (fields_next(&list, &item))
        if (read_role(&item, l, &l->roles[l->role_count++], arena, err) < 0)
            return -1;
    return 0;
}

int loaded_decode(struct loaded *l, const struct json *root, const char *file, struct arena *arena,
                  struct err *err)
{
    static const char *const keys[] = {"abba", "tool", "files", "roles", NULL};
    struct loaded read = {0};
    struct fields f;
    int64_t format;

    if (fields_init(&f, file, root, err) < 0 || fields_known(&f, keys, err) < 0 ||
        fields_int(&f, "abba", FIELDS_REQUIRED, FORMAT, FORMAT, &format, err) < 0 ||
        read_tool(&f, &read, arena, err) < 0 || read_files(&f, &read, arena, err) < 0 ||
        read_roles(&f, &read, arena, err) < 0)
        return -1;
    *l = read;
    return 0;
}
