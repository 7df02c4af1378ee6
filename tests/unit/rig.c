#include "rig.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "check.h"

void rig_open(struct rig *r, enum isolation isolation, bool users, size_t roles)
{
    struct err err = {.code = ERR_NONE};

    *r = (struct rig){.timeout_ns = 20000000000u};
    arena_init(&r->arena);
    r->options = (struct run_options){
        .isolation = isolation, .users = users, .max_roles = roles, .wake_fd = -1};
    if (run_host_open(&r->host, &r->options, &err) < 0)
        fail_msg("cannot open a run host: %s", err.msg);
}

void rig_close(struct rig *r)
{
    run_host_close(r->host);
    arena_release(&r->arena);
}

const char *rig_program(struct rig *r, const char *name)
{
    const char *build = getenv("ABBA_BUILD");

    if (name[0] == '/')
        return name;
    return arena_printf(&r->arena, "%s/cost/%s", build != NULL ? build : "build", name);
}

/* An environment setting that tells this test's processes from another's; children keep it. */
static char test_mark[32];

static const char *test_word(void)
{
    if (test_mark[0] == '\0')
        snprintf(test_mark, sizeof(test_mark), "ABBA_TEST=%d", (int)getpid());
    return test_mark;
}

struct run_role rig_role(struct rig *r, const char *role, const char *program, ...)
{
    static const char *const env[] = {"PATH=/usr/bin:/bin", test_mark, NULL};
    struct run_role made = {
        .name = role, .envp = env, .net_fd = -1, .ready_timeout_ns = 5000000000u};
    struct strings argv = {NULL, 0, 0};
    const char *arg;
    va_list ap;

    test_word();
    strings_add(&argv, &r->arena, rig_program(r, program));
    va_start(ap, program);
    while ((arg = va_arg(ap, const char *)) != NULL)
        strings_add(&argv, &r->arena, arg);
    va_end(ap);
    made.argv = argv.items;
    return made;
}

const struct outcome *rig_run(struct rig *r, const struct run_role *roles, size_t count)
{
    const struct run_request request = {.number = 1,
                                        .roles = roles,
                                        .role_count = count,
                                        .stdin_fd = -1,
                                        .timeout_ns = r->timeout_ns,
                                        .look = r->look};
    const struct outcome *out = NULL;
    struct err err = {.code = ERR_NONE};

    if (run_execute(r->host, &request, &out, &err) < 0)
        fail_msg("abba cannot go on: %s", err.msg);
    return out;
}

double rig_number(const struct role_outcome *o, const char *key)
{
    const char *p = o->out.head;
    const size_t n = strlen(key);

    while ((p = strstr(p, key)) != NULL) {
        if ((p == o->out.head || p[-1] == '\n') && p[n] == '=')
            return strtod(p + n + 1, NULL);
        p += n;
    }
    fail_msg("no %s= in what the program wrote: '%s'", key, o->out.head);
    return 0;
}

bool rig_says(const struct role_outcome *o, const char *text)
{
    return strstr(o->out.head, text) != NULL;
}

/* Whether one of the NUL-terminated words of a file of /proc is `word`. */
static bool has_word(const char *pid, const char *file, const char *word)
{
    char path[300], text[8192];
    int fd;
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%.100s/%s", pid, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    for (ssize_t at = 0; at < n; at += (ssize_t)strlen(text + at) + 1)
        if (strcmp(text + at, word) == 0)
            return true;
    return false;
}

/* `name` NULL: any. */
static bool is_called(const char *pid, const char *name)
{
    char path[300], stat[512], *begin, *end;

    snprintf(path, sizeof(path), "/proc/%.100s/stat", pid);
    if (files_read_small(path, stat, sizeof(stat)) <= 0)
        return false;
    begin = strchr(stat, '(');
    end = strrchr(stat, ')');
    if (begin == NULL || end == NULL || end[1] != ' ' || end[2] == 'Z')
        return false;
    *end = '\0';
    return name == NULL || strcmp(begin + 1, name) == 0;
}

static int count_processes(const char *name, const char *file, const char *word)
{
    DIR *d = opendir("/proc");
    struct dirent *e;
    int count = 0;

    if (d == NULL)
        return -1;
    while ((e = readdir(d)) != NULL)
        count += e->d_name[0] >= '1' && e->d_name[0] <= '9' && is_called(e->d_name, name) &&
                 has_word(e->d_name, file, word);
    closedir(d);
    return count;
}

int rig_count_processes(const char *name)
{
    return count_processes(name, "environ", test_word());
}

int rig_count_zygotes(pid_t owner)
{
    char word[32];

    snprintf(word, sizeof(word), "of-%d", (int)owner);
    return count_processes(NULL, "cmdline", word);
}
