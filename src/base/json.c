#include "base/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"

/* cJSON_ParseWithLength needs no setlocale: it reads numbers by strtod in the "C" locale that a
 * program starts with. */

static const cJSON *node(const struct json *j)
{
    return (const cJSON *)j;
}

const char *json_kind_name(enum json_kind kind)
{
    static const char *const names[] = {"null", "boolean", "number", "string", "array", "object"};

    return names[kind];
}

struct json *json_parse(const char *text, size_t len, const char *name, struct err *err)
{
    return json_parse_with(text, len, name, NULL, err);
}

struct json *json_parse_with(const char *text, size_t len, const char *name,
                             const struct json_rules *rules, struct err *err)
{
    if (json_scan(text, len, name, rules, err) < 0)
        return NULL;
    /* The scanner's grammar is narrower than cJSON's, so only memory can be wanting here. */
    cJSON *root = cJSON_ParseWithLength(text, len);
    if (root == NULL)
        mem_exhausted(len);
    return (struct json *)root;
}

void json_free(struct json *j)
{
    cJSON_Delete((cJSON *)j);
}

enum json_kind json_kind(const struct json *j)
{
    switch (node(j)->type & 0xFF) {
    case cJSON_False:
    case cJSON_True:
        return JSON_BOOL;
    case cJSON_Number:
        return JSON_NUMBER;
    case cJSON_String:
        return JSON_STRING;
    case cJSON_Array:
        return JSON_ARRAY;
    case cJSON_Object:
        return JSON_OBJECT;
    default:
        return JSON_NULL;
    }
}

const struct json *json_first(const struct json *j)
{
    return cJSON_IsArray(node(j)) || cJSON_IsObject(node(j)) ? (const struct json *)node(j)->child
                                                             : NULL;
}

const struct json *json_next(const struct json *j)
{
    return (const struct json *)node(j)->next;
}

const struct json *json_get(const struct json *object, const char *key)
{
    if (json_kind(object) != JSON_OBJECT)
        return NULL;
    for (const cJSON *n = node(object)->child; n != NULL; n = n->next) {
        if (strcmp(n->string, key) == 0)
            return (const struct json *)n;
    }
    return NULL;
}

size_t json_count(const struct json *j)
{
    size_t count = 0;

    for (const struct json *n = json_first(j); n != NULL; n = json_next(n))
        count++;
    return count;
}

const char *json_key(const struct json *j)
{
    return node(j)->string;
}

const char *json_string(const struct json *j)
{
    ABBA_ASSERT(json_kind(j) == JSON_STRING);
    return node(j)->valuestring;
}

double json_number(const struct json *j)
{
    ABBA_ASSERT(json_kind(j) == JSON_NUMBER);
    return node(j)->valuedouble;
}

bool json_bool(const struct json *j)
{
    ABBA_ASSERT(json_kind(j) == JSON_BOOL);
    return cJSON_IsTrue(node(j));
}

bool json_integer(const struct json *j, int64_t *out)
{
    if (json_kind(j) != JSON_NUMBER)
        return false;
    double value = json_number(j);
    if (!(fabs(value) <= (double)JSON_MAX_INTEGER) || value != (double)(int64_t)value)
        return false;
    *out = (int64_t)value;
    return true;
}

/* ---- pointers ---- */

/* One reference token with ~0 and ~1 undone; false if another ~ is in it. */
static bool pointer_token(const char **p, struct buf *token)
{
    const char *s = *p + 1;

    buf_clear(token);
    for (; *s != '\0' && *s != '/'; s++) {
        if (*s != '~') {
            buf_addch(token, *s);
            continue;
        }
        s++;
        if (*s != '0' && *s != '1')
            return false;
        buf_addch(token, *s == '0' ? '~' : '/');
    }
    *p = s;
    return true;
}

/* RFC 6901 section 4: digits without a leading zero. */
static const struct json *item_named(const struct json *array, const char *token)
{
    const struct json *item = json_first(array);
    size_t index = 0;
    size_t len = strlen(token);

    if (len == 0 || len > 9 || (token[0] == '0' && len > 1))
        return NULL;
    for (; *token != '\0'; token++) {
        if (*token < '0' || *token > '9')
            return NULL;
        index = index * 10 + (size_t)(*token - '0');
    }
    while (item != NULL && index-- > 0)
        item = json_next(item);
    return item;
}

