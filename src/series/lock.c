#include "series/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define RETRY_MS 50

/*
 * Opens the lock file, made if it is not there. Opened for reading first: in a sticky folder the
 * kernel refuses O_CREAT on another user's file (fs.protected_regular).
 */
static int lock_open(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0 && errno == ENOENT) {
        fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (fd < 0 && errno == EACCES) /* another user made it in between */
            fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    }
    if (fd < 0) {
        err_sys(err, ERR_SYSTEM, errno, "cannot open the lock '%s'", path);
        return err_hint(err, "--no-lock runs without it");
    }
    return fd;
}

/* Tries again and again: a blocking flock() could miss a signal that came just before it. */
static int wait_for(int fd, int wake_fd)
{
    struct pollfd wake = {.fd = wake_fd, .events = POLLIN};

    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return -1;
        if (poll(&wake, 1, RETRY_MS) > 0) {
            errno = EINTR;
            return -1;
        }
    }
    return 0;
}

int lock_take(const char *path, int wake_fd, void (*note)(void *user, const char *text), void *user,
              struct err *err)
{
    int fd = lock_open(path, err);

    if (fd < 0)
        return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    if (errno == EWOULDBLOCK) {
        if (note)
            note(user, "another series runs on this host; waiting for it to end (--no-lock does "
                       "not wait)");
        if (wait_for(fd, wake_fd) == 0)
            return fd;
    }
    if (errno == EINTR)
        err_set(err, ERR_INTERRUPTED, "interrupted while waiting for another series");
    else
        err_sys(err, ERR_SYSTEM, errno, "cannot take the lock '%s'", path);
    close(fd);
    return -1;
}
