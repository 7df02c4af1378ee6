/*
 * snmp: the UDP and TCP counters of the present network namespace (/proc/net/snmp,
 * /proc/net/snmp6), of IPv4 and IPv6 together.
 */
#ifndef ABBA_NET_SNMP_H
#define ABBA_NET_SNMP_H

#include "base/err.h"
#include "model/netproof.h"

/* Reads them as they stand. ERR_MEASURE where one is missing: it is no zero. */
int snmp_read(struct net_counters *c, struct err *err);

/* The same from texts: of snmp, and of snmp6 (NULL: a kernel without IPv6). */
int snmp_parse(struct net_counters *c, const char *snmp, const char *snmp6, struct err *err);

/* after - before. */
void snmp_subtract(struct net_counters *after, const struct net_counters *before);

#endif
