/*
 * drain: empties a program's output, always, and keeps its first and last MiB.
 *
 * The memory is taken once; the pages of what no program writes are never touched. A `struct drain`
 * fills one `struct capture`, which points into the drain's memory and is whole after drain_end().
 */
#ifndef ABBA_RUN_DRAIN_H
#define ABBA_RUN_DRAIN_H

#include <stdbool.h>

#include "base/err.h"
#include "model/outcome.h"

struct drain {
    struct capture *capture; /* borrowed; of the present run, else NULL */
    int fd;                  /* read end, non-blocking, owned; -1: none, or at its end */
    char *head;              /* CAPTURE_HEAD_BYTES + 1 */
    char *ring;              /* CAPTURE_TAIL_BYTES + 1; the last bytes beyond the head */
    size_t ring_at;          /* where the next byte goes */
};

void drain_init(struct drain *d);
void drain_release(struct drain *d);

/* A fresh pipe: keeps the read end, gives the write end, close-on-exec, to the caller. */
int drain_begin(struct drain *d, struct capture *capture, int *write_fd, struct err *err);

/* Takes what there is, at most about 1 MiB. True if there was something. */
bool drain_read(struct drain *d);

/* Takes the rest, closes the pipe, and puts the tail in order; nothing if no run was begun. */
void drain_end(struct drain *d);

#endif
