#include "run/ready.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pattern.h"

#define TCP_LISTEN 0x0A /* include/net/tcp_states.h */

enum ready_answer ready_pattern(const struct pattern *p, const struct capture *c, size_t *from)
{
    const char *text = c->head + *from;
    const size_t len = c->head_len - *from;
    const char *last;

    if (len == 0)
        return READY_NOT_YET;
    switch (pattern_search(p, text, len)) {
    case PATTERN_MATCH:
        return READY_NOW;
    case PATTERN_GAVE_UP:
        return READY_NEVER;
    case PATTERN_NONE:
        break;
    }
    last = memrchr(text, '\n', len);
    if (last != NULL)
        *from += (size_t)(last + 1 - text);
    return READY_NOT_YET;
}

/*
 * One line of the table: "  sl: LOCAL:PORT REMOTE:PORT STATE ...", in hexadecimal. The address is 8
 * or 32 digits long.
 */
static bool line_has_port(const char *line, bool udp, uint16_t port)
{
    char local[40], remote[40];
    unsigned local_port, remote_port, state;

    if (sscanf(line, " %*[^:]: %39[^:]:%x %39[^:]:%x %x", local, &local_port, remote, &remote_port,
               &state) != 5)
        return false;
    return local_port == port && (udp || state == TCP_LISTEN);
}

static bool table_has_port(int proc_fd, const char *path, bool udp, uint16_t port)
{
    char text[8192];
    size_t len = 0;
    bool found = false;
    ssize_t n;
    int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    while (!found && (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0) {
        char *line = text, *end;

        len += (size_t)n;
        text[len] = '\0';
        while (!found && (end = strchr(line, '\n')) != NULL) {
            *end = '\0';
            found = line_has_port(line, udp, port);
            line = end + 1;
        }
        len -= (size_t)(line - text);
        memmove(text, line, len);
    }
    close(fd);
    return found;
}

bool ready_port(int proc_fd, pid_t pid, bool udp, uint16_t port)
{
    const char *const tables[2][2] = {{"tcp", "tcp6"}, {"udp", "udp6"}};
    char path[64];

    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%d/net/%s", (int)pid, tables[udp][i]);
        if (table_has_port(proc_fd, path, udp, port))
            return true;
    }
    return false;
}
