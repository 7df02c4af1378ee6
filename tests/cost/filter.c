/*
 * filter ERRNO CALL,... -- COMMAND...: runs it under a seccomp filter, as containers have one: the
 * calls that are named fail with that number.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_CALLS 16

static const struct {
    const char *name;
    unsigned number;
} known[] = {
    {"clone3", SYS_clone3},
    {"unshare", SYS_unshare},
    {"mount", SYS_mount},
    {"setns", SYS_setns},
    {"perf_event_open", SYS_perf_event_open},
    {"ptrace", SYS_ptrace},
};

static unsigned number_of(const char *name)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].number;
    fprintf(stderr, "filter: unknown call '%s'\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    struct sock_filter filter[2 * MAX_CALLS + 2];
    struct sock_fprog program = {.filter = filter};
    unsigned short n = 0;

    if (argc < 5 || strcmp(argv[3], "--") != 0)
        return 2;
    unsigned why = SECCOMP_RET_ERRNO | (unsigned)strtoul(argv[1], NULL, 10);
    filter[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (char *name = strtok(argv[2], ","); name && n < 2 * MAX_CALLS; name = strtok(NULL, ",")) {
        filter[n++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number_of(name), 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, why);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = n;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
        perror("filter");
        return 126;
    }
    execvp(argv[4], argv + 4);
    perror(argv[4]);
    return 127;
}
