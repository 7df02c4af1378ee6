#include "model/variant.h"

#include "base/json_writer.h"
#include "base/secrets.h"
#include "base/units.h"
#include "base/words.h"
#include "model/decode.h"

#include <ctype.h>
#include <string.h>

bool variant_env_name_ok(const char *name)
{
    return name[0] != '\0' && !strchr(name, '=') && strncmp(name, "ABBA_PAD", 8) != 0;
}

/* ---- decoding ---- */

int env_decode(const struct fields *f, struct env_setting **env, size_t *count, struct arena *arena,
               struct err *err)
{
    struct fields list, item = {0};
    const char *value;

    if (fields_object(f, "env", FIELDS_OPTIONAL, &list, err) < 0)
        return -1;
    *env = decode_room(&list, arena, sizeof(**env), count);
    for (size_t i = 0; fields_next(&list, &item); i++) {
        if (!variant_env_name_ok(item.key))
            return fields_error(&item, err, "'%s' cannot be set: %s", item.key,
                                strncmp(item.key, "ABBA_PAD", 8) == 0 ? "abba sets it itself"
                                                                      : "it is no variable's name");
        if (fields_as_string(&item, &value, err) < 0)
            return -1;
        (*env)[i] = (struct env_setting){arena_strdup(arena, item.key), arena_strdup(arena, value)};
    }
    decode_sort(*env, *count, sizeof(**env));
    return 0;
}

static int decode_sha256(const struct fields *f, char out[65], struct arena *arena, struct err *err)
{
    const char *hex = "";
    struct fields at;

    if (decode_text(f, "sha256", FIELDS_OPTIONAL, arena, &hex, err) < 0)
        return -1;
    if (hex[0] && (strlen(hex) != 64 || strspn(hex, "0123456789abcdef") != 64)) {
        if (fields_child(f, "sha256", FIELDS_REQUIRED, &at, err) < 0)
            return -1;
        return fields_error(&at, err, "'%s' is no SHA-256: 64 digits 0-9 a-f", hex);
    }
    memcpy(out, hex, strlen(hex) + 1);
    return 0;
}

/* "lib": "build/libfoo.so", or with what it must be. */
static int decode_file(const struct fields *f, struct variant_file *file, struct arena *arena,
                       struct err *err)
{
    static const char *const keys[] = {"file", "sha256", "size", NULL};

    if (decode_key_is_name(f, "file", err) < 0)
        return -1;
    file->name = arena_strdup(arena, f->key);
    if (json_kind(f->value) == JSON_STRING) {
        file->file = arena_strdup(arena, json_string(f->value));
    } else if (fields_as_object(f, err) < 0 || fields_known(f, keys, err) < 0 ||
               decode_text(f, "file", FIELDS_REQUIRED, arena, &file->file, err) < 0 ||
               decode_sha256(f, file->sha256, arena, err) < 0 ||
               fields_size_bytes(f, "size", FIELDS_OPTIONAL, &file->size_bytes, err) < 0) {
        return -1;
    }
    return file->file[0] ? 0 : fields_error(f, err, "the name of the file is empty");
}

static int decode_files(const struct fields *f, struct variant *v, struct arena *arena,
                        struct err *err)
{
    struct fields list, item = {0};

    if (fields_object(f, "files", FIELDS_OPTIONAL, &list, err) < 0)
        return -1;
    v->files = decode_room(&list, arena, sizeof(*v->files), &v->file_count);
    for (size_t i = 0; fields_next(&list, &item); i++)
        if (decode_file(&item, &v->files[i], arena, err) < 0)
            return -1;
    decode_sort(v->files, v->file_count, sizeof(*v->files));
    return 0;
}

/* What a variant and its part for one role have in common. */
static int decode_part(const struct fields *f, struct variant *v, struct arena *arena,
                       struct err *err)
{
    if (decode_text(f, "program", FIELDS_OPTIONAL, arena, &v->program, err) < 0 ||
        decode_strings(f, "args", FIELDS_OPTIONAL, arena, &v->args, err) < 0 ||
        env_decode(f, &v->env, &v->env_count, arena, err) < 0 ||
        decode_files(f, v, arena, err) < 0 || decode_sha256(f, v->sha256, arena, err) < 0 ||
        fields_size_bytes(f, "size", FIELDS_OPTIONAL, &v->size_bytes, err) < 0)
        return -1;
    if (v->program && v->program[0] == '\0')
        return fields_error(f, err, "'program' is empty");
    return 0;
}

