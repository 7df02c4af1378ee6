#include "model/profile.h"

#include <string.h>

const char *profile_load(const struct profile *p, const char *name)
{
    for (size_t i = 0; i < p->load_count; i++)
        if (strcmp(p->load[i].name, name) == 0)
            return p->load[i].text;
    return NULL;
}

const char *profile_axis(const struct profile *p, const char *axis)
{
    for (size_t i = 0; i < p->combination_count; i++)
        if (strcmp(p->combination[i].name, axis) == 0)
            return p->combination[i].text;
    return NULL;
}

const char *profile_role_cpus(const struct profile *p, const char *role)
{
    const char *every = NULL;

    for (size_t i = 0; i < p->cpus_count; i++) {
        if (strcmp(p->cpus[i].role, role) == 0)
            return p->cpus[i].list;
        if (strcmp(p->cpus[i].role, "*") == 0)
            every = p->cpus[i].list;
    }
    return every;
}

/* One number of the list; false if there is none or it is beyond what the kernel knows. */
static bool parse_cpu(const char **at, size_t *cpu)
{
    const char *p = *at;

    for (*cpu = 0; *p >= '0' && *p <= '9' && *cpu < CPU_SETSIZE; p++)
        *cpu = *cpu * 10 + (size_t)(*p - '0');
    if (p == *at || *cpu >= CPU_SETSIZE)
        return false;
    *at = p;
    return true;
}

int profile_check_cpus(const char *list, cpu_set_t *set, struct err *err)
{
    const char *at = list;
    size_t first, last;

    if (set)
        CPU_ZERO(set);
    do {
        if (!parse_cpu(&at, &first))
            goto bad;
        last = first;
        if (*at == '-' && (at++, !parse_cpu(&at, &last)))
            goto bad;
        if (last < first)
            goto bad;
        for (size_t cpu = first; set && cpu <= last; cpu++)
            CPU_SET(cpu, set);
    } while (*at == ',' && at++);
    if (*at == '\0')
        return 0;
bad:
    return err_set(err, ERR_CONFIG, "'%s' is no list of CPUs such as \"0-3,8\"", list);
}

int profile_count_cpus(const char *list)
{
    struct err ignored;
    cpu_set_t set;

    return profile_check_cpus(list, &set, &ignored) < 0 ? 0 : CPU_COUNT(&set);
}
