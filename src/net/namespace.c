#include "net/namespace.h"

#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/nsfs.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whether the process has CAP_SYS_ADMIN where it is. */
static bool is_admin(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

    if (syscall(SYS_capget, &head, data) < 0)
        return false;
    return data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN);
}

static int write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    int status;

    if (fd < 0)
        return -1;
    status = files_write_all(fd, text, strlen(text));
    if (close(fd) < 0)
        status = -1;
    return status;
}

/* Every id stays what it is (user_namespaces(7)); a gid map needs setgroups denied first. */
static int map_identity(uid_t uid, gid_t gid, struct err *err)
{
    char line[64];

    snprintf(line, sizeof(line), "%u %u 1\n", uid, uid);
    if (write_text("/proc/self/uid_map", line) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "no user id in a new user namespace");
    snprintf(line, sizeof(line), "%u %u 1\n", gid, gid);
    if (write_text("/proc/self/setgroups", "deny") < 0 ||
        write_text("/proc/self/gid_map", line) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "no group id in a new user namespace");
    return 0;
}

int namespace_permit(int user_ns, struct err *err)
{
    const uid_t uid = geteuid();
    const gid_t gid = getegid();

    if (user_ns >= 0) {
        if (setns(user_ns, CLONE_NEWUSER) < 0)
            return err_sys(err, ERR_SYSTEM, errno, "the user namespace cannot be joined");
        return 0;
    }
    if (is_admin())
        return 0;
    if (unshare(CLONE_NEWUSER) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "no user namespace");
    return map_identity(uid, gid, err);
}

int namespace_new(int *fd, struct err *err)
{
    if (unshare(CLONE_NEWNET) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "no network namespace");
    *fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return err_sys(err, ERR_SYSTEM, errno, "no descriptor of a network namespace");
    return 0;
}

int namespace_enter(int fd, struct err *err)
{
    if (setns(fd, CLONE_NEWNET) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "the network namespace cannot be joined");
    return 0;
}

int namespace_enter_owned(int fd, struct err *err)
{
    int owner;

    if (setns(fd, CLONE_NEWNET) == 0)
        return 0;
    owner = ioctl(fd, NS_GET_USERNS); /* ioctl_ns(2) */
    if (owner < 0 || setns(owner, CLONE_NEWUSER) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "the user namespace of a network cannot be joined");
    close(owner);
    return namespace_enter(fd, err);
}

int namespace_sysctl(const char *name, const char *value, struct err *err)
{
    char path[160];

    snprintf(path, sizeof(path), "/proc/sys/net/%s", name);
    if (write_text(path, value) == 0)
        return 0;
    err_sys(err, ERR_SYSTEM, errno, "'%s' of the private network cannot be set", path);
    if (errno == EROFS)
        err_hint(err, "a container has /proc/sys read-only; run it with a writable one");
    return -1;
}

static int ethtool(int sock, const char *device, uint32_t command, uint32_t *data)
{
    struct ethtool_value value = {.cmd = command, .data = *data};
    struct ifreq request;

    memset(&request, 0, sizeof(request));
    memcpy(request.ifr_name, device, strnlen(device, sizeof(request.ifr_name) - 1));
    request.ifr_data = (void *)&value;
    if (ioctl(sock, SIOCETHTOOL, &request) < 0)
        return -1;
    *data = value.data;
    return 0;
}

static int any_socket(struct err *err)
{
    int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (sock < 0)
        err_sys(err, ERR_SYSTEM, errno, "no socket in the private network");
    return sock;
}

int namespace_offload_off(const char *device, struct err *err)
{
    static const uint32_t commands[] = {ETHTOOL_STXCSUM, ETHTOOL_STSO};
    int sock = any_socket(err);
    int status = 0;

    if (sock < 0)
        return -1;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]) && status == 0; i++) {
        uint32_t off = 0;

        if (ethtool(sock, device, commands[i], &off) < 0 && errno != EOPNOTSUPP)
            status = err_sys(err, ERR_SYSTEM, errno, "offloads of device '%s' stay on", device);
    }
    close(sock);
    return status;
}

int namespace_settle(const char *device, struct err *err)
{
    int sock = any_socket(err);
    uint32_t carrier = 0;
    int status = 0;

    if (sock < 0)
        return -1;
    if (ethtool(sock, device, ETHTOOL_GLINK, &carrier) < 0)
        status = err_sys(err, ERR_SYSTEM, errno, "the carrier of device '%s' is not known", device);
    else if (!carrier)
        status = err_set(err, ERR_SYSTEM, "device '%s' has no carrier", device);
    close(sock);
    return status;
}

