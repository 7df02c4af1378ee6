/*
 * compact: samples in little memory, for archives of any length.
 *
 * Of a run's sample stays what judging and checking need: where the run stood, how it ended, its
 * figures, what its network did. What many runs have in common (variant, profile, names, units,
 * reasons) is kept once, so that a run takes 16 bytes and its figures 4 to 8 bytes each: a figure
 * that is a count below 2^32, or as many nanoseconds in seconds, takes 4. Nothing is rounded.
 */
#ifndef ABBA_ARCHIVE_COMPACT_H
#define ABBA_ARCHIVE_COMPACT_H

#include "archive/reader.h"
#include "base/intern.h"

struct compact {
    struct intern texts, shapes, kinds, roles;
    uint32_t *words; /* of all runs */
    size_t word_count, word_room;
    uint32_t *starts; /* of each run in `words` */
    size_t count, room;
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

/* Adds a run; nothing of the sample is borrowed. */
void compact_add(struct compact *c, const struct sample *s, const struct plan *plan);

/* The run of that index (0..). Texts are the compact's. */
struct archive_run compact_run(const struct compact *c, size_t run);

/* Figure `m` of it, with its name. */
void compact_metric(const struct compact *c, size_t run, size_t m, struct sample_metric *out);

/* As archive_find_metric. */
bool compact_find(const struct compact *c, size_t run, const char *name, size_t guess,
                  struct sample_metric *out);

/* Direction `flow` of its network: as archive_flow. */
void compact_flow(const struct compact *c, size_t run, size_t flow, struct net_flow_proof *out);

/* A sample with the texts of the last run, to be shared by the next; NULL before the first. */
const struct sample *compact_like(const struct compact *c);

void compact_release(struct compact *c);

#endif
