/*
 * netstat: the UDP error counters of the network namespace.
 */
#ifndef FLOW_NETSTAT_H
#define FLOW_NETSTAT_H

#include <stdbool.h>
#include <stdint.h>

struct netstat {
    bool known;
    uint64_t in_errors;     /* InErrors, IPv4 and IPv6 together */
    uint64_t rcvbuf_errors; /* RcvbufErrors: no room in a socket */
};

/* Reads /proc/net/snmp and /proc/net/snmp6; known is false where that fails. */
void netstat_read(struct netstat *n);

#endif
