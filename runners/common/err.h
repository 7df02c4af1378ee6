/*
 * err: why a function of a runner's program failed, one line of text. These programs stand alone:
 * they use nothing of the program that runs them, only each other's files in runners/common.
 */
#ifndef COMMON_ERR_H
#define COMMON_ERR_H

struct err {
    char msg[512]; /* lower case, no full stop, no newline */
};

/* Sets the message. Returns -1. */
int err_set(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Sets the message and appends the text of errno. Returns -1. */
int err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
