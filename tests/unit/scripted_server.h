/*
 * scripted_server: an HTTP server of a test, in a process of its own on loopback, that answers each
 * connection with the next text of its script, and keeps what it was asked.
 */
#ifndef ABBA_TESTS_SCRIPTED_SERVER_H
#define ABBA_TESTS_SCRIPTED_SERVER_H

#include <sys/types.h>

struct scripted_server {
    pid_t pid;
    int port;
    int asked; /* file that holds all requests, one after the other */
};

/* Answers are whole texts, status line and all; after the last one it ends. "" closes at once;
 * "..." in front of one is left out, the rest is sent, and the connection stays open until the
 * client leaves. */
void scripted_server_start(struct scripted_server *s, const char *const answers[], int count);

/* Waits for its end (kills it after the last answer was not asked for), and gives all it was
 * asked, to be freed. */
char *scripted_server_end(struct scripted_server *s);

#endif
