#include "base/clock.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"

static int64_t now_ns(clockid_t clock)
{
    struct timespec ts;

    int rc = clock_gettime(clock, &ts);
    ABBA_ASSERT(rc == 0);
    return clock_timespec_ns(&ts);
}

int64_t clock_mono_ns(void)
{
    return now_ns(CLOCK_MONOTONIC);
}

int64_t clock_real_ns(void)
{
    return now_ns(CLOCK_REALTIME);
}

int64_t clock_timespec_ns(const struct timespec *ts)
{
    return (int64_t)ts->tv_sec * NSEC_PER_SEC + ts->tv_nsec;
}

struct timespec clock_ns_timespec(int64_t ns)
{
    int64_t sec = ns / NSEC_PER_SEC;
    int64_t rest = ns % NSEC_PER_SEC;

    if (rest < 0) {
        rest += NSEC_PER_SEC;
        sec--;
    }
    return (struct timespec){.tv_sec = sec, .tv_nsec = (long)rest};
}

static void broken_down(int64_t real_ns, struct tm *tm, int *msec)
{
    struct timespec ts = clock_ns_timespec(real_ns);

    struct tm *done = gmtime_r(&ts.tv_sec, tm);
    ABBA_ASSERT(done != NULL);
    *msec = (int)(ts.tv_nsec / NSEC_PER_MSEC);
}

void clock_format_utc(int64_t real_ns, char out[CLOCK_TEXT])
{
    struct tm tm;
    int msec;

    broken_down(real_ns, &tm, &msec);
    size_t len = strftime(out, CLOCK_TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + len, CLOCK_TEXT - len, ".%03dZ", msec);
}

void clock_format_utc_name(int64_t real_ns, char out[CLOCK_TEXT])
{
    struct tm tm;
    int msec;

    broken_down(real_ns, &tm, &msec);
    strftime(out, CLOCK_TEXT, "%Y%m%dT%H%M%SZ", &tm);
}

void clock_sleep_until(int64_t mono_ns)
{
    struct timespec until = clock_ns_timespec(mono_ns < 0 ? 0 : mono_ns);

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}
