/*
 * spin MS: uses MS milliseconds of CPU time, then says how much it really used.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int main(int argc, char **argv)
{
    const uint64_t want = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000u : 0;

    while (cpu_ns() < want)
        continue;
    printf("cpu_ns=%llu\n", (unsigned long long)cpu_ns());
    return 0;
}
