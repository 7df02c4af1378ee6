#include "cli/networks.h"

#include "base/mem.h"

int networks_host(struct run_host **host, struct err *err)
{
    struct run_options options = {.max_roles = 1, .wake_fd = -1, .users = true};

    return run_host_open(host, &options, err);
}

int networks_find_tables(const struct profile *profile, struct err *err)
{
    if (net_find_tables(&profile->network, err) < 0)
        return err_wrap(err, "profile '%s'", profile->name);
    return 0;
}

int networks_look(struct networks *n, struct arena *arena, struct err *err)
{
    struct run_host *host = NULL;

    if (n->looked)
        return 0;
    if (networks_host(&host, err) < 0)
        return -1;
    net_look(&n->ability, run_host_user_namespace(host), arena);
    n->isolation = isolation_name(run_host_isolation(host));
    n->looked = true;
    run_host_close(host);
    return 0;
}

static bool asks_for_anything(const struct network *n)
{
    bool any = n->has_impair && net_impair_any(&n->impair);

    for (size_t i = 0; i < n->link_count; i++)
        any = any || net_impair_any(&n->links[i].impair);
    return any;
}

const char *networks_why_not(const struct networks *n, const struct network *network)
{
    const struct net_ability *a = &n->ability;

    if (!a->namespaces)
        return a->reason;
    if (!asks_for_anything(network))
        return NULL;
    if (network->backend == NET_BACKEND_KERNEL)
        return a->kernel ? NULL : a->kernel_reason;
    if (network->backend == NET_BACKEND_AUTO && a->kernel)
        return NULL;
    return a->user ? NULL : a->user_reason;
}
