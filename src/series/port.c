#include "series/port.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRIES 64

/*
 * Binds a dual-stack socket (IPv4 only where there is no IPv6) of that type to *port; 0 lets the
 * kernel choose and sets *port. Returns the socket or -1 with errno.
 */
static int bind_port(int type, uint16_t *port)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(*port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(*port)};
    int fd = socket(AF_INET6, type | SOCK_CLOEXEC, 0);
    socklen_t len = sizeof(six);
    int off = 0, rc;

    if (fd >= 0) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
        rc = bind(fd, (struct sockaddr *)&six, sizeof(six));
    } else {
        fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
        if (fd < 0)
            return -1;
        rc = bind(fd, (struct sockaddr *)&four, sizeof(four));
    }
    if (rc != 0) {
        int saved = errno;

        close(fd);
        errno = saved;
        return -1;
    }
    /* sin6_port and sin_port stand at the same place */
    if (*port == 0 && getsockname(fd, (struct sockaddr *)&six, &len) == 0)
        *port = ntohs(six.sin6_port);
    return fd;
}

int port_find(uint16_t *port, struct err *err)
{
    for (int i = 0; i < TRIES; i++) {
        uint16_t candidate = 0;
        int tcp = bind_port(SOCK_STREAM, &candidate);
        int udp;

        if (tcp < 0)
            return err_sys(err, ERR_SYSTEM, errno, "cannot find a free port");
        udp = bind_port(SOCK_DGRAM, &candidate);
        close(tcp);
        if (udp < 0)
            continue;
        close(udp);
        *port = candidate;
        return 0;
    }
    return err_set(err, ERR_SYSTEM, "no port is free for both TCP and UDP");
}
