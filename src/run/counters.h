/*
 * counters: which performance counters this machine really has, and what they counted.
 *
 * Each event is opened and made to count once, on abba itself, over work that must show; only what
 * passes is handed to the programs, which open it on themselves (zygote/child.c). One event that
 * cannot be had loses that event only. The kernel is reached through a small table of functions, so
 * that a PMU that lies, shares its counters or is absent can be played back.
 */
#ifndef ABBA_RUN_COUNTERS_H
#define ABBA_RUN_COUNTERS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/mem.h"
#include "base/strings.h"
#include "base/wire.h"
#include "model/machine.h"
#include "model/outcome.h"

struct perf_event_attr;

struct counter_kernel {
    int (*encode)(const char *name, unsigned char attr[WIRE_ATTR_BYTES], struct err *err);
    /* perf_event_open on the calling process, any CPU; -1 with errno. */
    int (*open)(void *user, const struct perf_event_attr *attr);
    int (*count)(void *user, int fd, bool on);
    ssize_t (*read)(void *user, int fd, void *out, size_t size);
    void (*close)(void *user, int fd);
    /* Does what every counter of COUNTER_WORK_* must show. */
    void (*work)(void *user);
    const char *root; /* of /proc and /sys: "" for the real ones */
    void *user;
};

extern const struct counter_kernel counter_system;

#define COUNTER_WORK_LOOPS 200000 /* turns of a loop of some instructions each */
#define COUNTER_WORK_PAGES 64     /* fresh pages written */
#define COUNTER_WORK_SLEEPS 3     /* context switches */

/* One perf event; a request has several where CPUs are of several kinds. */
struct counter_event {
    size_t request;
    int keep_fd; /* a disabled one, open for abba's life: the kernel's switches stay on; or -1 */
};

struct counters {
    const struct counter_kernel *kernel;
    struct arena arena;
    size_t request_count;
    struct machine_counter *request; /* one per name; status and reason of the self-test */
    size_t event_count;
    struct wire_event event[WIRE_MAX_EVENTS]; /* to be opened by each program */
    struct counter_event of[WIRE_MAX_EVENTS];
};

/* Tries all names. A name that libpfm4 does not know is a request that is `unsupported`. */
void counters_init(struct counters *c, const struct strings *names,
                   const struct counter_kernel *kernel);
void counters_release(struct counters *c);

/*
 * Reads and closes what a program opened: fds[i] is event i's, or -1 with event_errno[i] saying
 * why. Fills in one reading per request.
 */
void counters_read(struct counters *c, const int *fds, const int32_t *event_errno,
                   struct counter_reading *out);

#endif
