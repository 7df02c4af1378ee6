/*
 * meter: wall and CPU time of this process, and the window in which a preloaded library counts what
 * the heap is asked for.
 */
#ifndef USRSCTP_METER_H
#define USRSCTP_METER_H

#include <stdint.h>

struct meter {
    int64_t wall_ns, cpu_ns;
};

/* Since the process began: CPU time exactly, wall time since meter_birth(). */
void meter_birth(void);
struct meter meter_now(void);

/* What is allocated from now on counts; until the end. */
void meter_window_begin(void);
void meter_window_end(void);

#endif