const struct json *json_pointer(const struct json *root, const char *pointer)
{
    struct buf token = BUF_INIT;
    const struct json *j = root;

    while (j != NULL && *pointer != '\0') {
        if (*pointer != '/' || !pointer_token(&pointer, &token))
            j = NULL;
        else if (json_kind(j) == JSON_ARRAY)
            j = item_named(j, token.data);
        else
            j = json_get(j, token.data);
    }
    buf_release(&token);
    return j;
}

/* ---- writing ---- */

static void write_value(struct json_writer *w, const struct json *j)
{
    switch (json_kind(j)) {
    case JSON_NULL:
        jw_null(w);
        break;
    case JSON_BOOL:
        jw_bool(w, json_bool(j));
        break;
    case JSON_NUMBER:
        jw_double(w, json_number(j));
        break;
    case JSON_STRING:
        jw_string(w, json_string(j));
        break;
    case JSON_ARRAY:
        jw_array_begin(w);
        for (const struct json *n = json_first(j); n != NULL; n = json_next(n))
            write_value(w, n);
        jw_array_end(w);
        break;
    case JSON_OBJECT:
        jw_object_begin(w);
        for (const struct json *n = json_first(j); n != NULL; n = json_next(n)) {
            jw_key(w, json_key(n));
            write_value(w, n);
        }
        jw_object_end(w);
        break;
    }
}

void json_write(const struct json *j, struct buf *out)
{
    struct json_writer w;

    jw_init(&w, out, false);
    write_value(&w, j);
}

void json_write_pretty(const struct json *j, struct buf *out)
{
    struct json_writer w;

    jw_init(&w, out, true);
    write_value(&w, j);
}

/* ---- the canonical form ---- */

/* The way to a value, for messages. */
struct place {
    const struct place *parent;
    const char *key; /* NULL for an item */
    size_t index;
};

static void add_place(struct buf *out, const struct place *place)
{
    if (place == NULL) {
        buf_addch(out, '$');
        return;
    }
    add_place(out, place->parent);
    if (place->key == NULL) {
        buf_printf(out, "[%zu]", place->index);
        return;
    }
    buf_addch(out, '.');
    text_neutral(out, place->key, strlen(place->key), 80);
}

static int not_canonical(const struct place *place, const char *what, struct err *err)
{
    struct buf path = BUF_INIT_MAX(512);

    add_place(&path, place);
    err_set(err, ERR_CONFIG, "%s: %s", path.data, what);
    buf_release(&path);
    return -1;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(json_key(*(const struct json *const *)a),
                  json_key(*(const struct json *const *)b));
}

static int write_canonical(const struct json *j, const struct place *place, struct buf *out,
                           struct err *err);

static int canonical_object(const struct json *j, const struct place *place, struct buf *out,
                            struct err *err)
{
    size_t count = json_count(j);
    const struct json **members = xreallocarray(NULL, count, sizeof *members);
    size_t i = 0;
    int rc = 0;

    for (const struct json *n = json_first(j); n != NULL; n = json_next(n))
        members[i++] = n;
    qsort(members, count, sizeof *members, by_key);
    buf_addch(out, '{');
    for (i = 0; i < count && rc == 0; i++) {
        struct place here = {place, json_key(members[i]), 0};
        if (i > 0)
            buf_addch(out, ',');
        json_quote(out, here.key, strlen(here.key));
        buf_addch(out, ':');
        rc = write_canonical(members[i], &here, out, err);
    }
    buf_addch(out, '}');
    free(members);
    return rc;
}

static int canonical_array(const struct json *j, const struct place *place, struct buf *out,
                           struct err *err)
{
    struct place here = {place, NULL, 0};

    buf_addch(out, '[');
    for (const struct json *n = json_first(j); n != NULL; n = json_next(n)) {
        if (here.index > 0)
            buf_addch(out, ',');
        if (write_canonical(n, &here, out, err) < 0)
            return -1;
        here.index++;
    }
    buf_addch(out, ']');
    return 0;
}

static int write_canonical(const struct json *j, const struct place *place, struct buf *out,
                           struct err *err)
{
    int64_t integer;

    switch (json_kind(j)) {
    case JSON_NUMBER:
        if (!json_integer(j, &integer))
            return not_canonical(place, "a number that is no integer below 2^53", err);
        buf_printf(out, "%lld", (long long)integer);
        return 0;
    case JSON_STRING:
        json_quote(out, json_string(j), strlen(json_string(j)));
        return 0;
    case JSON_ARRAY:
        return canonical_array(j, place, out, err);
    case JSON_OBJECT:
        return canonical_object(j, place, out, err);
    default:
        json_write(j, out);
        return 0;
    }
}

int json_write_canonical(const struct json *j, struct buf *out, struct err *err)
{
    return write_canonical(j, NULL, out, err);
}
