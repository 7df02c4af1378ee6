/*
 * look: what net_look tries, as a table of functions, so that a machine that lacks something can be
 * played back.
 */
#ifndef ABBA_NET_LOOK_H
#define ABBA_NET_LOOK_H

#include "net/network.h"
#include "net/rtnl.h"

/* All are called in a child that ends afterwards; 0 or -1, with the kernel's errno in the error. */
struct look_kernel {
    int (*permit)(int user_ns, struct err *err);
    int (*namespace_new)(int *fd, struct err *err);
    int (*open)(struct rtnl **r, struct err *err);
    int (*veth)(struct rtnl *r, struct err *err);
    int (*redirect)(struct rtnl *r, const char *to, struct err *err); /* from lo to that device */
    int (*packets)(struct err *err);
    bool (*netem)(struct rtnl *r);
};

extern const struct look_kernel look_kernel_real;

/* net_look by these functions. */
void look_at(struct net_ability *a, const struct look_kernel *kernel, int user_ns,
             struct arena *arena);

#endif
