#include "plan/fetch.h"

#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/url.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRAGMENT "sha256="

struct fetch {
    const char *shown; /* the address, for people */
    const char *url;   /* for the request */
    const char *want;  /* 64 hex digits */
    const char *path;  /* of the program in the cache */
    const char *part;  /* of what has arrived so far */
    struct arena *arena;
};

/* ---- what the address says ---- */

static const char *sha256_of(const char *fragment, struct arena *arena)
{
    if (!fragment || strncmp(fragment, FRAGMENT, strlen(FRAGMENT)) != 0)
        return NULL;
    char *hex = arena_strdup(arena, fragment + strlen(FRAGMENT));
    for (char *p = hex; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return strlen(hex) == 64 && strspn(hex, "0123456789abcdef") == 64 ? hex : NULL;
}

const char *fetch_shown(const char *url, struct arena *arena)
{
    const char *fragment = strchr(url, '#'), *want;

    want = sha256_of(fragment ? fragment + 1 : NULL, arena);
    return want ? arena_printf(arena, "%s#" FRAGMENT "%s", url_shown(url, arena), want)
                : url_shown(url, arena);
}

/* The last part of the path as the name of a file. */
static const char *name_of(const struct url *u, struct arena *arena)
{
    const char *path = url_decode(u->path, arena);
    const char *name = path ? files_basename(path) : "";
    size_t len = strlen(name);

    for (const char *p = name; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return NULL;
    return len > 0 && len < 200 && name[0] != '.' ? name : NULL;
}

/* The user's cache, as the XDG Base Directory Specification has it. */
static const char *cache_folder(struct arena *arena, struct err *err)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (cache && cache[0] == '/')
        return files_join(arena, cache, "abba/programs");
    if (home && home[0] == '/')
        return files_join(arena, home, ".cache/abba/programs");
    err_set(err, ERR_CONFIG, "there is no folder to keep fetched programs in");
    err_hint(err, "XDG_CACHE_HOME or HOME in the environment names one");
    return NULL;
}

static int understand(struct fetch *f, const char *text, struct err *err)
{
    struct arena *arena = f->arena;
    struct url u;

    f->shown = url_shown(text, arena);
    if (url_parse(&u, text, arena, err) != 0)
        return -1;
    f->url = u.bare;
    f->want = sha256_of(u.fragment, arena);
    if (!f->want) {
        err_set(err, ERR_USAGE, "'%s' does not say what program it must be", f->shown);
        return err_hint(err, "%s#sha256=HEX, with the 64 digits that sha256sum prints", f->shown);
    }
    const char *name = name_of(&u, arena), *cache = cache_folder(arena, err);
    if (!cache)
        return -1;
    if (!name)
        return err_set(err, ERR_USAGE, "'%s' names no program", f->shown);
    const char *folder = files_join(arena, cache, f->want);
    f->path = files_join(arena, folder, name);
    f->part = files_join(arena, folder, ".arriving");
    return files_mkdirs(folder, err);
}

/* ---- the cache ---- */

/* Whether the program is there, and is what it must be. */
static bool is_there(const struct fetch *f)
{
    char hex[DIGEST_HEX];
    struct err ignored = {0};

    return access(f->path, X_OK) == 0 && digest_sha256_file(f->path, hex, NULL, &ignored) == 0 &&
           strcmp(hex, f->want) == 0;
}

/* The file for what arrives, locked: -1 with err set. Another process that fetches the same is
 * waited for; what it has put in place by then is not this file any more. */
static int open_part(const struct fetch *f, struct err *err)
{
    for (int i = 0; i < 100; i++) {
        struct stat ours, there;
        int fd = open(f->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

        if (fd < 0 || flock(fd, LOCK_EX) < 0 || fstat(fd, &ours) < 0) {
            err_sys(err, ERR_SYSTEM, errno, "cannot write '%s'", f->part);
            if (fd >= 0)
                close(fd);
            return -1;
        }
        if (stat(f->part, &there) == 0 && there.st_ino == ours.st_ino)
            return fd;
        close(fd);
    }
    return err_set(err, ERR_SYSTEM, "'%s' changes all the time", f->part);
}

static int hash_part(const struct fetch *f, int fd, char hex[DIGEST_HEX], struct err *err)
{
    if (lseek(fd, 0, SEEK_SET) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot read '%s'", f->part);
    return digest_sha256_fd(fd, f->part, hex, NULL, err);
}

/* Fetches until the file is what it must be: what was continued wrongly is fetched once more. */
static int fill(const struct fetch *f, struct http *h, int fd, struct err *err)
{
    struct http_request q = {.url = f->url, .to_file = true, .file = fd};
    char hex[DIGEST_HEX] = "";
    bool again = true;
    int rc = 0;

    while (rc == 0 && again) {
        struct http_response r = HTTP_RESPONSE_INIT;

        rc = http_get_through(h, &q, &r, err);
        if (rc == 0)
            rc = hash_part(f, fd, hex, err);
        again = rc == 0 && r.continued && strcmp(hex, f->want) != 0;
        if (again && ftruncate(fd, 0) < 0)
            rc = err_sys(err, ERR_SYSTEM, errno, "cannot write '%s'", f->part);
        http_response_release(&r);
    }
    if (rc != 0 || strcmp(hex, f->want) == 0)
        return rc;
    unlink(f->part);
    return err_set(err, ERR_CONFIG, "'%s' is not the program that was asked for: its SHA-256 is %s",
                   f->shown, hex);
}

static int put_in_place(const struct fetch *f, int fd, struct err *err)
{
    if (fchmod(fd, 0755) < 0 || fsync(fd) < 0 || rename(f->part, f->path) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot write '%s'", f->path);
    return 0;
}

static int fetch(const struct fetch *f, const struct http_options *options, struct err *err)
{
    struct http_options o = options ? *options : (struct http_options){0};
    struct http *h = NULL;
    int rc = -1, fd;

    o.limits.max_bytes = o.limits.max_bytes ? o.limits.max_bytes : FETCH_MAX_BYTES;
    o.limits.total_ns = o.limits.total_ns ? o.limits.total_ns : FETCH_TOTAL_NS;
    fd = open_part(f, err);
    if (fd < 0)
        return -1;
    if (is_there(f)) /* another process was faster */
        rc = unlink(f->part) == 0 ? 0
                                  : err_sys(err, ERR_SYSTEM, errno, "cannot remove '%s'", f->part);
    else if (http_new(&h, &o, err) == 0 && fill(f, h, fd, err) == 0)
        rc = put_in_place(f, fd, err);
    http_free(h);
    close(fd);
    return rc;
}

int fetch_program(const char *url, const struct http_options *options, const char **path,
                  struct arena *arena, struct err *err)
{
    struct fetch f = {.arena = arena};

    if (understand(&f, url, err) != 0)
        return -1;
    *path = f.path;
    return is_there(&f) ? 0 : fetch(&f, options, err);
}
