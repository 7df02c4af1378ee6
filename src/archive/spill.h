/*
 * spill: records of words, few of which are in memory, however many there are.
 *
 * Records are added one after another, and read in any order, best in about theirs. They lie in
 * blocks of 1 MiB. A handful of blocks is in memory; where there are more, all of them are in a
 * file without a name in $TMPDIR (else /var/tmp), and those that were asked for last are in memory,
 * too.
 */
#ifndef ABBA_ARCHIVE_SPILL_H
#define ABBA_ARCHIVE_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define SPILL_BLOCK_WORDS ((size_t)256 << 10)
#define SPILL_CACHED 8                              /* blocks in memory */
#define SPILL_RECORD_WORDS (SPILL_BLOCK_WORDS - 64) /* the most that a record has */

struct spill_slot {
    uint32_t *words; /* NULL: not in use */
    size_t block;
    uint64_t asked; /* when last, by the count of askings */
};

struct spill {
    size_t count;        /* of records */
    size_t *firsts;      /* the first record of each block */
    size_t blocks, room; /* how many blocks; room in `firsts` */
    size_t used;         /* words of the last block */
    int fd;              /* with `spilled` */
    bool spilled;
    struct spill_slot slots[SPILL_CACHED];
    size_t last_slot; /* that was asked for */
    uint64_t asked;
};

/*
 * Room for a record of at most `words` (SPILL_RECORD_WORDS at most), zeroed and valid until the
 * next call; spill_end says how many it took. NULL with ERR_SYSTEM where the file cannot be made or
 * has no room, which names its folder.
 */
uint32_t *spill_begin(struct spill *s, size_t words, struct err *err);
void spill_end(struct spill *s, size_t words);

/* That record, valid until the next call. It ends abba where what was written cannot be read back:
 * as memory that fails would. */
const uint32_t *spill_at(struct spill *s, size_t record);

void spill_release(struct spill *s); /* safe on a zeroed one */

#endif
