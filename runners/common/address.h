/*
 * address: numeric addresses and ports of UDP sockets; no name is ever looked up.
 */
#ifndef COMMON_ADDRESS_H
#define COMMON_ADDRESS_H

#include "err.h"

#include <netdb.h>

/* A numeric IPv4 or IPv6 address and a port, as sockets take them; freeaddrinfo gives it back. */
int address_resolve(const char *address, const char *port, struct addrinfo **found, struct err *e);

/* The same of "ADDRESS:PORT" or "[ADDRESS]:PORT". */
int address_parse(const char *text, struct addrinfo **found, struct err *e);

#endif
