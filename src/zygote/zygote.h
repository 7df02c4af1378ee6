/*
 * zygote: the processes between abba and the programs that it measures.
 *
 * Static and small on purpose: a program inherits the peak memory of whoever execs it. Nothing here
 * prints; what goes wrong is told by a FAILED message. zygote.c is K, role.c is Z, child.c is the
 * way from the fork to the program, trace.c holds processes so that they can be looked at, tree.c
 * is the walk over processes where there is no namespace.
 */
#ifndef ABBA_ZYGOTE_ZYGOTE_H
#define ABBA_ZYGOTE_ZYGOTE_H

#include <stdbool.h>

#include "base/wire.h"

#define ZYGOTE_CONTROL_FD 3

/* A program to start, unpacked from a START message. */
struct order {
    uint32_t run;
    const struct wire_event *events;
    uint32_t event_count;
    const void *cpus;
    uint32_t cpu_bytes;
    uint32_t argc, envc;
    uint32_t string_bytes;
    char *strings;    /* NULL while they are in the memfd */
    int out, err, in; /* -1: /dev/null */
    int net, blob;    /* -1: none */
    int gate;         /* -1: none; the child goes on when it is closed */
    bool die_with_parent;
    bool traced;
};

/* Z: serves one role until the end of `sock`; ARMED goes to `armed_sock`. Never returns. */
void role_serve(int sock, int armed_sock, struct wire_page *page, enum wire_mode mode,
                bool in_cgroup) __attribute__((noreturn));

/*
 * In the child: enters what the order asks for, opens the counters, reports ARMED and executes the
 * program. On failure leaves step and errno in the page. Never returns. It may share memory with Z
 * (vfork), so it changes nothing but the page and errno. `strings` needs room for the order's
 * arguments and environment with two NULLs.
 */
void child_exec(const struct order *order, char **strings, int sock, struct wire_page *page)
    __attribute__((noreturn));

/* The same for strings in a memfd; in a process with memory of its own. */
void child_exec_blob(const struct order *order, int sock, struct wire_page *page)
    __attribute__((noreturn));

/*
 * Follows a process and all that it will start (ptrace(2), PTRACE_SEIZE). 0, or the errno: then it
 * runs on as any other.
 */
int trace_begin(pid_t pid);

/*
 * A stop that wait4() gave of a followed process. True: it stands still where it is to be looked
 * at, until trace_go(). Otherwise it goes on already.
 */
bool trace_stop(pid_t pid, int status);
void trace_go(pid_t pid);

/* Lets a stopped process go for good; nothing of it is told any more. */
void trace_leave(pid_t pid);

/* Sends a signal to every process below this one, parents first. */
void tree_kill(int sig);

/* Ends every process below this one with SIGKILL and waits until none is left. */
void tree_end(void);

#endif
