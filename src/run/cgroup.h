/*
 * cgroup: the CPU time of a role by a cgroup v2 folder of its own, where that can be had.
 *
 * A role's process Z is born in the folder and stays there for the series, so all of its programs
 * are, also those that nobody waits for. The files are reached through a small table of functions,
 * so that tests can play back any hierarchy.
 */
#ifndef ABBA_RUN_CGROUP_H
#define ABBA_RUN_CGROUP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup_files {
    /* Reads a file; NUL-terminated. The length, or -1 with errno. */
    ssize_t (*read)(void *user, const char *path, char *out, size_t size);
    int (*make)(void *user, const char *path);   /* mkdir */
    int (*remove)(void *user, const char *path); /* rmdir */
    int (*open)(void *user, const char *path);   /* a folder or file, close-on-exec */
    ssize_t (*reread)(void *user, int fd, char *out, size_t size); /* from its start */
    void *user;
};

struct cgroup {
    const struct cgroup_files *files;
    char path[512];
    int folder_fd; /* for CLONE_INTO_CGROUP; -1: no cgroup */
    int stat_fd;   /* cpu.stat */
    char why[128]; /* why there is none */
};

extern const struct cgroup_files cgroup_system;

/* Makes a folder below abba's own cgroup. Without one, folder_fd is -1 and `why` says why. Returns
 * 0 or -1. Folders that a killed abba left behind are removed. */
int cgroup_open(struct cgroup *c, const struct cgroup_files *files, unsigned index);

/* Removes the folder; all of its processes must have ended. */
void cgroup_close(struct cgroup *c);

/* The CPU time used so far, us. 0, or -1 if it cannot be read. */
int cgroup_usage(const struct cgroup *c, uint64_t *usage_us);

#endif
