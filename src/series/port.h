/*
 * port: a port number that no socket uses.
 */
#ifndef ABBA_SERIES_PORT_H
#define ABBA_SERIES_PORT_H

#include <stdint.h>

#include "base/err.h"

/*
 * A port that was free for TCP and UDP, on IPv4 and (where there is one) IPv6, a moment ago. From
 * the kernel's ephemeral range, so all have equally many digits. ERR_SYSTEM if none is found.
 */
int port_find(uint16_t *port, struct err *err);

#endif
