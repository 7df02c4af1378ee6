/*
 * netns: whether a role stays in the network namespace that it was started in.
 *
 * At the sampler's ticks, where it is their turn (see rss_is_turn()), the namespaces of the role's
 * processes are compared with the run's. A role has left the network where no process of it that
 * was looked at is inside, or where one is in another namespace in which packets have passed. What
 * has only fenced a process of it off from all networks, as browsers do, has not.
 *
 * A role that lives between two ticks is not seen. Nothing is allocated.
 */
#ifndef ABBA_RUN_NETNS_H
#define ABBA_RUN_NETNS_H

#include <stdbool.h>
#include <sys/types.h>

#include "run/rss.h"

#define NETNS_LOOKS_A_TICK 64 /* processes */

struct netns {
    bool wanted; /* by the present run */
    dev_t device;
    ino_t inode; /* of the run's namespace */
    bool left;
};

/* Forgets the run before. `net_fd`: the run's namespace; -1: abba's own, where nothing is watched.
 */
void netns_begin(struct netns *n, int net_fd);

/* After each rss_tick(). */
void netns_tick(struct netns *n, const struct rss *r);

/* Whether the text of /proc/PID/net/dev tells of bytes that any device has received or sent. */
bool netns_has_passed(const char *text);

#endif
