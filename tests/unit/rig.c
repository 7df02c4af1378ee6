#include "rig.h"

#include <dirent.h>
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

struct run_role rig_role(struct rig *r, const char *role, const char *program, ...)
{
    static const char *const env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
    struct run_role made = {
        .name = role, .envp = env, .net_fd = -1, .ready_timeout_ns = 5000000000u};
    struct strings argv = {NULL, 0, 0};
    const char *arg;
    va_list ap;

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
                                        .timeout_ns = r->timeout_ns};
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

int rig_count_processes(const char *name)
{
    DIR *d = opendir("/proc");
    struct dirent *e;
    int count = 0;

    if (d == NULL)
        return -1;
    while ((e = readdir(d)) != NULL) {
        char path[300], stat[512], *begin, *end;

        if (e->d_name[0] < '1' || e->d_name[0] > '9')
            continue;
        snprintf(path, sizeof(path), "/proc/%.100s/stat", e->d_name);
        if (files_read_small(path, stat, sizeof(stat)) <= 0)
            continue;
        begin = strchr(stat, '(');
        end = strrchr(stat, ')');
        if (begin == NULL || end == NULL || end[1] != ' ' || end[2] == 'Z')
            continue;
        *end = '\0';
        count += strcmp(begin + 1, name) == 0;
    }
    closedir(d);
    return count;
}
