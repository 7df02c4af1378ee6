/*
 * err: why a function of flow failed, one line of text. flow stands alone: it uses nothing of
 * the program that runs it.
 */
#ifndef FLOW_ERR_H
#define FLOW_ERR_H

struct err {
    char msg[512]; /* lower case, no full stop, no newline */
};

/* Sets the message. Returns -1. */
int err_set(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Sets the message and appends the text of errno. Returns -1. */
int err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