/* ---- why not ---- */

static bool sysctl_is(const char *root, const char *name, uint64_t value, struct arena *arena)
{
    char text[32], *end;
    uint64_t found;

    if (files_read_small(arena_printf(arena, "%s/proc/sys/%s", root, name), text, sizeof(text)) < 0)
        return false;
    found = strtoull(text, &end, 10);
    return end != text && found == value;
}

/* 2 where a filter is active (seccomp(2)), as in a container. */
static bool has_seccomp(const char *root, struct arena *arena)
{
    struct buf text = BUF_INIT;
    struct err ignored;
    bool found;

    found =
        files_read(arena_printf(arena, "%s/proc/self/status", root), 65536, &text, &ignored) == 0 &&
        strstr(text.data, "\nSeccomp:\t2");
    buf_release(&text);
    return found;
}

/* Whether a filter refuses unshare(2) itself: asked for what no kernel knows it would be EINVAL. */
static bool filter_forbids(const char *root, struct arena *arena)
{
    static const int unknown_flag = 1;

    if (!has_seccomp(root, arena))
        return false;
    return root[0] || (unshare(unknown_flag) < 0 && errno != EINVAL);
}

/* The AppArmor profile that confines this process, or NULL. */
static const char *apparmor_profile(const char *root, struct arena *arena)
{
    char text[256];

    if (files_read_small(arena_printf(arena, "%s/proc/self/attr/apparmor/current", root), text,
                         sizeof(text)) < 0 &&
        files_read_small(arena_printf(arena, "%s/proc/self/attr/current", root), text,
                         sizeof(text)) < 0)
        return NULL;
    text[strcspn(text, "\n")] = '\0';
    return strstr(text, "(enforce)") ? arena_strdup(arena, text) : NULL;
}

static struct namespace_reason reason(const char *why, const char *mend)
{
    return (struct namespace_reason){.why = why, .mend = mend};
}

struct namespace_reason namespace_why_not(int sys_errno, const char *root, struct arena *arena)
{
    static const struct {
        const char *name;
        uint64_t bad;
        const char *why, *mend;
    } rules[] = {
        {"user/max_user_namespaces", 0,
         "user namespaces are forbidden: sysctl user.max_user_namespaces is 0",
         "sudo sysctl user.max_user_namespaces=10000"},
        {"kernel/unprivileged_userns_clone", 0,
         "user namespaces are forbidden to normal users: sysctl kernel.unprivileged_userns_clone "
         "is 0",
         "sudo sysctl kernel.unprivileged_userns_clone=1, or run abba as root"},
        {"kernel/apparmor_restrict_unprivileged_userns", 1,
         "AppArmor takes a normal user's rights in user namespaces away: sysctl "
         "kernel.apparmor_restrict_unprivileged_userns is 1",
         "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, or run abba as root"},
        {"user/max_net_namespaces", 0,
         "network namespaces are forbidden: sysctl user.max_net_namespaces is 0",
         "sudo sysctl user.max_net_namespaces=10000"},
    };
    const char *profile = apparmor_profile(root, arena);

    if ((sys_errno == EPERM || sys_errno == ENOSYS) && filter_forbids(root, arena))
        return reason("a seccomp filter, as containers have, forbids namespaces",
                      "start the container with --privileged, or with --security-opt "
                      "seccomp=unconfined --cap-add SYS_ADMIN --cap-add NET_ADMIN");
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (sysctl_is(root, rules[i].name, rules[i].bad, arena))
            return reason(rules[i].why, rules[i].mend);
    }
    if (sys_errno == ENOSPC)
        return reason("too many namespaces: sysctl user.max_user_namespaces or "
                      "user.max_net_namespaces is used up",
                      "sudo sysctl user.max_user_namespaces=10000 user.max_net_namespaces=10000");
    if (sys_errno == EINVAL || sys_errno == ENOSYS)
        return reason("the kernel has no network or user namespaces (CONFIG_NET_NS, "
                      "CONFIG_USER_NS)",
                      "a kernel that has them");
    if ((sys_errno == EPERM || sys_errno == EACCES) && profile)
        return reason(arena_printf(arena, "AppArmor's profile '%s' forbids namespaces", profile),
                      "start the container with --security-opt apparmor=unconfined, or allow "
                      "'userns' in the profile");
    return reason(arena_printf(arena, "namespaces are forbidden: %s", strerror(sys_errno)),
                  "run as root, or let the administrator allow user namespaces");
}
