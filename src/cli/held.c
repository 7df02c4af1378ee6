#include "cli/held.h"

#include "cli/cli.h"

#include <stddef.h>

static volatile sig_atomic_t noted;
static const int held[HELD_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

static void note_signal(int signal)
{
    noted = signal;
}

void held_begin(struct held *h)
{
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < HELD_SIGNALS; i++) {
        sigaction(held[i], NULL, &h->before[i]);
        if (h->before[i].sa_handler != SIG_IGN)
            sigaction(held[i], &action, NULL);
    }
}

void held_note(int signal)
{
    noted = signal;
}

int held_signal(void)
{
    return noted;
}

void held_end(const struct held *h)
{
    for (size_t i = 0; i < HELD_SIGNALS; i++)
        sigaction(held[i], &h->before[i], NULL);
    if (noted)
        cli_raise_later(noted);
}
