/*
 * lab: several comparisons, each planned in full, that run one after the other.
 *
 * Each comparison is a series of its own with an archive of its own; lab.json, in the folder that
 * holds them all, keeps the plans of all, fixed before the first run. Everything belongs to the
 * arena it was made in.
 */
#ifndef ABBA_MODEL_LAB_H
#define ABBA_MODEL_LAB_H

#include "model/plan.h"

struct lab_comparison {
    const char *name;
    const char *description; /* may be NULL */
    const char *folder;      /* of its archive, below the lab's: "01-NAME" */
    struct plan plan;        /* sealed */
};

struct lab {
    const char *name;
    const char *description; /* may be NULL */
    struct lab_comparison *comparisons;
    size_t comparison_count;
    char sha256[65]; /* of its name and the comparisons' names and plans; "" until lab_seal() */
};

/* Sets l->sha256: of {"comparisons":[{"comparison":...,"plan_sha256":...}],"series":...}. */
void lab_seal(struct lab *l);

/* Runs of all comparisons, warm-ups included, without confirming stages. */
uint64_t lab_run_count(const struct lab *l);

/* Appends lab.json, made by `tool` at the time `started`. */
int lab_encode(const struct lab *l, const char *tool, const char *started, struct buf *out,
               struct err *err);

/*
 * Reads lab.json. The hashes of the plans and of the whole are made again and compared.
 * ERR_ARCHIVE. Texts are borrowed from the tree.
 */
int lab_decode(struct lab *l, const struct json *root, const char *file, struct arena *arena,
               struct err *err);

#endif
