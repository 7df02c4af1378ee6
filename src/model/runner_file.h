/*
 * runner_file: what the decoder and the encoder of runner.json share, and for load values those of
 * the profile too.
 */
#ifndef ABBA_MODEL_RUNNER_FILE_H
#define ABBA_MODEL_RUNNER_FILE_H

#include "base/fields.h"
#include "base/units.h"
#include "model/profile.h"
#include "model/runner.h"

/* Words of the file in the order of their enums, NULL behind the last. */
extern const char *const runner_stream_names[];
extern const char *const runner_match_names[];
extern const char *const runner_reduce_names[];

/* Signals that stop a role, by the same index. */
extern const char *const runner_signal_names[];
extern const int runner_signal_numbers[];

/* A load value in any of its forms, as text. */
int decode_load_text(const struct fields *f, struct arena *arena, const char **text,
                     enum load_form *form, struct err *err);
void encode_load_text(struct json_writer *w, const char *text, enum load_form form);

/*
 * What the file says of the output: numbers, metrics, integrity, invalid, checks. The roles must be
 * there.
 */
int runner_decode_output(const struct fields *f, struct runner *r, struct arena *arena,
                         struct err *err);

/* A pattern that compiles; with a group named "value" if a number is wanted from it. */
int runner_decode_pattern(const struct fields *f, const char *key, bool value, struct arena *arena,
                          const char **out, struct err *err);

/* The names of all roles, for messages. */
void runner_role_names(const struct runner *r, struct strings *names, struct arena *arena);

/* How values of a type stand in JSON. */
enum load_form load_type_form(enum load_type type);

/* Whether a type has 'min' and 'max'; the highest 'max'; an end of the range as in the file. */
bool load_type_has_bounds(enum load_type type);
int64_t load_type_max(enum load_type type);
void load_bound_text(enum load_type type, int64_t bound, char out[UNITS_TEXT]);

#endif
