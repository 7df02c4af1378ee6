/*
 * touch KIB MS: writes to KIB of fresh memory, holds it for MS, then says the highest resident set
 * that the kernel saw of it (VmHWM, which is exact).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static long peak_kib(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;

    while (f != NULL && fgets(line, sizeof(line), f) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    if (f != NULL)
        fclose(f);
    return kib;
}

int main(int argc, char **argv)
{
    const size_t size = (argc > 1 ? strtoul(argv[1], NULL, 10) : 0) * 1024;
    const long ms = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    const struct timespec hold = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    if (size > 0) {
        char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (p == MAP_FAILED)
            return 1;
        madvise(p, size, MADV_NOHUGEPAGE); /* exactly what is asked for */
        for (size_t i = 0; i < size; i += 4096)
            p[i] = 1;
    }
    nanosleep(&hold, NULL);
    printf("peak_kib=%ld\n", peak_kib());
    return 0;
}
