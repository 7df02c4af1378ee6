/*
 * compact: samples in little memory, for archives of any length.
 *
 * Of a run's sample stays what judging and checking need: where the run stood, how it ended, its
 * figures, what its network did. What many runs have in common (variant, profile, names, units,
 * reasons) is kept once, so that a run takes 16 bytes and its figures 4 to 8 bytes each: a figure
 * that is a count below 2^32, or as many nanoseconds in seconds, takes 4. Nothing is rounded. What
 * runs take of their own goes to a file once it is long (archive/spill.h).
 */
#ifndef ABBA_ARCHIVE_COMPACT_H
#define ABBA_ARCHIVE_COMPACT_H

#include "archive/reader.h"
#include "archive/spill.h"
#include "base/intern.h"

struct compact {
    struct intern texts, shapes, kinds, roles;
    struct spill *runs; /* a record each; made by the first one */
    struct span {
        const char *profile;
        size_t first, end;
    } * spans; /* of each profile that has runs */
    size_t span_count;
    struct sample like;       /* with the last run's texts: see struct sample_source */
    struct arena like_memory; /* of its lists */
    uint32_t like_shape;
    uint32_t *like_reasons; /* numbers of its reasons */
    struct tails {
        const char *variant, *profile;
        unsigned count;
    } * tails; /* how many ends of stderr are kept of whom */
    size_t tail_count;
    bool files; /* any run has raw files */
};

/* Adds a run; nothing of the sample is borrowed. ERR_SYSTEM where there is no room for it,
 * ERR_ARCHIVE where it has more figures than any run may have. */
int compact_add(struct compact *c, const struct sample *s, const struct plan *plan,
                struct err *err);

/* The run of that index (0..). Texts are the compact's. */
struct archive_run compact_run(const struct compact *c, size_t run);

/* Figure `m` of it, with its name. */
void compact_metric(const struct compact *c, size_t run, size_t m, struct sample_metric *out);

/* As archive_find_metric. */
bool compact_find(const struct compact *c, size_t run, const char *name, size_t guess,
                  struct sample_metric *out);

/* Direction `flow` of its network: as archive_flow. */
void compact_flow(const struct compact *c, size_t run, size_t flow, struct net_flow_proof *out);

/* As archive_span. */
void compact_span(const struct compact *c, const char *profile, size_t *first, size_t *end);

/* A sample with the texts of the last run, to be shared by the next; NULL before the first. */
const struct sample *compact_like(const struct compact *c);

void compact_release(struct compact *c);

#endif
