/*
 * heap_record: what the preloaded library `heap` leaves of a process, in a file that it maps.
 *
 * The library writes, whoever looks at the run reads. All of it is in memory that is shared with
 * the file, so that it is whole however the process ends, also by SIGKILL, and whatever it does to
 * its descriptors. It takes no room on disk but for what is used: two pages of most processes. One
 * file a process; a fork begins another one. Sums are over the slots, one a thread; a slot that a
 * thread gave back goes on counting for the next.
 */
#ifndef ABBA_BASE_HEAP_RECORD_H
#define ABBA_BASE_HEAP_RECORD_H

#include <stddef.h>
#include <stdint.h>

#define HEAP_RECORD_MAGIC "abbaheap"
#define HEAP_RECORD_VERSION 1u
#define HEAP_WINDOWS 1000 /* closed ones that are kept */
#define HEAP_SLOTS 4096   /* threads at a time */

/* The folder for the files, an absolute path; or "process", for a line at the process's end. */
#define HEAP_FOLDER_ENV "ABBA_HEAP"

/* Of a run: the folder below its scratch folder that has one for each role. */
#define HEAP_FOLDER "heap"

/* What a program looks for to mark a window. */
#define HEAP_WINDOW_BEGIN "/abba/window/begin"
#define HEAP_WINDOW_END "/abba/window/end"

enum heap_flag {
    HEAP_SHADOWED = 1, /* the program has an allocator of its own before the library's */
    HEAP_LOST = 2,     /* a thread found no slot: it was not counted */
    HEAP_MANY = 4,     /* more windows were closed than are kept */
    HEAP_TWICE = 8,    /* a window was begun while one was open */
    HEAP_STRAY = 16,   /* a window was ended while none was open */
};

struct heap_sums {
    uint64_t calls, bytes, frees;
};

/* One thread's, on a cache line of its own, written by it alone. */
struct heap_slot {
    uint64_t calls, bytes, frees;
    uint32_t taken; /* by a thread that lives */
    uint32_t unused[9];
};

struct heap_record {
    char magic[8];
    uint32_t version;
    int32_t pid; /* as the process sees it */
    uint32_t flags;
    uint32_t slots;  /* that were ever taken */
    uint32_t open;   /* whether a window is */
    uint32_t closed; /* windows */
    char program[32];
    struct heap_sums begin; /* of the open window */
    struct heap_sums windows[HEAP_WINDOWS];
    uint8_t unused[488]; /* to a page's end */
    struct heap_slot slot[HEAP_SLOTS];
};

_Static_assert(sizeof(struct heap_slot) == 64, "a slot is a cache line");
_Static_assert(offsetof(struct heap_record, slot) % 4096 == 0, "slots begin on a page");
_Static_assert(sizeof(struct heap_record) % 4096 == 0, "a record is whole pages");

#endif
