/*
 * die exit STATUS | die signal NUMBER: writes "before" to standard output and "why" to standard
 * error, then ends that way.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
    const struct rlimit no_core = {0, 0};
    const int number = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;

    puts("before");
    fputs("why\n", stderr);
    fflush(stdout);
    setrlimit(RLIMIT_CORE, &no_core);
    if (argc > 1 && strcmp(argv[1], "signal") == 0)
        raise(number);
    return number;
}
