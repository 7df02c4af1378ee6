/*
 * clock: what time it is, for measuring and for writing down.
 */
#ifndef ABBA_BASE_CLOCK_H
#define ABBA_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC 1000000000LL
#define NSEC_PER_MSEC 1000000LL

/* CLOCK_MONOTONIC, ns. For durations within this machine's uptime. */
int64_t clock_mono_ns(void);

/* CLOCK_REALTIME, ns since 1970-01-01 UTC. */
int64_t clock_real_ns(void);

int64_t clock_timespec_ns(const struct timespec *ts);
struct timespec clock_ns_timespec(int64_t ns);

#define CLOCK_TEXT 40

/* ISO 8601 in UTC, milliseconds: "2024-05-06T07:08:09.123Z". */
void clock_format_utc(int64_t real_ns, char out[CLOCK_TEXT]);

/* For names of files: "20240506T070809Z". */
void clock_format_utc_name(int64_t real_ns, char out[CLOCK_TEXT]);

/* Sleeps until CLOCK_MONOTONIC reaches `mono_ns`; a signal does not end it early. */
void clock_sleep_until(int64_t mono_ns);

#endif
