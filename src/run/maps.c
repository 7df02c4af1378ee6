#include "run/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define DELETED " (deleted)"

void maps_release(struct maps *m)
{
    free(m->file);
    free(m->paths);
    free(m->text);
    *m = (struct maps){0};
}

void maps_begin(struct maps *m, bool wanted)
{
    m->wanted = wanted;
    m->count = m->path_bytes = 0;
    m->looks = 0;
    m->last_errno = 0;
    m->cut = false;
}

/* ---- one line ---- */

/* "00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/dbus-daemon" (proc_pid_maps(5)) */
struct line {
    bool executable;
    unsigned major, minor;
    uint64_t inode;
    char *path;
};

static bool parse_line(char *text, struct line *l)
{
    char rights[5];
    unsigned long long inode;
    int at = 0;

    if (sscanf(text, "%*x-%*x %4s %*x %x:%x %llu %n", rights, &l->major, &l->minor, &inode, &at) <
            4 ||
        at == 0)
        return false;
    l->executable = rights[2] == 'x';
    l->inode = inode;
    l->path = text + at;
    return true;
}

static const struct mapped_file *find(const struct maps *m, const struct line *l)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->file[i].inode == l->inode && strcmp(m->file[i].path, l->path) == 0)
            return &m->file[i];
    return NULL;
}

/* What the path leads to now, and whether that is what is mapped. Device numbers of maps and of
 * stat differ on some file systems (btrfs, older overlayfs): only where they agree do inodes. */
static void identify(struct mapped_file *f, const struct line *l)
{
    struct stat st;
    size_t len = strlen(f->path), tail = strlen(DELETED);

    if (len > tail && strcmp(f->path + len - tail, DELETED) == 0) {
        f->state = MAPPED_DELETED;
        return;
    }
    if (stat(f->path, &st) != 0 || !S_ISREG(st.st_mode)) {
        f->state = MAPPED_ELSEWHERE;
        return;
    }
    f->device = (uint64_t)st.st_dev;
    f->real_inode = (uint64_t)st.st_ino;
    f->size = (uint64_t)st.st_size;
    f->mtime_ns = st.st_mtim.tv_sec * NSEC_PER_SEC + st.st_mtim.tv_nsec;
    f->state = MAPPED_HERE;
    if (st.st_dev == makedev(l->major, l->minor) && st.st_ino != l->inode)
        f->state = MAPPED_ELSEWHERE;
}

static void keep(struct maps *m, const struct line *l)
{
    const size_t size = strlen(l->path) + 1;
    struct mapped_file *f;

    if (find(m, l))
        return;
    if (m->count == MAPS_FILES || size > MAPS_PATHS - m->path_bytes) {
        m->cut = true;
        return;
    }
    f = &m->file[m->count++];
    *f = (struct mapped_file){.path = m->paths + m->path_bytes, .inode = l->inode};
    memcpy(m->paths + m->path_bytes, l->path, size);
    m->path_bytes += size;
    identify(f, l);
}

bool maps_take(struct maps *m, char *text)
{
    bool any = false;
    char *next;

    for (char *at = text; at != NULL && *at != '\0'; at = next) {
        struct line l;

        next = strchr(at, '\n');
        if (next == NULL) /* cut by the end of the room */
            break;
        *next++ = '\0';
        if (!parse_line(at, &l) || !l.executable || l.path[0] != '/')
            continue;
        if (l.inode == m->z_inode)
            return false;
        keep(m, &l);
        any = true;
    }
    return any;
}

/* ---- processes ---- */

/* The whole of it, as far as there is room; -1 if it cannot be read. */
static ssize_t read_maps(struct maps *m, int proc_fd, pid_t pid)
{
    char path[64];
    size_t len = 0;
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "%d/maps", (int)pid);
    fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    do {
        n = read(fd, m->text + len, MAPS_READ_BYTES - 1 - len);
        if (n > 0)
            len += (size_t)n;
    } while (n > 0 && len < MAPS_READ_BYTES - 1);
    if (n > 0)
        m->cut = true;
    close(fd);
    m->text[len] = '\0';
    return n < 0 ? -1 : (ssize_t)len;
}

void maps_init(struct maps *m, int proc_fd, pid_t z_pid)
{
    *m = (struct maps){0};
    m->file = xcalloc(MAPS_FILES, sizeof(*m->file));
    m->paths = xmalloc(MAPS_PATHS);
    m->text = xmalloc(MAPS_READ_BYTES);
    if (read_maps(m, proc_fd, z_pid) > 0 && maps_take(m, m->text))
        m->z_inode = m->file[0].inode;
}

void maps_look(struct maps *m, int proc_fd, pid_t pid)
{
    if (read_maps(m, proc_fd, pid) < 0) {
        if (errno != ENOENT && errno != ESRCH)
            m->last_errno = errno;
        return;
    }
    m->looks += maps_take(m, m->text);
}

void maps_tick(struct maps *m, const struct rss *r)
{
    size_t looks = 0;

    if (!m->wanted)
        return;
    for (size_t i = 0; i < r->count && looks < MAPS_LOOKS_A_TICK; i++)
        if (rss_is_turn(r, i)) {
            maps_look(m, r->proc_fd, r->process[i].pid);
            looks++;
        }
}

void maps_end(const struct maps *m, struct role_outcome *o)
{
    o->mapped = m->file;
    o->mapped_count = m->count;
    o->mapped_cut = m->cut;
    o->looks = m->looks;
    o->look_errno = m->last_errno;
}
