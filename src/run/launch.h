/*
 * launch: the zygote's other end.
 *
 * A `struct launch` is the zygote of a series and its keeper K; a `struct seat` is one role's
 * process Z, which starts one program after another. Both live as long as the series. Sending does
 * not wait for an answer: run.c reads the seats' sockets in its loop.
 */
#ifndef ABBA_RUN_LAUNCH_H
#define ABBA_RUN_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/wire.h"
#include "run/run.h"

struct launch {
    int control;  /* socket to K */
    pid_t keeper; /* K, as abba sees it */
    enum isolation isolation;
    int proc_fd; /* K's /proc */
    int user_fd; /* K's user namespace, or -1: abba's own */
};

struct seat {
    int sock;
    int armed_sock; /* ARMED comes here */
    pid_t host_pid; /* of Z, as abba sees it */
    pid_t own_pid;  /* of Z, as its own /proc shows it */
    int proc_fd;    /* its /proc: with a pid namespace it shows this role's processes only */
    struct wire_page *page;
    char *message; /* WIRE_MAX_BYTES, for START */
};

/* A program to start. All is borrowed. */
struct start {
    uint32_t run;
    const char *const *argv; /* argv[0] is executed */
    const char *const *envp;
    const char *folder; /* NULL: abba's own */
    const void *cpus;   /* mask, a multiple of 8 bytes */
    size_t cpu_bytes;   /* 0: any CPU */
    const struct wire_event *events;
    size_t event_count;
    int out_fd, err_fd; /* write ends */
    int in_fd;          /* -1: /dev/null */
    int net_fd;         /* -1: abba's own */
    bool traced;        /* LOOK comes of its processes */
};

/*
 * Executes the zygote. ISOLATION_AUTO takes pid namespaces where they can be had without changing
 * who the programs are (root, or `users`), else a subreaper. `users`: an own user namespace for a
 * caller who is not root, so that networks can be made below it.
 */
int launch_open(struct launch *l, enum isolation wanted, bool users, struct err *err);

/* Ends K and with it all that is left below; waits for it. Safe on one that never opened. */
void launch_close(struct launch *l);

/* A further Z. `cgroup_fd`: an open cgroup folder that it is to live in, or -1. */
int seat_open(struct seat *s, struct launch *l, int cgroup_fd, struct err *err);
void seat_close(struct seat *s);

/* Sends START. */
int seat_start(struct seat *s, const struct start *start, struct err *err);

/* Sends KILL: SIGKILL goes to every process of the role, another signal to the root process. */
int seat_kill(struct seat *s, uint32_t run, int sig, struct err *err);

/* Sends GO, the answer to LOOK. */
int seat_go(struct seat *s, uint32_t run, int32_t pid, struct err *err);

/* What is done at a step, as it follows "cannot": "enter the folder". */
const char *launch_step_text(uint32_t step);

/*
 * Why a program did not start, for people: "program '/x/y' does not exist". `program` is argv[0],
 * `folder` may be NULL. Writes at most `size` bytes.
 */
void launch_explain(const struct wire_failed *failed, const char *program, const char *folder,
                    char *out, size_t size);

#endif
