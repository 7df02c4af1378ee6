/*
 * outputs: the texts that one run left: what its roles printed, and files below its scratch folder.
 *
 * Each is brought into one piece on first use and kept until the next run. Where the middle of a
 * stream was not kept, the lines torn by the gap are left out, so that nothing is found that was
 * never printed. The holder releases it; the outcome is borrowed for as long as it is looked at.
 */
#ifndef ABBA_MEASURE_OUTPUTS_H
#define ABBA_MEASURE_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "model/outcome.h"
#include "model/runner.h"

#define OUTPUTS_FILE_MAX ((size_t)16 << 20)

struct heap_role;
struct json;

/* One text. */
struct output {
    const char *role; /* what it is: borrowed from the extraction that asked first */
    enum metric_source source;
    const char *file;
    const char *data; /* the text: in the outcome, or in `owned` */
    size_t len;
    uint64_t cut; /* bytes of the stream that were not kept */
    struct buf owned;
    struct err err; /* why there is no text: code ERR_NONE if there is */
    bool parsed;    /* as one JSON document */
    struct json *tree;
    struct err tree_err; /* why it is none */
};

struct outputs {
    const struct outcome *outcome;
    const char *scratch;
    const struct heap_role *heap; /* of each role, in a memory pass; else NULL */
    struct output *items;
    size_t count, room;
};

void outputs_init(struct outputs *o);
void outputs_release(struct outputs *o);

/* Forgets the run before. `scratch` and `heap` may be NULL. */
void outputs_begin(struct outputs *o, const struct outcome *outcome, const char *scratch,
                   const struct heap_role *heap);

/* The text that an extraction looks at; ERR_MEASURE if there is none. Valid until the next call. */
int outputs_get(struct outputs *o, const struct extraction *from, struct output **out,
                struct err *err);

/* The text as one JSON document; ERR_MEASURE with line and column if it is none. */
int output_document(struct output *o, const struct json **out, struct err *err);

/* "stdout of 'sender'", or "file 'stats.json' of 'sender'", for messages. */
void output_name(const struct extraction *from, char out[128]);

/* Whether a file's name keeps it below the scratch folder: "{scratch}/NAME" or "NAME". */
bool output_file_ok(const char *file);

#endif
