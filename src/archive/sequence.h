/*
 * sequence: whether an archive's samples are the runs of its plan, each once and in order, and
 * which run comes next.
 *
 * A block (with two variants: a pair) is run again only if abba itself interrupted it, and not if
 * any of its runs failed by itself: such a block goes on instead, with the slot after the last.
 */
#ifndef ABBA_ARCHIVE_SEQUENCE_H
#define ABBA_ARCHIVE_SEQUENCE_H

#include "archive/reader.h"

/*
 * Runs are numbered 1, 2, ...; profiles come in the plan's order (one may be left out as a whole),
 * in each warm-ups, main stage, confirming stage; variants in the slots of model/order.h. The last
 * stage may end early. A block that begins again counts one attempt more, and only one that was cut
 * short or holds an interrupted run, and no run that failed by itself, may do so; it then must.
 * ERR_ARCHIVE names the first line that does not follow.
 */
int sequence_check(const struct archive *a, struct err *err);

/* Where a series goes on. */
struct sequence_next {
    size_t profile; /* index in the plan */
    enum sample_stage stage;
    uint64_t n;       /* step of the stage; the number of its steps where it is whole */
    uint32_t attempt; /* of that step's block: 2 or more if the block is run again */
};

/* What comes after the last sample; {0, first stage, 0, 1} where there is none. ERR_ARCHIVE as
 * sequence_check. */
int sequence_next(const struct archive *a, struct sequence_next *next, struct err *err);

/* How many runs that leaves, confirming stages that have not begun excepted. */
uint64_t sequence_left(const struct plan *plan, const struct sequence_next *next);

#endif
