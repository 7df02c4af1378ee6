/*
 * abba: A/B performance comparison of programs, in pairs. Nothing but this file exits.
 */
#include "cli/cli.h"

#include <signal.h>

int main(int argc, char **argv)
{
    struct cli_end end = cli_main(argc, argv);
    if (end.signal) {
        /* the shell must see that a signal ended us: wait(2), "128 + n" */
        signal(end.signal, SIG_DFL);
        raise(end.signal);
    }
    return end.status;
}
