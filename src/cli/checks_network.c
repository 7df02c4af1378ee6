#include "cli/checks.h"

#include "base/buf.h"
#include "base/files.h"
#include "base/mem.h"
#include "cli/networks.h"
#include "net/namespace.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- user namespaces ---- */

/* In a child. The second step needs the rights that the first should give: AppArmor may let a
 * normal user make the namespace and take them away. */
static int try_namespaces(void)
{
    if (unshare(CLONE_NEWUSER) != 0)
        return errno;
    return unshare(CLONE_NEWNET) == 0 ? 0 : errno;
}

static void check_user_namespace(struct checks *c, struct arena *arena)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        _exit(try_namespaces() & 0x7f);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        status = EAGAIN << 8;
    int code = WEXITSTATUS(status);
    if (code == 0) {
        checks_add(c, "user-namespace", CHECK_OK, "may be made", NULL);
        return;
    }
    struct namespace_reason why = namespace_why_not(code, "", arena);
    checks_add(c, "user-namespace", CHECK_MISSING,
               arena_printf(arena, "may not be made: %s", why.why), why.mend);
}

/* ---- modules ---- */

/* Whether a list of the running kernel's modules names it. */
static bool listed(const char *release, const char *list, const char *module, struct arena *arena)
{
    struct buf text = BUF_INIT;
    struct err ignored;
    const char *path = arena_printf(arena, "/lib/modules/%s/%s", release, list);
    bool found = files_read(path, (size_t)16 << 20, &text, &ignored) == 0 &&
                 strstr(text.data, arena_printf(arena, "/%s.ko", module));

    buf_release(&text);
    return found;
}

/* What makes a module that is not there be there. */
static const char *mend_module(const char *module, const char *config, struct arena *arena)
{
    struct utsname kernel;

    if (uname(&kernel) != 0)
        return NULL;
    if (listed(kernel.release, "modules.dep", module, arena))
        return arena_printf(arena, "sudo modprobe %s (the module lies in /lib/modules/%s)", module,
                            kernel.release);
    return arena_printf(arena,
                        "no module %s for this kernel (%s): Debian linux-image-amd64, Ubuntu "
                        "linux-modules-extra-%s, else a kernel with %s",
                        module, kernel.release, kernel.release, config);
}

/* ---- networks ---- */

static void check_netem(struct checks *c, const struct net_ability *a, struct arena *arena)
{
    if (a->kernel)
        checks_add(c, "sch_netem", CHECK_OK, "the kernel impairs", NULL);
    else
        checks_add(c, "sch_netem", CHECK_NOTE,
                   arena_printf(arena, "the kernel does not impair: %s", a->kernel_reason),
                   a->namespaces ? mend_module("sch_netem", "CONFIG_NET_SCH_NETEM", arena)
                                 : a->hint);
}

static const char *mend_network(const struct net_ability *a, struct arena *arena)
{
    return a->reason && strstr(a->reason, "module veth") ? mend_module("veth", "CONFIG_VETH", arena)
                                                         : a->hint;
}

/* Makes namespaces, devices and rules in them as a run does, and leaves them. */
static void check_network(struct checks *c, struct arena *arena)
{
    struct networks n = {0};
    struct err err = {0};

    if (networks_look(&n, arena, &err) < 0) {
        checks_add(c, "network", CHECK_MISSING, arena_strdup(arena, err.msg), NULL);
        return;
    }
    if (!n.ability.namespaces)
        checks_add(c, "network", CHECK_MISSING,
                   arena_printf(arena, "no private networks: %s", n.ability.reason),
                   mend_network(&n.ability, arena));
    else if (n.ability.kernel)
        checks_add(c, "network", CHECK_OK, "private networks, impaired by the kernel's sch_netem",
                   NULL);
    else if (n.ability.user)
        checks_add(c, "network", CHECK_OK, "private networks, impaired by abba's own shaper", NULL);
    else
        checks_add(c, "network", CHECK_MISSING,
                   arena_printf(arena, "private networks, but no impairment: %s; %s",
                                n.ability.kernel_reason, n.ability.user_reason),
                   n.ability.hint);
    check_netem(c, &n.ability, arena);
}

void checks_network(struct checks *c, struct arena *arena)
{
    check_user_namespace(c, arena);
    check_network(c, arena);
}
