/*
 * held: signals while files are lying about.
 *
 * A series holds signals itself. Around it they are only noted, so that what is temporary is
 * removed also when the signal comes while a report is made; it is raised again at the end.
 */
#ifndef ABBA_CLI_HELD_H
#define ABBA_CLI_HELD_H

#include <signal.h>

#define HELD_SIGNALS 3

struct held {
    struct sigaction before[HELD_SIGNALS];
};

/* Notes SIGINT, SIGTERM and SIGHUP from now on. */
void held_begin(struct held *h);

/* A signal that came elsewhere and is to be raised again at the end. */
void held_note(int signal);

/* The signal that came, 0: none. */
int held_signal(void);

/* As it was before; what was noted will be raised again when abba ends. */
void held_end(const struct held *h);

#endif
