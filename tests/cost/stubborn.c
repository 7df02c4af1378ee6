/*
 * stubborn: ignores SIGTERM and SIGINT, says "ready", and never ends by itself.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
