/*
 * run: one execution of one variant under one profile, from start to the last process's end.
 *
 * A `struct run_host` lives as long as a series: it owns the zygote, the sockets, the sampler's
 * timer and all buffers, so that nothing is allocated while a run is timed. run_execute() starts
 * the roles in order, drains their output, samples their memory, ends what is left and fills in an
 * outcome. A program that fails is an outcome, not an error; an error means abba could not measure.
 */
#ifndef ABBA_RUN_RUN_H
#define ABBA_RUN_RUN_H

#include "base/err.h"
#include "base/strings.h"
#include "model/machine.h"
#include "model/outcome.h"

#include <signal.h>

struct arena;
struct pattern;
struct run_host;

enum isolation { ISOLATION_AUTO, ISOLATION_PID_NAMESPACE, ISOLATION_SUBREAPER };

struct run_options {
    enum isolation isolation;
    struct strings events; /* counters to read, libpfm4 names */
    bool users;            /* below an own user namespace where abba is not root: for networks */
    size_t max_roles;      /* of any runner of the series */
    uint64_t sample_ns;    /* RSS sampling period; 0: 5 ms */
    const volatile sig_atomic_t
        *interrupted; /* set by the caller's signal handler; a run then ends soon */
    int wake_fd; /* becomes readable when *interrupted is set (a self-pipe or signalfd); -1: none */
};

/* How a role shows that it is ready: the run room's form, templates filled in. */
enum run_ready_kind {
    RUN_READY_AT_ONCE,
    RUN_READY_STDOUT,
    RUN_READY_STDERR,
    RUN_READY_TCP,
    RUN_READY_UDP
};

struct run_role {
    const char *name;
    const char *const *argv; /* argv[0] is executed as it is: an absolute path */
    const char *const *envp;
    const char *cwd;  /* NULL: abba's own */
    const char *cpus; /* list form; NULL: any */
    uint32_t after;   /* bit set of the roles (indices) that must be ready first */
    enum run_ready_kind ready;
    struct pattern *ready_pattern; /* stdout, stderr; borrowed */
    uint16_t ready_port;           /* tcp, udp */
    uint64_t ready_timeout_ns;
    int stop_signal; /* sent when all roles without one have ended; 0: ends by itself */
    int net_fd;      /* network namespace; -1: abba's own */
};

/*
 * How it is seen which files the processes have mapped executable. Ticks of the sampler miss what
 * is shorter than they are far apart. A traced run (ptrace(2)) holds each process at its end and
 * before it executes another program: nothing is missed, and its time means nothing.
 */
enum run_look { RUN_LOOK_NOT, RUN_LOOK_TICKS, RUN_LOOK_TRACED };

struct run_request {
    uint64_t number; /* of the run, for messages */
    const struct run_role *roles;
    size_t role_count;
    int stdin_fd; /* opened anew by the caller for each run, or -1 for /dev/null; borrowed */
    uint64_t timeout_ns;
    enum run_look look;
};

/* Starts the zygote and takes all memory. ERR_SYSTEM if the machine refuses even the subreaper way.
 */
int run_host_open(struct run_host **host, const struct run_options *options, struct err *err);

/* Ends everything below the zygote and frees. Safe on NULL. */
void run_host_close(struct run_host *host);

/*
 * What ISOLATION_AUTO comes to on this machine for a host without user namespaces, before there is
 * one. ERR_SYSTEM where no program can be kept apart at all.
 */
int run_find_isolation(enum isolation *found, struct err *err);

/* Which isolation the zygote reached. */
enum isolation run_host_isolation(const struct run_host *host);
const char *isolation_name(enum isolation isolation);

/* The user namespace that a network for roles has to be made in, borrowed; -1: abba's own. */
int run_host_user_namespace(const struct run_host *host);

/* What came of trying each event, in the order of the options; borrowed, valid until close. */
const struct machine_counter *run_host_counters(const struct run_host *host, size_t *count);

/*
 * Runs once. *out points into the host's own memory and is valid until the next call.
 * -1 only where abba itself cannot go on (ERR_SYSTEM).
 */
int run_execute(struct run_host *host, const struct run_request *request,
                const struct outcome **out, struct err *err);

#endif
