/* What is said to a role's process: START, KILL, GO. */
#include "run/launch.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

static size_t strings_size(const struct start *start, uint32_t *argc, uint32_t *envc)
{
    const char *folder = start->folder != NULL ? start->folder : "";
    size_t size = strlen(start->argv[0]) + 1 + strlen(folder) + 1;

    *argc = *envc = 0;
    for (; start->argv[*argc] != NULL; (*argc)++)
        size += strlen(start->argv[*argc]) + 1;
    for (; start->envp != NULL && start->envp[*envc] != NULL; (*envc)++)
        size += strlen(start->envp[*envc]) + 1;
    return size;
}

static void put_strings(char *p, const struct start *start)
{
    p = stpcpy(p, start->argv[0]) + 1;
    p = stpcpy(p, start->folder != NULL ? start->folder : "") + 1;
    for (size_t i = 0; start->argv[i] != NULL; i++)
        p = stpcpy(p, start->argv[i]) + 1;
    for (size_t i = 0; start->envp != NULL && start->envp[i] != NULL; i++)
        p = stpcpy(p, start->envp[i]) + 1;
}

/* Strings too long for a packet: a memfd that the child maps. */
static int make_blob(const struct start *start, size_t size, struct err *err)
{
    int fd = memfd_create("abba-arguments", MFD_CLOEXEC);
    char *p;

    if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
        goto fail;
    p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        goto fail;
    put_strings(p, start);
    munmap(p, size);
    return fd;
fail:
    err_sys(err, ERR_SYSTEM, errno, "cannot hand over %zu bytes of arguments", size);
    if (fd >= 0)
        close(fd);
    return -1;
}

int seat_start(struct seat *s, const struct start *start, struct err *err)
{
    struct wire_start m = {.head = {WIRE_START, start->run},
                           .fds = WIRE_FD_OUT | WIRE_FD_ERR,
                           .events = (uint32_t)start->event_count,
                           .traced = start->traced,
                           .cpu_bytes = (uint32_t)start->cpu_bytes};
    const size_t string_bytes = strings_size(start, &m.argc, &m.envc);
    const size_t event_bytes = start->event_count * sizeof(struct wire_event);
    size_t len = sizeof(m) + event_bytes + start->cpu_bytes;
    int fds[5] = {start->out_fd, start->err_fd}, blob = -1, rc;
    size_t fd_count = 2;

    ABBA_ASSERT(start->event_count <= WIRE_MAX_EVENTS && len < WIRE_MAX_BYTES);
    if (string_bytes > UINT32_MAX / 2)
        return err_set(err, ERR_SYSTEM, "the arguments of '%s' are too long", start->argv[0]);
    m.string_bytes = (uint32_t)string_bytes;
    if (start->in_fd >= 0) {
        m.fds |= WIRE_FD_IN;
        fds[fd_count++] = start->in_fd;
    }
    if (start->net_fd >= 0) {
        m.fds |= WIRE_FD_NET;
        fds[fd_count++] = start->net_fd;
    }
    if (len + string_bytes > WIRE_MAX_BYTES || (uint64_t)m.argc + m.envc > WIRE_MAX_STRINGS) {
        blob = make_blob(start, string_bytes, err);
        if (blob < 0)
            return -1;
        m.fds |= WIRE_FD_BLOB;
        fds[fd_count++] = blob;
    }
    memcpy(s->message, &m, sizeof(m));
    if (event_bytes > 0)
        memcpy(s->message + sizeof(m), start->events, event_bytes);
    if (start->cpu_bytes > 0)
        memcpy(s->message + sizeof(m) + event_bytes, start->cpus, start->cpu_bytes);
    if (blob < 0) {
        put_strings(s->message + len, start);
        len += string_bytes;
    }
    rc = wire_send(s->sock, s->message, len, fds, fd_count);
    if (rc < 0)
        err_sys(err, ERR_SYSTEM, errno, "cannot tell the zygote to start '%s'", start->argv[0]);
    if (blob >= 0)
        close(blob);
    return rc;
}

int seat_kill(struct seat *s, uint32_t run, int sig, struct err *err)
{
    const struct wire_kill m = {.head = {WIRE_KILL, run}, .signal = sig};

    if (wire_send(s->sock, &m, sizeof(m), NULL, 0) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot tell the zygote to end a role");
    return 0;
}

int seat_go(struct seat *s, uint32_t run, int32_t pid, struct err *err)
{
    const struct wire_stand m = {.head = {WIRE_GO, run}, .pid = pid};

    if (wire_send(s->sock, &m, sizeof(m), NULL, 0) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot tell the zygote to go on");
    return 0;
}
