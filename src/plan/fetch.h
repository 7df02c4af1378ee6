/*
 * fetch: programs that are named by an address, "https://HOST/PROGRAM#sha256=HEX".
 *
 * They are kept in a cache of the user's (XDG_CACHE_HOME/abba/programs/HEX/PROGRAM) and their
 * SHA-256 is computed each time. A file appears there once it is whole and is what the address
 * says. What a cut transfer left is continued by the next one.
 */
#ifndef ABBA_PLAN_FETCH_H
#define ABBA_PLAN_FETCH_H

#include "base/err.h"
#include "base/http.h"

struct arena;

#define FETCH_MAX_BYTES ((uint64_t)1 << 30)
#define FETCH_TOTAL_NS (600 * 1000000000LL)

/*
 * The absolute path of the program in the cache; it is executable. `options` NULL: none but the
 * defaults above. ERR_USAGE: the address does not say the SHA-256, or is none. ERR_CONFIG: what is
 * there has another, or the server refuses. ERR_SYSTEM: it could not be fetched or stored.
 */
int fetch_program(const char *url, const struct http_options *options, const char **path,
                  struct arena *arena, struct err *err);

/* The address without what may be secret: "https://HOST/PROGRAM#sha256=HEX". */
const char *fetch_shown(const char *url, struct arena *arena);

#endif
