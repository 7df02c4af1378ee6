#include "series/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
#define CAUGHT (sizeof(caught) / sizeof(caught[0]))

/* A handler has no argument of ours, so this state is the file's. */
static volatile sig_atomic_t first_signal;
static int wake[2] = {-1, -1};
static struct sigaction before[CAUGHT], pipe_before;

static void on_signal(int number)
{
    int saved = errno;

    if (first_signal == 0)
        first_signal = number;
    (void)!write(wake[1], "", 1);
    errno = saved;
}

int signals_hold(struct err *err)
{
    struct sigaction act = {.sa_handler = on_signal};
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    ABBA_ASSERT(wake[0] < 0);
    if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot make a pipe for signals");
    first_signal = 0;
    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < CAUGHT; i++) {
        sigaction(caught[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) /* nohup(1) and shells' "&" mean it */
            sigaction(caught[i], &act, NULL);
    }
    sigaction(SIGPIPE, &ignore, &pipe_before);
    return 0;
}

void signals_release(void)
{
    if (wake[0] < 0)
        return;
    for (size_t i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &before[i], NULL);
    sigaction(SIGPIPE, &pipe_before, NULL);
    close(wake[0]);
    close(wake[1]);
    wake[0] = wake[1] = -1;
}

const volatile sig_atomic_t *signals_flag(void)
{
    return &first_signal;
}

int signals_fd(void)
{
    return wake[0];
}
