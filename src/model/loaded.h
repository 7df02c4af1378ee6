/*
 * loaded: what really ran, as loaded.json of an archive records it.
 *
 * Every file that was mapped executable in a process of a role, seen in /proc/PID/maps while it
 * ran, and by whom. series/ fills it in, archive/ keeps it. A file that could not be read, and a
 * role that could not be looked at, stand there with the reason.
 */
#ifndef ABBA_MODEL_LOADED_H
#define ABBA_MODEL_LOADED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strings.h"

struct arena;
struct buf;
struct json;

struct loaded_file {
    const char *path;         /* the real one, links resolved */
    const char *sha256;       /* NULL: see reason */
    uint64_t size_bytes;      /* 0 with a reason */
    const char *build_id;     /* GNU build id, hex; NULL: it has none */
    const char *soname;       /* of a library; NULL: it has none */
    const char *package;      /* "deb zlib1g 1:1.3" of its .note.package; NULL: it has none */
    struct strings compilers; /* DWARF producers with their flags, else .comment */
    const char *reason;       /* why there is no checksum; NULL if there is one */
};

/* The files of one role of one variant under one profile. */
struct loaded_role {
    const char *variant, *profile, *role;
    uint64_t run;   /* the first in which it was seen; 0: none */
    uint64_t looks; /* how often a process of it was looked at */
    bool traced;    /* a run beside the series was traced to see it: it is too short otherwise */
    const char *reason; /* why nothing was seen; NULL if something was */
    size_t *files;      /* places in the list of files, ascending */
    size_t file_count;
};

struct loaded {
    const char *tool;          /* "abba 0.1.0" */
    const char *tool_sha256;   /* of the abba that ran the series; NULL: it could not be read */
    const char *tool_build_id; /* NULL: it has none */
    struct loaded_file *files;
    size_t file_count;
    struct loaded_role *roles; /* in the order in which they ran */
    size_t role_count;
};

/* Appends the document, with a newline at its end. */
void loaded_encode(const struct loaded *l, struct buf *out);

/* Reads it back, strictly. Everything belongs to the arena. ERR_CONFIG on a fault. */
int loaded_decode(struct loaded *l, const struct json *root, const char *file, struct arena *arena,
                  struct err *err);

#endif