static int decode_role(const struct fields *f, struct variant_role *role, struct arena *arena,
                       struct err *err)
{
    static const char *const keys[] = {"program", "args", "env", "files", "sha256", "size", NULL};

    if (decode_key_is_name(f, "role", err) < 0)
        return -1;
    role->name = arena_strdup(arena, f->key);
    if (fields_as_object(f, err) < 0 || fields_known(f, keys, err) < 0)
        return -1;
    role->has_args = fields_has(f, "args");
    return decode_part(f, &role->part, arena, err);
}

static int decode_roles(const struct fields *f, struct variant *v, struct arena *arena,
                        struct err *err)
{
    struct fields list, item = {0};

    if (fields_object(f, "roles", FIELDS_OPTIONAL, &list, err) < 0)
        return -1;
    v->roles = decode_room(&list, arena, sizeof(*v->roles), &v->role_count);
    for (size_t i = 0; fields_next(&list, &item); i++) {
        if (decode_role(&item, &v->roles[i], arena, err) < 0)
            return -1;
        v->roles[i].part.name = v->name;
        v->roles[i].part.runner = v->runner;
    }
    decode_sort(v->roles, v->role_count, sizeof(*v->roles));
    return 0;
}

/* Any JSON, kept as text. It is part of the plan's hash, so its numbers must be integers. */
static int decode_source(const struct fields *f, struct variant *v, struct arena *arena,
                         struct err *err)
{
    struct buf text = BUF_INIT;
    struct fields at;
    struct err why;
    int status = 0;

    if (fields_child(f, "source", FIELDS_OPTIONAL, &at, err) < 0)
        return -1;
    if (!at.value)
        return 0;
    if (json_write_canonical(at.value, &text, &why) < 0)
        status = fields_error(&at, err, "%s", why.msg);
    else
        v->source_json = arena_strdup(arena, text.data);
    buf_release(&text);
    return status;
}

