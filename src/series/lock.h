/*
 * lock: one series at a time on a host, whoever runs it.
 *
 * A flock on a file in /tmp that any user may open for reading. The kernel drops the lock with the
 * process, so nothing is left behind by a crash.
 */
#ifndef ABBA_SERIES_LOCK_H
#define ABBA_SERIES_LOCK_H

#include "base/err.h"

#define LOCK_PATH "/tmp/abba.lock"

/*
 * Takes the lock and returns its descriptor (close it to let go). If another process holds it,
 * `note` is told once and lock_take waits until it is free or `wake_fd` becomes readable, which is
 * ERR_INTERRUPTED.
 */
int lock_take(const char *path, int wake_fd, void (*note)(void *user, const char *text), void *user,
              struct err *err);

#endif
