#include "series/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/names.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"
#include "series/at_hand.h"

struct keeping {
    struct archive_writer *writer;
    void (*note)(void *user, const char *text);
    void *user;
    struct err *err;
};

/* A file that cannot be read is told; a disk that is full is the end. */
static int keep(const struct keeping *k, const char *path, const char *sha256)
{
    int readable = path && access(path, R_OK) == 0;

    if (!path || !sha256 || !sha256[0])
        return 0;
    if (archive_writer_keep(k->writer, path, sha256, k->err) == 0)
        return 0;
    if (readable && k->err->code != ERR_MEASURE)
        return -1;
    if (k->note)
        k->note(k->user, k->err->msg);
    return 0;
}

/* What a variant, or its part for one role, brings. */
static int keep_part(const struct keeping *k, const struct variant *v)
{
    if (keep(k, v->path, v->sha256) < 0)
        return -1;
    for (size_t i = 0; i < v->file_count; i++)
        if (keep(k, v->files[i].path, v->files[i].sha256) < 0)
            return -1;
    return 0;
}

static int keep_variant(const struct keeping *k, const struct variant *v)
{
    if (keep_part(k, v) < 0)
        return -1;
    for (size_t i = 0; i < v->role_count; i++)
        if (keep_part(k, &v->roles[i].part) < 0)
            return -1;
    return 0;
}

/* A record that an archive brought may have lost names in its paths. */
static int keep_loaded(const struct keeping *k, const struct loaded *loaded)
{
    struct arena arena = ARENA_INIT;
    int rc = 0;

    for (size_t i = 0; i < loaded->file_count && rc == 0; i++)
        rc = keep(k, at_hand_path(&loaded->files[i], &arena), loaded->files[i].sha256);
    arena_release(&arena);
    return rc;
}

int keep_all(struct archive_writer *w, const struct plan *plan, const struct loaded *loaded,
             void (*note)(void *user, const char *text), void *user, struct err *err)
{
    const struct keeping k = {w, note, user, err};

    for (size_t i = 0; i < plan->variant_count; i++)
        if (keep_variant(&k, &plan->variants[i]) < 0)
            return -1;
    if (keep(&k, plan->input_path, plan->input_sha256) < 0 ||
        keep(&k, plan->heap_library, plan->heap_sha256) < 0 ||
        keep(&k, "/proc/self/exe", loaded->tool_sha256) < 0)
        return -1;
    return keep_loaded(&k, loaded);
}

const char *keep_find(const struct archive *a, const char *sha256, struct arena *arena)
{
    const char *path = arena_printf(arena, "%s/" ARCHIVE_PROGRAMS "%s", a->folder, sha256);
    struct stat st;

    return sha256[0] && lstat(path, &st) == 0 && S_ISREG(st.st_mode) ? path : NULL;
}

static int copy_to(int from, const char *to, struct err *err)
{
    int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755), rc = 0;
    ssize_t n;

    if (fd < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot make '%s'", to);
    while ((n = sendfile(fd, from, NULL, 1 << 20)) > 0)
        continue;
    if (n < 0)
        rc = err_sys(err, ERR_SYSTEM, errno, "cannot write '%s'", to);
    if (close(fd) < 0 && rc == 0)
        rc = err_sys(err, ERR_SYSTEM, errno, "cannot write '%s'", to);
    return rc;
}

int keep_take_out(const struct archive *a, const char *sha256, const char *folder, const char *name,
                  struct err *err)
{
    struct arena arena = ARENA_INIT;
    const char *from = keep_find(a, sha256, &arena);
    const char *to = files_join(&arena, folder, name);
    char hex[DIGEST_HEX];
    int fd = from ? open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1, rc = -1;

    if (fd < 0)
        err_set(err, ERR_ARCHIVE, "archive '%s' does not keep '%s'", a->folder, name);
    else
        rc = copy_to(fd, to, err);
    if (fd >= 0)
        close(fd);
    if (rc == 0 && (rc = digest_sha256_file(to, hex, NULL, err)) == 0 && strcmp(hex, sha256) != 0)
        rc = err_set(err, ERR_ARCHIVE, "'%s' is not the file that its name says", from);
    arena_release(&arena);
    return rc;
}
