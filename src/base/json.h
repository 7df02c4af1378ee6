/*
 * json: strict JSON (RFC 8259), as trees.
 *
 * Text is checked by our own scanner (json_scan.h) before cJSON builds the tree, so a tree never
 * holds what was not written: no duplicate keys, no bad UTF-8, no cut strings, no number that a
 * double cannot hold. `struct json` is opaque (a node of cJSON); cJSON.h is known to json.c alone.
 * A tree is freed by its root; what is taken out of it is borrowed. Numbers are doubles, written so
 * that each reads back as the same double. Without a tree: json_writer.h writes a document,
 * json_cursor.h reads one.
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

/* The items of an array or members of an object, in order; NULL behind the last. */
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

/* One line without white space, members in the order of the text. */
void json_write(const struct json *j, struct buf *out);

/* Indented by two spaces; empty arrays and objects on one line; no newline at the end. */
void json_write_pretty(const struct json *j, struct buf *out);

/*
 * The canonical form that is hashed: members by byte order of their keys, no white space, minimal
 * escapes, numbers integers below 2^53 in size. Another number is an error (ERR_CONFIG) that names
 * the JSON path.
 */
int json_write_canonical(const struct json *j, struct buf *out, struct err *err);

#endif
