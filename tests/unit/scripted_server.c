#include "scripted_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(bool good, const char *what)
{
    if (!good) {
        perror(what);
        abort();
    }
}

/* Reads a request with its body, as its Content-Length says. */
static void read_request(int connection, int asked)
{
    char text[65536];
    size_t len = 0, body = 0;
    const char *end = NULL;

    while (len + 1 < sizeof(text)) {
        ssize_t n = read(connection, text + len, sizeof(text) - 1 - len);
        if (n <= 0)
            break;
        len += (size_t)n;
        text[len] = '\0';
        if (!end && (end = strstr(text, "\r\n\r\n"))) {
            const char *length = strcasestr(text, "\r\ncontent-length:");
            body = length ? strtoul(length + 17, NULL, 10) : 0;
            if (strcasestr(text, "\r\nexpect: 100-continue"))
                must(write(connection, "HTTP/1.1 100 Continue\r\n\r\n", 25) == 25, "continue");
        }
        if (end && len >= (size_t)(end + 4 - text) + body)
            break;
    }
    must(write(asked, text, len) == (ssize_t)len, "log");
}

static void serve(int listener, int asked, const char *const answers[], int count)
{
    for (int i = 0; i < count; i++) {
        const char *answer = answers[i];
        char rest[4096];
        int connection = accept(listener, NULL, NULL);
        must(connection >= 0, "accept");
        read_request(connection, asked);
        bool stay = strncmp(answer, "...", 3) == 0;
        answer += stay ? 3 : 0;
        must(write(connection, answer, strlen(answer)) >= 0, "answer");
        while (stay && read(connection, rest, sizeof(rest)) > 0)
            ;
        close(connection);
    }
}

void scripted_server_start(struct scripted_server *s, const char *const answers[], int count)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    must(listener >= 0 && bind(listener, (struct sockaddr *)&at, len) == 0 &&
             listen(listener, 8) == 0 && getsockname(listener, (struct sockaddr *)&at, &len) == 0,
         "listen");
    s->port = ntohs(at.sin_port);
    s->asked = memfd_create("asked", MFD_CLOEXEC);
    must(s->asked >= 0, "memfd");
    s->pid = fork();
    must(s->pid >= 0, "fork");
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGPIPE, SIG_IGN);
        serve(listener, s->asked, answers, count);
        _exit(0);
    }
    close(listener);
}

char *scripted_server_end(struct scripted_server *s)
{
    /* Every answer that was wanted has been given by now: the client waited for it. */
    kill(s->pid, SIGKILL);
    must(waitpid(s->pid, NULL, 0) == s->pid, "wait");
    off_t size = lseek(s->asked, 0, SEEK_END);
    char *text = calloc(1, (size_t)size + 1);
    must(text && pread(s->asked, text, (size_t)size, 0) == size, "read");
    close(s->asked);
    return text;
}
