/*
 * settings: the options of an SRT socket, set before it is bound, and read back when it is
 * connected.
 */
#ifndef SRT_SETTINGS_H
#define SRT_SETTINGS_H

#include "library.h"
#include "options.h"

/*
 * Sets all of them. 0, 1 if the library lacks what was asked (`e` says what), or -1.
 */
int settings_apply(const struct library *lib, SRTSOCKET socket, const struct options *o,
                   struct err *e);

/*
 * Whether the connection has what this side asked for: the latency (SRT takes the larger of both
 * sides), and encryption that works both ways.
 */
int settings_agreed(const struct library *lib, SRTSOCKET socket, const struct options *o,
                    struct err *e);

#endif
