/* What bounds the processes here beside the machine itself, cgroup v2: cgroup-v2.rst. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "run/machine_look.h"

#define MITIGATIONS_MAX 32

/* ---- flaws of the processor ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void look_at_mitigations(const struct look *l)
{
    static const char folder[] = "/sys/devices/system/cpu/vulnerabilities";
    const char *names[MITIGATIONS_MAX];
    char full[512];
    size_t count = 0;
    const struct dirent *e;
    DIR *dir;

    snprintf(full, sizeof(full), "%s%s", l->root, folder);
    dir = opendir(full);
    while (dir != NULL && count < MITIGATIONS_MAX && (e = readdir(dir)) != NULL)
        if (e->d_name[0] != '.')
            names[count++] = arena_strdup(l->arena, e->d_name);
    if (dir != NULL)
        closedir(dir);
    qsort(names, count, sizeof(*names), by_text);
    for (size_t i = 0; i < count; i++)
        look_set(l, arena_printf(l->arena, "mitigation_%s", names[i]),
                 look_read(l, arena_printf(l->arena, "%s/%s", folder, names[i])));
}

/* ---- limits ---- */

/* abba's own cgroup, "/" for the root; NULL without cgroup v2. */
static char *own_cgroup(const struct look *l)
{
    const char *text = look_read(l, "/proc/self/cgroup");
    const char *line = text != NULL ? strstr(text, "0::/") : NULL;

    if (line == NULL || (line != text && line[-1] != '\n'))
        return NULL;
    line += strlen("0::");
    return arena_strndup(l->arena, line, strcspn(line, "\n"));
}

/* The quota as a share of one CPU; a limit in bytes or tasks as it is. */
static double tightness(const char *text)
{
    char *end;
    const double limit = strtod(text, &end), period = strtod(end, NULL);

    return period > 0 ? limit / period : limit;
}

/* The tightest of the group's and those above it; NULL: none sets one ("max"). */
static const char *tightest(const struct look *l, const char *group, const char *file)
{
    char *path = arena_strdup(l->arena, group);
    const char *best = NULL;

    for (;;) {
        const char *text = look_read(
            l, arena_printf(l->arena, "/sys/fs/cgroup%s/%s", path[1] != '\0' ? path : "", file));
        char *slash = strrchr(path, '/');

        if (text != NULL && strncmp(text, "max", 3) != 0 &&
            (best == NULL || tightness(text) < tightness(best)))
            best = text;
        if (path[1] == '\0')
            return best;
        slash[slash == path] = '\0';
    }
}

static const char *cpuset(const struct look *l, const char *group)
{
    return look_read(l, arena_printf(l->arena, "/sys/fs/cgroup%s/cpuset.cpus.effective",
                                     group[1] != '\0' ? group : ""));
}

static bool is_there(const struct look *l, const char *path)
{
    return files_exists(arena_printf(l->arena, "%s%s", l->root, path));
}

/* By the files that engines put there; systemd's word for the rest. */
static const char *container(const struct look *l)
{
    if (is_there(l, "/run/.containerenv"))
        return "podman";
    if (is_there(l, "/.dockerenv"))
        return "docker";
    return look_read(l, "/run/systemd/container");
}

void look_at_limits(const struct look *l)
{
    static const char *const limits[][2] = {{"cgroup_cpu_max", "cpu.max"},
                                            {"cgroup_memory_max", "memory.max"},
                                            {"cgroup_memory_high", "memory.high"},
                                            {"cgroup_swap_max", "memory.swap.max"},
                                            {"cgroup_pids_max", "pids.max"}};
    const char *group = own_cgroup(l);

    look_set(l, "container", container(l));
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        look_set(l, limits[i][0], group != NULL ? tightest(l, group, limits[i][1]) : NULL);
    look_set(l, "cgroup_cpus", group != NULL ? cpuset(l, group) : NULL);
}
