#include "archive/spill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"

#define BLOCK_BYTES (SPILL_BLOCK_WORDS * sizeof(uint32_t))

/* ---- the file ---- */

static int refuse(const char *what, int why, struct err *err)
{
    err_sys(err, ERR_SYSTEM, why, "cannot %s in '%s', which holds the runs of a long archive", what,
            files_large_folder());
    return err_hint(err, "TMPDIR names another folder");
}

static int make_file(struct spill *s, struct err *err)
{
    s->fd = files_open_nameless(files_large_folder());
    if (s->fd < 0)
        return refuse("make a file", errno, err);
    s->spilled = true;
    return 0;
}

static int write_block(struct spill *s, const struct spill_slot *slot, struct err *err)
{
    const char *bytes = (const char *)slot->words;

    for (size_t done = 0; done < BLOCK_BYTES;) {
        ssize_t n = pwrite(s->fd, bytes + done, BLOCK_BYTES - done,
                           (off_t)(slot->block * BLOCK_BYTES + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return refuse("write a file", n < 0 ? errno : ENOSPC, err);
        done += (size_t)n;
    }
    return 0;
}

static void read_block(const struct spill *s, struct spill_slot *slot)
{
    char *bytes = (char *)slot->words;

    for (size_t done = 0; done < BLOCK_BYTES;) {
        ssize_t n = pread(s->fd, bytes + done, BLOCK_BYTES - done,
                          (off_t)(slot->block * BLOCK_BYTES + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            mem_lost(files_large_folder(), n < 0 ? errno : EIO);
        done += (size_t)n;
    }
}

/* ---- blocks in memory ---- */

/* A slot for one more block: an unused one, or that of the block that was asked for longest ago,
 * but for the block `keep`. */
static struct spill_slot *free_slot(struct spill *s, size_t keep)
{
    struct spill_slot *oldest = NULL;

    for (size_t i = 0; i < SPILL_CACHED; i++) {
        if (!s->slots[i].words) {
            s->slots[i].words = xcalloc(SPILL_BLOCK_WORDS, sizeof(uint32_t));
            return &s->slots[i];
        }
        if (s->slots[i].block != keep && (!oldest || s->slots[i].asked < oldest->asked))
            oldest = &s->slots[i];
    }
    return oldest;
}

static struct spill_slot *find_slot(struct spill *s, size_t block)
{
    for (size_t i = 0; i < SPILL_CACHED; i++)
        if (s->slots[i].words && s->slots[i].block == block)
            return &s->slots[i];
    return NULL;
}

static struct spill_slot *slot_of(struct spill *s, size_t block)
{
    struct spill_slot *slot = find_slot(s, block);

    if (!slot) {
        slot = free_slot(s, s->blocks - 1); /* the last block is not in the file yet */
        slot->block = block;
        read_block(s, slot);
    }
    slot->asked = ++s->asked;
    s->last_slot = (size_t)(slot - s->slots);
    return slot;
}

/* Once there are more blocks than slots, those in memory are in the file, too. */
static int spill_all(struct spill *s, struct err *err)
{
    if (make_file(s, err) < 0)
        return -1;
    for (size_t i = 0; i < SPILL_CACHED; i++)
        if (write_block(s, &s->slots[i], err) < 0)
            return -1;
    return 0;
}

/* What is full will not change: the last block can be written, and another one begun. */
static int begin_block(struct spill *s, struct err *err)
{
    if (s->spilled && write_block(s, slot_of(s, s->blocks - 1), err) < 0)
        return -1;
    if (s->blocks == SPILL_CACHED && spill_all(s, err) < 0)
        return -1;
    if (s->blocks == s->room) {
        s->room = s->room ? 2 * s->room : 16;
        s->firsts = xreallocarray(s->firsts, s->room, sizeof *s->firsts);
    }
    struct spill_slot *slot = free_slot(s, SIZE_MAX);
    slot->block = s->blocks;
    slot->asked = ++s->asked;
    memset(slot->words, 0, BLOCK_BYTES);
    s->firsts[s->blocks++] = s->count;
    s->used = 0;
    return 0;
}

/* ---- records ---- */

/* Records lie from the front; where they begin stands from the end, the first one last. */
static uint32_t *start_of(uint32_t *words, size_t place)
{
    return &words[SPILL_BLOCK_WORDS - 1 - place];
}

uint32_t *spill_begin(struct spill *s, size_t words, struct err *err)
{
    size_t places = s->blocks ? s->count - s->firsts[s->blocks - 1] + 1 : 0;

    ABBA_ASSERT(words <= SPILL_RECORD_WORDS);
    if ((s->blocks == 0 || s->used + words + places > SPILL_BLOCK_WORDS) && begin_block(s, err) < 0)
        return NULL;
    return slot_of(s, s->blocks - 1)->words + s->used;
}

void spill_end(struct spill *s, size_t words)
{
    uint32_t *block = slot_of(s, s->blocks - 1)->words;

    *start_of(block, s->count - s->firsts[s->blocks - 1]) = (uint32_t)s->used;
    s->used += words;
    s->count++;
}

static size_t block_of(const struct spill *s, size_t record)
{
    size_t low = 0, high = s->blocks;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (s->firsts[middle] <= record)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool is_in(const struct spill *s, size_t block, size_t record)
{
    return record >= s->firsts[block] && (block + 1 == s->blocks || record < s->firsts[block + 1]);
}

const uint32_t *spill_at(struct spill *s, size_t record)
{
    struct spill_slot *slot = &s->slots[s->last_slot];

    ABBA_ASSERT(record < s->count);
    if (!is_in(s, slot->block, record))
        slot = slot_of(s, block_of(s, record));
    return slot->words + *start_of(slot->words, record - s->firsts[slot->block]);
}

void spill_release(struct spill *s)
{
    for (size_t i = 0; i < SPILL_CACHED; i++)
        free(s->slots[i].words);
    if (s->spilled)
        close(s->fd);
    free(s->firsts);
    *s = (struct spill){0};
}
