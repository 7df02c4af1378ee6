#include "meter.h"

#include "../common/timing.h"

#include <time.h>
#include <unistd.h>

static int64_t birth_ns;

void meter_birth(void)
{
    birth_ns = clock_ns();
}

struct meter meter_now(void)
{
    struct timespec cpu;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    return (struct meter){.wall_ns = clock_ns() - birth_ns,
                          .cpu_ns = (int64_t)cpu.tv_sec * NS_PER_S + cpu.tv_nsec};
}

/* Any language can look for a file; a preloaded library sees it. Without one nothing happens. */
void meter_window_begin(void)
{
    (void)!access("/abba/window/begin", F_OK);
}

void meter_window_end(void)
{
    (void)!access("/abba/window/end", F_OK);
}
