#include "run/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the real files ---- */

static ssize_t system_reread(void *user, int fd, char *out, size_t size)
{
    ssize_t n = pread(fd, out, size - 1, 0);

    (void)user;
    if (n >= 0)
        out[n] = '\0';
    return n;
}

static ssize_t system_read(void *user, const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t n;

    (void)user;
    if (fd < 0)
        return -1;
    while (len < size - 1 && (n = read(fd, out + len, size - 1 - len)) > 0)
        len += (size_t)n;
    close(fd);
    out[len] = '\0';
    return (ssize_t)len;
}

static int system_make(void *user, const char *path)
{
    (void)user;
    return mkdir(path, 0755);
}

static int system_remove(void *user, const char *path)
{
    (void)user;
    return rmdir(path);
}

static int system_open(void *user, const char *path)
{
    (void)user;
    return open(path, O_RDONLY | O_CLOEXEC);
}

const struct cgroup_files cgroup_system = {
    .read = system_read,
    .make = system_make,
    .remove = system_remove,
    .open = system_open,
    .reread = system_reread,
};

/* ---- where ---- */

static int none(struct cgroup *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int none(struct cgroup *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(c->why, sizeof(c->why), fmt, ap);
    va_end(ap);
    return -1;
}

/*
 * Where cgroup v2 is mounted as a whole. mountinfo (proc(5)): id parent major:minor root mountpoint
 * options... - type source options. Mount points with escaped characters are passed over.
 */
static int find_mount(struct cgroup *c, char *out, size_t size)
{
    static char text[65536];
    char *save = NULL;

    if (c->files->read(c->files->user, "/proc/self/mountinfo", text, sizeof(text)) <= 0)
        return none(c, "/proc/self/mountinfo cannot be read");
    for (char *line = strtok_r(text, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        char *type = strstr(line, " - cgroup2 ");
        char root[256], point[256];

        if (type == NULL || sscanf(line, "%*s %*s %*s %255s %255s", root, point) != 2 ||
            strcmp(root, "/") != 0 || strchr(point, '\\') != NULL)
            continue;
        snprintf(out, size, "%s", point);
        return 0;
    }
    return none(c, "cgroup v2 is not mounted");
}

/* abba's own place: the line "0::/PATH" of /proc/self/cgroup (cgroups(7)). */
static int find_own(struct cgroup *c, char *out, size_t size)
{
    char text[4096];
    char *line, *end;

    if (c->files->read(c->files->user, "/proc/self/cgroup", text, sizeof(text)) <= 0)
        return none(c, "/proc/self/cgroup cannot be read");
    line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (line == NULL)
        return none(c, "abba is in no cgroup v2");
    line = strchr(line, '/');
    if (line == NULL)
        return none(c, "abba is in no cgroup v2");
    end = strchr(line, '\n');
    if (end != NULL)
        *end = '\0';
    if (strncmp(line, "/..", 3) == 0)
        return none(c, "abba's cgroup lies outside of what is mounted");
    snprintf(out, size, "%s", strcmp(line, "/") == 0 ? "" : line);
    return 0;
}

/* Empty folders "abba-PID-N" whose abba is gone. A folder with processes cannot be removed. */
static void remove_stale(const struct cgroup *c, const char *base)
{
    DIR *d = opendir(base);
    struct dirent *e;
    char path[1024];

    if (d == NULL)
        return;
    while ((e = readdir(d)) != NULL) {
        int pid, index;

        if (sscanf(e->d_name, "abba-%d-%d", &pid, &index) != 2 || pid <= 0)
            continue;
        if (kill(pid, 0) == 0 || errno != ESRCH)
            continue;
        snprintf(path, sizeof(path), "%s/%s", base, e->d_name);
        c->files->remove(c->files->user, path);
    }
    closedir(d);
}

int cgroup_open(struct cgroup *c, const struct cgroup_files *files, unsigned index)
{
    char mount[256], own[192], base[450], stat_path[544];
    uint64_t usage;

    *c = (struct cgroup){.files = files, .folder_fd = -1, .stat_fd = -1};
    if (find_mount(c, mount, sizeof(mount)) < 0 || find_own(c, own, sizeof(own)) < 0)
        return -1;
    snprintf(base, sizeof(base), "%s%s", mount, own);
    if (index == 0)
        remove_stale(c, base);
    snprintf(c->path, sizeof(c->path), "%s/abba-%d-%u", base, (int)getpid(), index);
    if (files->make(files->user, c->path) < 0)
        return none(c, "no cgroup can be made below abba's own: %s", strerror(errno));
    c->folder_fd = files->open(files->user, c->path);
    snprintf(stat_path, sizeof(stat_path), "%s/cpu.stat", c->path);
    c->stat_fd = files->open(files->user, stat_path);
    if (c->folder_fd < 0 || c->stat_fd < 0 || cgroup_usage(c, &usage) < 0) {
        cgroup_close(c);
        return none(c, "the cgroup does not tell its CPU time");
    }
    return 0;
}

void cgroup_close(struct cgroup *c)
{
    if (c->folder_fd >= 0)
        close(c->folder_fd);
    if (c->stat_fd >= 0)
        close(c->stat_fd);
    c->folder_fd = c->stat_fd = -1;
    if (c->path[0] != '\0')
        c->files->remove(c->files->user, c->path);
    c->path[0] = '\0';
}

int cgroup_usage(const struct cgroup *c, uint64_t *usage_us)
{
    static const char key[] = "usage_usec ";
    char text[1024];
    const char *p;
    char *end;

    if (c->files->reread(c->files->user, c->stat_fd, text, sizeof(text)) <= 0)
        return -1;
    p = strstr(text, key);
    if (p == NULL)
        return -1;
    *usage_us = strtoull(p + strlen(key), &end, 10);
    return end == p + strlen(key) ? -1 : 0;
}
