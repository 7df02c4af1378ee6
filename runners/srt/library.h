/*
 * library: the libsrt under test, loaded while the program runs, so that one program measures any
 * of them. Nothing here is linked to libsrt; its headers give the types.
 */
#ifndef SRT_LIBRARY_H
#define SRT_LIBRARY_H

#include "../common/err.h"

#include <srt.h>

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Functions of libsrt 1.4.2 and later; the member is named without "srt_". */
/* clang-format off */
#define LIBRARY_FUNCTIONS(X) \
    X(startup) X(getversion) X(setloglevel) X(create_socket) X(bind) X(listen) \
    X(listen_callback) X(accept) X(connect) X(close) X(getsockname) X(getsockflag) X(setsockflag) \
    X(getsockstate) X(sendmsg2) X(recvmsg2) X(getsndbuffer) X(bstats) X(getlasterror) \
    X(getlasterror_str) X(getrejectreason) X(setrejectreason) X(rejectreason_str) \
    X(epoll_create) X(epoll_add_usock) X(epoll_remove_usock) X(epoll_uwait) X(epoll_set)
/* clang-format on */

enum { REJECT_UNAUTHORIZED = 1401 }; /* SRT_REJX_UNAUTHORIZED (access_control.h) */

struct library {
    char path[PATH_MAX]; /* of the file that was really loaded */
    char version[16];    /* "1.5.1", from srt_getversion() */
    uint32_t number;     /* 0x010501 */
#define LIBRARY_MEMBER(name) __typeof__(srt_##name) *name;
    LIBRARY_FUNCTIONS(LIBRARY_MEMBER)
#undef LIBRARY_MEMBER
};

/* The library's name where none is asked for: that of the headers' version. */
const char *library_default(void);

/*
 * Loads and starts a libsrt: a file's path, a name that the loader finds (so LD_LIBRARY_PATH and
 * LD_PRELOAD do what they always do), or a folder, in or below which one must lie as installations
 * have it. Says what is wrong with one that cannot be loaded, is no libsrt or is too old.
 */
int library_open(struct library *lib, const char *name, struct err *e);

/* Sets the message and appends libsrt's last error. Returns -1. */
int library_error(const struct library *lib, struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Why a connection was refused: "SRT reject reason BADSECRET (10): ...". */
void library_reject_text(const struct library *lib, int reason, char *out, size_t size);

#endif
