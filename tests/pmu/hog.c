/*
 * hog: takes all hardware counters of CPU 0 for itself, says "ready" and keeps them until it is
 * killed. Pinned events of a CPU go before those of tasks (perf_event_open(2)).
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

static long take(unsigned long long config)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof(attr));
    attr.type = PERF_TYPE_HARDWARE;
    attr.size = sizeof(attr);
    attr.config = config;
    attr.pinned = 1;
    return syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
}

int main(void)
{
    int taken = take(PERF_COUNT_HW_CPU_CYCLES) >= 0; /* has a counter of its own on arm64 */

    /* 31 is the most that armv8_pmuv3 has; those in excess are in error state and harmless. */
    for (int i = 0; i < 31; i++)
        taken += take(PERF_COUNT_HW_INSTRUCTIONS) >= 0;
    printf("ready %d\n", taken);
    fflush(stdout);
    for (;;)
        pause();
}
