/*
 * maps: which files the processes of a role have mapped executable, as /proc/PID/maps says.
 *
 * A run that is looked at reads the maps of a process when it is its turn, see rss_is_turn():
 * early for programs that end or exec another soon, late for libraries that are loaded on demand.
 * A program that lives between two ticks is not seen by that; a run that is traced shows each
 * process at its end. All memory is taken by maps_init().
 */
#ifndef ABBA_RUN_MAPS_H
#define ABBA_RUN_MAPS_H

#include "model/outcome.h"
#include "run/rss.h"

#define MAPS_FILES 1024              /* of one role and run; more are counted, not kept */
#define MAPS_PATHS (256u << 10)      /* bytes of their paths */
#define MAPS_LOOKS_A_TICK 64         /* processes */
#define MAPS_READ_BYTES (256u << 10) /* of one process's maps */

struct maps {
    bool wanted; /* by the present run */
    struct mapped_file *file;
    size_t count;
    char *paths;
    size_t path_bytes;
    char *text;       /* MAPS_READ_BYTES */
    uint64_t looks;   /* that saw at least one file */
    uint64_t z_inode; /* of Z's program; 0: not known */
    int last_errno;   /* of a reading that failed otherwise than by the process's end */
    bool cut;         /* there were more files than could be kept */
};

/* `z_pid` is the role's process Z in that /proc: a child has Z's program until its exec, and is not
 * looked at before. */
void maps_init(struct maps *m, int proc_fd, pid_t z_pid);
void maps_release(struct maps *m);

/* Forgets the run before. */
void maps_begin(struct maps *m, bool wanted);

/* After each rss_tick(): looks at those of its processes whose turn it is. */
void maps_tick(struct maps *m, const struct rss *r);

/* Looks at one process of that /proc now. */
void maps_look(struct maps *m, int proc_fd, pid_t pid);

/* Fills in mapped, mapped_count, mapped_cut, looks and look_errno of the outcome; the files belong
 * to `m` and stay until the next maps_begin(). */
void maps_end(const struct maps *m, struct role_outcome *o);

/* Takes the executable files out of the text of a maps file; false if there are none. */
bool maps_take(struct maps *m, char *text);

#endif
