/*
 * namespace: anonymous network namespaces of the calling process, and the settings inside them.
 *
 * Nothing has a name below /run/netns: a namespace lives as long as a process or a descriptor holds
 * it. Whoever calls this leaves its own namespaces for good, so only the keeper process does.
 */
#ifndef ABBA_NET_NAMESPACE_H
#define ABBA_NET_NAMESPACE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"

/*
 * Gets the right to make network namespaces: joins the user namespace `user_ns`, or, with -1,
 * makes one of its own (identity-mapped) where the process is not allowed to without.
 */
int namespace_permit(int user_ns, struct err *err);

/* Makes a network namespace and moves into it; *fd is a descriptor for it, close-on-exec. */
int namespace_new(int *fd, struct err *err);

/* Moves into the network namespace. */
int namespace_enter(int fd, struct err *err);

/* The same for a process that may yet have to join the user namespace that owns it. */
int namespace_enter_owned(int fd, struct err *err);

/* Writes below /proc/sys/net of the present network namespace: "ipv4/conf/lo/rp_filter", "0". */
int namespace_sysctl(const char *name, const char *value, struct err *err);

/*
 * Switches a device's transmit checksums and segmentation off (ethtool(8) -K tx off tso off), so
 * that whoever reads its packets sees them whole. Features that it has not are fine.
 */
int namespace_offload_off(const char *device, struct err *err);

/*
 * Makes the kernel act on a cable's other end having come up, which it does up to a second later of
 * its own accord (linkwatch). An error if the device has no carrier.
 */
int namespace_settle(const char *device, struct err *err);

/* One line each, in the arena or static. */
struct namespace_reason {
    const char *why;
    const char *mend;
};

/*
 * Why this machine forbids network namespaces to this process, after namespace_permit or
 * namespace_new failed with `sys_errno`: the seccomp filter, sysctl, AppArmor profile or kernel,
 * and what mends it. `root` is "" for the real /proc, or a folder that holds a copy.
 */
struct namespace_reason namespace_why_not(int sys_errno, const char *root, struct arena *arena);

#endif
