/*
 * signals: SIGINT, SIGTERM and SIGHUP ask a series to end.
 *
 * While held, a signal sets a flag and makes a descriptor readable, so that a poll loop wakes up.
 * One holder at a time: signal handlers are the process's.
 */
#ifndef ABBA_SERIES_SIGNALS_H
#define ABBA_SERIES_SIGNALS_H

#include "base/err.h"

#include <signal.h>

/* Installs the handlers and ignores SIGPIPE. ERR_SYSTEM if no pipe can be had. */
int signals_hold(struct err *err);

/* Puts back what was there before. */
void signals_release(void);

/* Which signal came first, or 0. Points to the flag itself, for a run host. */
const volatile sig_atomic_t *signals_flag(void);

/* Becomes readable with the first signal and stays so. */
int signals_fd(void);

#endif
