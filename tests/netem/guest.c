/*
 * The first and only process of a small machine whose kernel has sch_netem: mounts, inserts
 * modules, tests, prints what came of it, and switches off.
 *
 * MODE in the environment (a word of the kernel's command line): "exact", "whole" or "statistics".
 * With the argument "talk" it is a program that runs in a network instead.
 */
#include "tap.h"
#include "tests.h"

#include "net/rtnl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

static int tests;

void tap(bool ok, const char *fmt, ...)
{
    va_list args;

    printf("%s %d - ", ok ? "ok" : "not ok", ++tests);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

void tap_end(void)
{
    printf("1..%d\n", tests);
    fflush(stdout);
}

static void console(void)
{
    int fd = open("/dev/console", O_RDWR);

    if (fd < 0)
        return;
    for (int i = 0; i < 3; i++)
        dup2(fd, i);
    if (fd > 2)
        close(fd);
}

static void insert(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST))
        printf("# cannot insert '%s': %s\n", path, strerror(errno));
    if (fd >= 0)
        close(fd);
}

/* /modules has a link a module, numbered in the order in which they are needed. */
static void insert_modules(void)
{
    char path[64];

    for (int i = 0; i < 10; i++) {
        snprintf(path, sizeof(path), "/modules/%d.ko", i);
        if (access(path, F_OK) == 0)
            insert(path);
    }
}

static void test(const char *mode)
{
    struct err err = {0};
    struct rtnl *r;

    if (strcmp(mode, "whole") == 0) {
        test_wholly();
    } else if (rtnl_open(&r, &err) < 0) {
        tap(false, "rtnetlink: %s", err.msg);
    } else if (strcmp(mode, "exact") == 0) {
        if (!getenv("ONLY"))
            test_parameters(r, true);
        test_exactly(r);
    } else {
        test_parameters(r, false);
        test_statistically(r);
    }
}

int main(int argc, char **argv)
{
    const char *mode = getenv("MODE");
    struct utsname name;

    if (argc > 1 && strcmp(argv[1], "talk") == 0)
        return whole_talk();
    mount("dev", "/dev", "devtmpfs", 0, NULL);
    console();
    mount("proc", "/proc", "proc", 0, NULL);
    mount("sys", "/sys", "sysfs", 0, NULL);
    mount("tracing", "/sys/kernel/tracing", "tracefs", 0, NULL);
    insert_modules();
    uname(&name);
    printf("# Linux %s, %s\n", name.release, mode ? mode : "no MODE");
    test(mode ? mode : "");
    tap_end();
    sync();
    reboot(RB_POWER_OFF);
    return 0;
}
