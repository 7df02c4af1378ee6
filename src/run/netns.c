#include "run/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEV_BYTES 8192

void netns_begin(struct netns *n, int net_fd)
{
    struct stat st;

    *n = (struct netns){0};
    if (net_fd < 0 || fstat(net_fd, &st) < 0)
        return;
    n->wanted = true;
    n->device = st.st_dev;
    n->inode = st.st_ino;
}

/* "  eth0: 123 4 ...": bytes received are the 1st figure of a line, bytes sent the 9th (proc(5)).
 */
bool netns_has_passed(const char *text)
{
    for (const char *at = text; (at = strchr(at, ':')) != NULL;) {
        char *end;
        unsigned long long received = strtoull(at + 1, &end, 10), sent = received;

        for (int figure = 2; figure <= 9; figure++)
            sent = strtoull(end, &end, 10);
        if (received || sent)
            return true;
        at = end;
    }
    return false;
}

/* Whether packets have passed in the namespace of that process. */
static bool passes(int proc_fd, pid_t pid)
{
    char path[64], text[DEV_BYTES];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "%d/net/dev", (int)pid);
    fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (n < 0)
        return false;
    text[n] = '\0';
    return netns_has_passed(text);
}

enum where { GONE, INSIDE, OUTSIDE };

/* Where nothing can be told of a process, nothing is held against it. */
static enum where look(const struct netns *n, int proc_fd, pid_t pid)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof(path), "%d/ns/net", (int)pid);
    if (fstatat(proc_fd, path, &st, 0) < 0)
        return errno == ENOENT || errno == ESRCH ? GONE : INSIDE;
    return st.st_dev == n->device && st.st_ino == n->inode ? INSIDE : OUTSIDE;
}

void netns_tick(struct netns *n, const struct rss *r)
{
    bool inside = r->count > NETNS_LOOKS_A_TICK, outside = false;

    if (!n->wanted || n->left)
        return;
    for (size_t i = 0; i < r->count && i < NETNS_LOOKS_A_TICK; i++) {
        enum where where = rss_is_turn(r, i) ? look(n, r->proc_fd, r->process[i].pid) : INSIDE;

        inside = inside || where == INSIDE;
        outside = outside || where == OUTSIDE;
        n->left = n->left || (where == OUTSIDE && passes(r->proc_fd, r->process[i].pid));
    }
    n->left = n->left || (outside && !inside);
}
