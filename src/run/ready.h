/*
 * ready: whether a role shows that the next one may start.
 */
#ifndef ABBA_RUN_READY_H
#define ABBA_RUN_READY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/outcome.h"

struct pattern;

enum ready_answer { READY_NOT_YET, READY_NOW, READY_NEVER };

/*
 * Looks for the pattern in what was written since the last look; *from is where that begins (0 at
 * first) and moves on by whole lines. Only the first MiB of a stream is looked at. READY_NEVER: the
 * pattern backtracks beyond its limit.
 */
enum ready_answer ready_pattern(const struct pattern *p, const struct capture *c, size_t *from);

/*
 * Whether a TCP socket listens, or a UDP socket is bound, on the port, over IPv4 or IPv6, in the
 * network namespace of process `pid` as the folder `proc_fd` shows it (/proc/PID/net, proc(5)).
 */
bool ready_port(int proc_fd, pid_t pid, bool udp, uint16_t port);

#endif
