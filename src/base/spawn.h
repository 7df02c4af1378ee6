/*
 * spawn: runs one program to its end and keeps what it wrote. No shell; nothing is measured (the
 * programs under test are run/'s).
 *
 * The child has no standard input but what it is given, gets SIGTERM when this process dies, and
 * only the environment it is given.
 */
#ifndef ABBA_BASE_SPAWN_H
#define ABBA_BASE_SPAWN_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

struct spawn {
    const char *const *argv; /* NULL-terminated; argv[0] is an absolute path */
    const char *const *envp; /* NULL-terminated */
    const char *cwd;         /* NULL: this process' */
    int input_fd;            /* standard input; 0: nothing */
    int output_fd;           /* standard output and error go there; -1: both are captured */
    /* Folders below which alone it may write, beside /dev; NULL-terminated. NULL: anywhere. */
    const char *const *writes;
    int (*stopped)(void); /* not 0 ends the program and its process group, by force after 2 s;
                             whoever of that group outlives the program is killed. NULL: never, and
                             it stays in this one's group */
};

/* How it ended, as waitpid(2) says. */
struct spawn_end {
    int status;
    bool confined; /* `writes` was enforced: the kernel has Landlock */
};

/*
 * Runs it. `out` and `errors` get what it wrote, up to their limits (a longer output is cut, and
 * the buffer's `overflow` says so); not used with output_fd. -1: it could not be started.
 */
int spawn_run(const struct spawn *s, struct buf *out, struct buf *errors, struct spawn_end *end,
              struct err *err);

/* "ended with status 2", "was ended by SIGKILL". */
void spawn_say_end(int status, struct buf *out);

#endif
