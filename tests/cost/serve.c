/*
 * serve WHAT [MS [STATUS]]: a role that others wait for. After MS it
 *   says       writes "port 1\nready\n" to standard output, then waits for SIGTERM
 *   whispers   the same on standard error
 *   tcp:PORT   listens on 127.0.0.1
 *   udp6:PORT  binds to ::1
 *   exits      exits with STATUS before it was ready
 *   ends       says that it is ready and exits with STATUS at once
 *   kills      says that it is ready and dies of SIGSEGV
 * On SIGTERM it writes "stopped" and exits 0.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void on_term(int sig)
{
    (void)sig;
    (void)!write(STDOUT_FILENO, "stopped\n", 8);
    _exit(0);
}

static int open_port(const char *what)
{
    const long port = strtol(strchr(what, ':') + 1, NULL, 10);
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    int fd;

    if (strncmp(what, "udp6:", 5) == 0) {
        in6.sin6_addr = in6addr_loopback;
        fd = socket(AF_INET6, SOCK_DGRAM, 0);
        return bind(fd, (struct sockaddr *)&in6, sizeof(in6));
    }
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    return bind(fd, (struct sockaddr *)&in, sizeof(in)) < 0 ? -1 : listen(fd, 4);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "says";
    const long ms = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    const int status = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
    const struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    signal(SIGTERM, on_term);
    nanosleep(&ts, NULL);
    if (strcmp(what, "exits") == 0)
        return status;
    if (strchr(what, ':') != NULL) {
        if (open_port(what) < 0)
            return 9;
    } else {
        fputs("port 1\nready\n", strcmp(what, "whispers") == 0 ? stderr : stdout);
        fflush(NULL);
    }
    if (strcmp(what, "ends") == 0)
        return status;
    if (strcmp(what, "kills") == 0)
        raise(SIGSEGV);
    for (;;)
        pause();
}
