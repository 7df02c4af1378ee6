/*
 * confine: a process that may write below some folders only, by Landlock (landlock(7)).
 */
#ifndef ABBA_BASE_CONFINE_H
#define ABBA_BASE_CONFINE_H

#include "base/err.h"

/*
 * A rule set under which files can be made, changed and removed below `folders` (NULL-terminated,
 * which must be there) and in /dev alone; reading and executing stay free. *fd is -1 where the
 * kernel has no Landlock: nothing is confined then.
 */
int confine_open(const char *const *folders, int *fd, struct err *err);

/* Puts this thread, and all it starts, under the rule set, for ever. -1 with errno. */
int confine_self(int fd);

#endif
