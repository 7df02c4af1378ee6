/*
 * json: strict JSON (RFC 8259), as trees.
 *
 * Text is checked by our own scanner (json_scan.h) before cJSON builds the tree, so a tree never
 * holds what was not written: no duplicate keys, no bad UTF-8, no cut strings, no number that a
 * double cannot hold. `struct json` is opaque (a node of cJSON); cJSON.h is known to json.c alone.
 * A tree is freed by its root; what is taken out of it is borrowed. Numbers are doubles; writing
 * is done here too, so that every number reads back as the same double. For hot paths see
 * json_writer.h (no tree) and json_cursor.h (no tree).
 */
#ifndef ABBA_BASE_JSON_H
#define ABBA_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json_scan.h"

struct json;

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* "null", "boolean", "number", "string", "array" or "object". */
const char *json_kind_name(enum json_kind kind);

/*
 * The tree of `text`, to be freed with json_free, or NULL with a message that names `name` (a file
 * name), line and column. Error code ERR_CONFIG. Limits: JSON_SCAN_STRICT.
 */
struct json *json_parse(const char *text, size_t len, const char *name, struct err *err);

/* The same with rules of the caller's: foreign text, other limits, another error code. */
struct json *json_parse_with(const char *text, size_t len, const char *name,
                             const struct json_rules *rules, struct err *err);

void json_free(struct json *j); /* NULL is fine */

enum json_kind json_kind(const struct json *j);

/* The member of an object, or NULL. Keys differ by case. */
const struct json *json_get(const struct json *object, const char *key);

/* Number of members or items; 0 for anything else. Walks the list. */
size_t json_count(const struct json *j);

/* The i-th item of an array or member of an object, or NULL. Walks the list: to visit all, use
 * json_first and json_next. */
const struct json *json_at(const struct json *j, size_t i);
const struct json *json_first(const struct json *j);
const struct json *json_next(const struct json *j);

/* The key under which a member stands in its object, or NULL. */
const char *json_key(const struct json *j);

/* The value. Asking a node for what it is not is a programming error. */
const char *json_string(const struct json *j);
double json_number(const struct json *j);
bool json_bool(const struct json *j);

/* Whether j is a number with an integral value of at most 2^53 - 1 in size; stores it. */
bool json_integer(const struct json *j, int64_t *out);

/* The node that an RFC 6901 pointer names ("" is the root, "/a/0/b"), or NULL: none such, or a
 * malformed pointer. */
const struct json *json_pointer(const struct json *root, const char *pointer);

/* Constructors. The caller owns the result until it is added somewhere. Text that is not UTF-8 is
 * stored as given and repaired (U+FFFD) when written. */
struct json *json_new_object(void);
struct json *json_new_array(void);
struct json *json_new_string(const char *s);
struct json *json_new_number(double value); /* must be finite */
struct json *json_new_bool(bool value);
struct json *json_new_null(void);

/* Add the child, which the parent then owns. Returns the child. json_add: the key must be new. */
struct json *json_add(struct json *object, const char *key, struct json *child);
struct json *json_append(struct json *array, struct json *child);

/* A deep copy, owned by the caller. */
struct json *json_copy(const struct json *j);

/* Whether both trees hold the same values; the order of members does not matter. */
bool json_equal(const struct json *a, const struct json *b);

/* One line without white space, members in the order of insertion. */
void json_write(const struct json *j, struct buf *out);

/* Indented by two spaces; empty arrays and objects on one line; no newline at the end. */
void json_write_pretty(const struct json *j, struct buf *out);

/* A tree as one value of a document that a json_writer writes. */
struct json_writer;
void jw_json(struct json_writer *w, const struct json *j);

/*
 * The canonical form that is hashed: members by byte order of their keys, no white space, minimal
 * escapes, numbers integers below 2^53 in size. Another number, or text that is not UTF-8, is an
 * error (ERR_CONFIG) that names the JSON path.
 */
int json_write_canonical(const struct json *j, struct buf *out, struct err *err);

#endif
