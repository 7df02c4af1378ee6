/*
 * blast MILLISECONDS: sends datagrams of 1316 bytes to 127.0.0.1, as fast as sendto() takes them;
 * 0: without an end. The last line of its output says how many. Nobody reads them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#define PAYLOAD 1316

static int64_t now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int64_t ms = argc > 1 ? strtoll(argv[1], NULL, 10) : 0, until_ms = now_ms() + ms;
    int sink = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof(to);
    char payload[PAYLOAD] = "";
    uint64_t sent = 0;

    if (bind(sink, (struct sockaddr *)&to, size) < 0 ||
        getsockname(sink, (struct sockaddr *)&to, &size) < 0)
        return 1;
    while (ms == 0 || now_ms() < until_ms)
        if (sendto(fd, payload, sizeof(payload), 0, (struct sockaddr *)&to, size) > 0)
            sent++;
        else if (errno != ENOBUFS && errno != EINTR)
            return 1;
    printf("%llu datagrams\n", (unsigned long long)sent);
    return 0;
}