int variant_decode(struct variant *v, const struct json *root, const char *file,
                   struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"variant", "description", "runner",  "program", "args",
                                       "env",     "files",       "roles",   "control", "source",
                                       "sha256",  "size",        "display", "place",   NULL};
    struct fields f, at;

    *v = (struct variant){0};
    if (fields_init(&f, file, root, err) < 0 || fields_known(&f, keys, err) < 0 ||
        decode_text(&f, "variant", FIELDS_REQUIRED, arena, &v->name, err) < 0 ||
        fields_child(&f, "variant", FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    if (!decode_is_name(v->name))
        return fields_error(&at, err,
                            "'%s' cannot name a variant: allowed are letters, digits, "
                            "'.', '_' and '-'",
                            v->name);
    if (decode_text(&f, "description", FIELDS_OPTIONAL, arena, &v->description, err) < 0 ||
        decode_text(&f, "runner", FIELDS_OPTIONAL, arena, &v->runner, err) < 0 ||
        decode_part(&f, v, arena, err) < 0 || decode_roles(&f, v, arena, err) < 0 ||
        fields_bool(&f, "control", FIELDS_OPTIONAL, &v->control, err) < 0 ||
        decode_source(&f, v, arena, err) < 0 ||
        decode_text(&f, "display", FIELDS_OPTIONAL, arena, &v->display, err) < 0 ||
        decode_int(&f, "place", FIELDS_OPTIONAL, 1, 1000, &v->place, err) < 0)
        return -1;
    if (!v->display)
        v->display = variant_display(v, arena);
    return 0;
}

/* ---- encoding ---- */

void env_encode(const struct env_setting *env, size_t count, struct json_writer *w)
{
    struct arena arena = ARENA_INIT;

    jw_key(w, "env");
    jw_object_begin(w);
    for (size_t i = 0; i < count; i++) {
        jw_key(w, env[i].name);
        jw_string(w, secrets_mask_setting(env[i].name, env[i].value, NULL, &arena));
    }
    jw_object_end(w);
    arena_release(&arena);
}

static void key_text(struct json_writer *w, const char *key, const char *text)
{
    if (!text || !text[0])
        return;
    jw_key(w, key);
    jw_string(w, text);
}

/* A digest and a size, where they are known. */
static void encode_content(const char *sha256, uint64_t size_bytes, struct json_writer *w)
{
    char size[UNITS_TEXT];

    key_text(w, "sha256", sha256);
    if (!sha256[0])
        return;
    units_canonical_size(size_bytes, size);
    key_text(w, "size", size);
}

static void encode_files(const struct variant *v, struct json_writer *w)
{
    if (v->file_count == 0)
        return;
    jw_key(w, "files");
    jw_object_begin(w);
    for (size_t i = 0; i < v->file_count; i++) {
        jw_key(w, v->files[i].name);
        jw_object_begin(w);
        key_text(w, "file", v->files[i].file);
        encode_content(v->files[i].sha256, v->files[i].size_bytes, w);
        jw_object_end(w);
    }
    jw_object_end(w);
}

static void encode_args(const struct strings *args, struct json_writer *w)
{
    struct arena arena = ARENA_INIT;

    jw_key(w, "args");
    jw_array_begin(w);
    for (size_t i = 0; i < args->count; i++)
        jw_string(w, secrets_mask_item(args, i, NULL, &arena));
    jw_array_end(w);
    arena_release(&arena);
}

static void encode_roles(const struct variant *v, struct json_writer *w)
{
    if (v->role_count == 0)
        return;
    jw_key(w, "roles");
    jw_object_begin(w);
    for (size_t i = 0; i < v->role_count; i++) {
        const struct variant_role *role = &v->roles[i];

        jw_key(w, role->name);
        jw_object_begin(w);
        key_text(w, "program", role->part.program);
        if (role->has_args)
            encode_args(&role->part.args, w);
        env_encode(role->part.env, role->part.env_count, w);
        encode_files(&role->part, w);
        encode_content(role->part.sha256, role->part.size_bytes, w);
        jw_object_end(w);
    }
    jw_object_end(w);
}

void variant_encode(const struct variant *v, struct json_writer *w)
{
    struct arena arena = ARENA_INIT;

    jw_object_begin(w);
    key_text(w, "variant", v->name);
    key_text(w, "description", v->description);
    key_text(w, "runner", v->runner);
    key_text(w, "program", v->program);
    encode_args(&v->args, w);
    env_encode(v->env, v->env_count, w);
    encode_files(v, w);
    encode_roles(v, w);
    if (v->control)
        jw_key(w, "control"), jw_bool(w, true);
    if (v->source_json) {
        const char *source = secrets_mask(v->source_json, NULL, &arena);

        jw_key(w, "source"), jw_raw(w, source, strlen(source));
    }
    encode_content(v->sha256, v->size_bytes, w);
    key_text(w, "display", v->display);
    if (v->place)
        jw_key(w, "place"), jw_int(w, v->place);
    jw_object_end(w);
    arena_release(&arena);
}

const char *variant_display(const struct variant *v, struct arena *arena)
{
    struct buf text = BUF_INIT;
    const char *display;

    for (size_t i = 0; i < v->env_count; i++)
        buf_printf(&text, "%s=%s ", v->env[i].name, v->env[i].value);
    words_quote(&text, &v->program, v->program ? 1 : 0);
    if (v->args.count) {
        if (v->program)
            buf_addch(&text, ' ');
        words_quote(&text, v->args.items, v->args.count);
    }
    display = arena_strdup(arena, text.len ? text.data : v->name);
    buf_release(&text);
    return display;
}

/* ---- secrets ---- */

void env_secrets(const struct env_setting *env, size_t count, struct strings *found,
                 struct arena *arena)
{
    for (size_t i = 0; i < count; i++)
        secrets_mask_setting(env[i].name, env[i].value, found, arena);
}

void variant_secrets(const struct variant *v, struct strings *found, struct arena *arena)
{
    for (size_t i = 0; i < v->args.count; i++)
        secrets_mask_item(&v->args, i, found, arena);
    env_secrets(v->env, v->env_count, found, arena);
    if (v->source_json)
        secrets_mask(v->source_json, found, arena);
    for (size_t i = 0; i < v->role_count; i++)
        variant_secrets(&v->roles[i].part, found, arena);
}

/* The text with *** in the place of each secret, wherever it stands. */
static const char *without(const char *text, const struct strings *secrets, struct arena *arena)
{
    for (size_t i = 0; i < secrets->count; i++) {
        const char *secret = secrets->items[i], *at = strstr(text, secret);

        while (at) {
            size_t start = (size_t)(at - text);

            text = arena_printf(arena, "%.*s" SECRETS_MASK "%s", (int)start, text,
                                at + strlen(secret));
            at = strstr(text + start + strlen(SECRETS_MASK), secret);
        }
    }
    return text;
}

const char *variant_display_masked(const struct variant *v, struct arena *arena)
{
    struct strings secrets = {0};

    if (!v->display)
        return NULL;
    variant_secrets(v, &secrets, arena);
    return secrets_mask(without(v->display, &secrets, arena), NULL, arena);
}

bool variant_lacks_secret(const struct variant *v)
{
    bool lacks = false;

    for (size_t i = 0; i < v->args.count; i++)
        lacks |= strstr(v->args.items[i], SECRETS_MASK) != NULL;
    for (size_t i = 0; i < v->env_count; i++)
        lacks |= strstr(v->env[i].value, SECRETS_MASK) != NULL;
    for (size_t i = 0; i < v->role_count; i++)
        lacks |= variant_lacks_secret(&v->roles[i].part);
    return lacks;
}

static bool has_secret(const struct variant *v)
{
    struct arena arena = ARENA_INIT;
    struct strings secrets = {0};
    bool any;

    variant_secrets(v, &secrets, &arena);
    any = secrets.count > 0 || variant_lacks_secret(v);
    arena_release(&arena);
    return any;
}

/* ---- comparing ---- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_settings(const struct variant *a, const struct variant *b)
{
    if (a->args.count != b->args.count || a->env_count != b->env_count)
        return false;
    for (size_t i = 0; i < a->args.count; i++)
        if (strcmp(a->args.items[i], b->args.items[i]) != 0)
            return false;
    for (size_t i = 0; i < a->env_count; i++)
        if (strcmp(a->env[i].name, b->env[i].name) != 0 ||
            strcmp(a->env[i].value, b->env[i].value) != 0)
            return false;
    return !has_secret(a) && !has_secret(b);
}

static bool same_files(const struct variant *a, const struct variant *b)
{
    if (a->file_count != b->file_count)
        return false;
    for (size_t i = 0; i < a->file_count; i++)
        if (strcmp(a->files[i].name, b->files[i].name) != 0 || !a->files[i].sha256[0] ||
            strcmp(a->files[i].sha256, b->files[i].sha256) != 0)
            return false;
    return true;
}

/* Program, arguments, environment and files. */
static bool same_part(const struct variant *a, const struct variant *b)
{
    return a->sha256[0] && strcmp(a->sha256, b->sha256) == 0 && same_settings(a, b) &&
           same_files(a, b);
}

bool variant_identical(const struct variant *a, const struct variant *b)
{
    if (a->place != b->place || !same_text(a->runner, b->runner) || !same_part(a, b))
        return false;
    for (size_t i = 0; i < a->role_count; i++)
        if (!same_part(&a->roles[i].part, variant_of_role(b, a->roles[i].name)))
            return false;
    for (size_t i = 0; i < b->role_count; i++)
        if (!same_part(&b->roles[i].part, variant_of_role(a, b->roles[i].name)))
            return false;
    return true;
}

const struct variant *variant_of_role(const struct variant *v, const char *role)
{
    for (size_t i = 0; i < v->role_count; i++)
        if (strcmp(v->roles[i].name, role) == 0)
            return &v->roles[i].part;
    return v;
}
