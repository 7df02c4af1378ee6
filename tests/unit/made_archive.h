/*
 * made_archive: real archives on disk, written by the writer from made-up runs.
 */
#ifndef ABBA_TESTS_MADE_ARCHIVE_H
#define ABBA_TESTS_MADE_ARCHIVE_H

#include <stddef.h>

#include "archive/writer.h"
#include "base/mem.h"
#include "model/plan.h"

struct made_archive {
    struct arena arena;
    char base[64];    /* a folder of its own, removed at the end */
    char folder[100]; /* the archive, in it */
    struct plan plan; /* "p/one" with a warm-up, and "p/two"; two pairs, two confirming */
    struct machine machine;
    struct archive_writer *writer;
    struct role_outcome roles[2];
    struct outcome outcome; /* of every run: change it before made_archive_run */
    uint64_t runs;
    size_t first_profile; /* of the first run */
    uint32_t attempt;     /* of every run, first 1, and how it ends, first ok: likewise */
    enum sample_status status;
    char digest[65]; /* once finished */
};

/* Opens a writer below a fresh folder of `where` (NULL: /tmp) and writes series.json. */
void made_archive_open(struct made_archive *m, const char *where);

/* Step `n` of a stage, as the plan's order has it. Returns what the writer returned. */
int made_archive_run(struct made_archive *m, size_t profile, enum sample_stage stage, uint64_t n,
                     struct err *err);

/* All runs of a stage; all of the plan without confirming stages. */
void made_archive_stage(struct made_archive *m, size_t profile, enum sample_stage stage);
void made_archive_all(struct made_archive *m);

void made_archive_finish(struct made_archive *m);

/* Frees, and removes the base folder. */
void made_archive_release(struct made_archive *m);

/* Path of a file of the archive. The text lives as long as the arena. */
const char *made_archive_path(struct made_archive *m, const char *name);

/* A file's text, in the arena. Its length is stored where `len` is not NULL. */
char *made_archive_read(struct made_archive *m, const char *name, size_t *len);

/* Puts other bytes in the place of a file, or a new file. */
void made_archive_write(struct made_archive *m, const char *name, const char *text, size_t len);

/* Replaces the first `old` in a file. */
void made_archive_alter(struct made_archive *m, const char *name, const char *old, const char *new);

#endif
