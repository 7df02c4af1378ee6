/*
 * sandbox: for tests that need namespaces. Each body runs in a process of its own, as whoever the
 * test asks for, and says what is wrong in one line.
 */
#ifndef ABBA_TESTS_SANDBOX_H
#define ABBA_TESTS_SANDBOX_H

#include <stddef.h>
#include <sys/types.h>

#define SANDBOX_TEXT 600
#define SANDBOX_NOBODY 65534 /* a normal user */

/* NULL if all is well, else what is not. */
typedef const char *(*sandbox_body)(void *arg);

/* Runs the body in a child with the user id; fails the test with its text. */
void sandbox_run(uid_t uid, sandbox_body body, void *arg);

/* Text of a failure, kept in a static buffer. */
const char *sandbox_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Whether networks can be made here as that user: where not, prints why, and the test skips. */
int sandbox_can(uid_t uid);

/* One datagram, and one TCP connection with `bytes` each way, from one address to another of the
 * present namespace. NULL or what is wrong. Waits at most 10 s. */
const char *sandbox_udp(const char *to);
const char *sandbox_tcp(const char *to, size_t bytes);

#endif
