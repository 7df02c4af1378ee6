/* What this machine can do, tried in a child, so that abba itself stays where it is. */
#include "net/look.h"

#include "base/mem.h"
#include "net/fate.h"
#include "net/namespace.h"
#include "net/netem.h"
#include "net/rtnl.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the child found; the errors say what could not be done. */
struct trial {
    bool namespaces, veth, redirect, packets, netem;
    struct err err; /* of the namespaces */
    struct err veth_err, redirect_err, packets_err;
};

/* ---- the kernel itself ---- */

static int packet_socket(struct err *err)
{
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));

    if (fd < 0)
        return err_sys(err, ERR_CONFIG, errno, "no AF_PACKET socket");
    close(fd);
    return 0;
}

static int redirect(struct rtnl *r, const char *to, struct err *err)
{
    if (rtnl_clsact(r, "lo", err) < 0)
        return -1;
    return rtnl_redirect(r, "lo", RTNL_EGRESS, to, RTNL_EGRESS, NULL, err);
}

static int veth(struct rtnl *r, struct err *err)
{
    return rtnl_veth(r, "a0", "b0", -1, err);
}

static bool netem(struct rtnl *r)
{
    return netem_there(r, "lo");
}

const struct look_kernel look_kernel_real = {namespace_permit, namespace_new, rtnl_open, veth,
                                             redirect,         packet_socket, netem};

/* ---- the trial ---- */

static void try_all(struct trial *t, const struct look_kernel *kernel, int user_ns)
{
    struct rtnl *r = NULL;
    int fd;

    if (kernel->permit(user_ns, &t->err) < 0 || kernel->namespace_new(&fd, &t->err) < 0 ||
        kernel->open(&r, &t->err) < 0)
        return;
    t->namespaces = true;
    t->veth = kernel->veth(r, &t->veth_err) == 0;
    t->redirect = kernel->redirect(r, t->veth ? "a0" : "lo", &t->redirect_err) == 0;
    t->packets = kernel->packets(&t->packets_err) == 0;
    t->netem = kernel->netem(r);
    rtnl_close(r);
}

static int run_trial(struct trial *t, const struct look_kernel *kernel, int user_ns,
                     struct err *err)
{
    int ends[2];
    ssize_t got;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "no socket for a trial");
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        memset(t, 0, sizeof(*t));
        try_all(t, kernel, user_ns);
        _exit(send(ends[1], t, sizeof(*t), MSG_NOSIGNAL) < 0);
    }
    close(ends[1]);
    got = pid < 0 ? -1 : recv(ends[0], t, sizeof(*t), 0);
    close(ends[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (got != (ssize_t)sizeof(*t))
        return err_set(err, ERR_SYSTEM, "the trial of namespaces failed");
    return 0;
}

static const char *say(struct arena *arena, const struct err *err)
{
    return arena_strdup(arena, err->msg);
}

static void tell_namespaces(struct net_ability *a, const struct trial *t, struct arena *arena)
{
    if (!t->namespaces) {
        struct namespace_reason found = namespace_why_not(t->err.sys_errno, "", arena);
        a->reason = found.why;
        a->hint = found.mend;
    } else if (!t->veth && (t->veth_err.sys_errno == EPERM || t->veth_err.sys_errno == EACCES)) {
        a->reason = arena_printf(arena, "%s (it takes CAP_NET_ADMIN)", t->veth_err.msg);
        a->hint = "containers often take it from root";
    } else if (!t->veth) {
        a->reason = arena_printf(arena, "%s (the kernel needs the module veth)", t->veth_err.msg);
        a->hint = "load the module veth";
    } else {
        a->namespaces = true;
    }
}

void look_at(struct net_ability *a, const struct look_kernel *kernel, int user_ns,
             struct arena *arena)
{
    struct trial t;
    struct err err;

    memset(a, 0, sizeof(*a));
    if (run_trial(&t, kernel, user_ns, &err) < 0) {
        a->reason = a->kernel_reason = a->user_reason = say(arena, &err);
        return;
    }
    tell_namespaces(a, &t, arena);
    if (!a->namespaces) {
        a->kernel_reason = a->user_reason = a->reason;
        return;
    }
    a->kernel = t.netem;
    if (!t.netem)
        a->kernel_reason = "the kernel has no sch_netem";
    a->user = t.packets && t.redirect;
    if (!t.packets)
        a->user_reason = arena_printf(arena, "%s (it takes CAP_NET_RAW)", t.packets_err.msg);
    else if (!t.redirect)
        a->user_reason = say(arena, &t.redirect_err);
}

void net_look(struct net_ability *a, int user_ns, struct arena *arena)
{
    look_at(a, &look_kernel_real, user_ns, arena);
}

/* ---- tables of distributions ---- */

static int find_tables(const struct net_impair *impair, struct arena *arena, struct err *err)
{
    struct fate_table table;

    if (impair->distribution && fate_table_read(&table, impair->distribution, arena, err) < 0)
        return -1;
    if (impair->slot.distribution &&
        fate_table_read(&table, impair->slot.distribution, arena, err) < 0)
        return -1;
    return 0;
}

int net_find_tables(const struct network *network, struct err *err)
{
    struct arena arena = ARENA_INIT;
    int status = network->has_impair ? find_tables(&network->impair, &arena, err) : 0;

    for (size_t i = 0; i < network->link_count && status == 0; i++)
        status = find_tables(&network->links[i].impair, &arena, err);
    arena_release(&arena);
    return status;
}
