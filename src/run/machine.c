#include "run/machine_look.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"

const char *look_read(const struct look *l, const char *path)
{
    char full[512], text[512];

    snprintf(full, sizeof(full), "%s%s", l->root, path);
    if (files_read_small(full, text, sizeof(text)) <= 0)
        return NULL;
    return arena_strdup(l->arena, text);
}

void look_set(const struct look *l, const char *name, const char *value)
{
    struct machine *m = l->m;

    ABBA_ASSERT(m->setting_count < SETTINGS_MAX);
    m->settings[m->setting_count++] = (struct machine_setting){name, value};
}

/* Of "always [madvise] never" the word in brackets; any other text as it is. */
static const char *chosen(const struct look *l, const char *text)
{
    const char *open, *close;

    if (text == NULL || (open = strchr(text, '[')) == NULL || (close = strchr(open, ']')) == NULL)
        return text;
    return arena_strndup(l->arena, open + 1, (size_t)(close - open - 1));
}

/* What a file says for each CPU, if they agree; else "mixed". NULL if none says anything. */
static const char *of_all_cpus(const struct look *l, const char *file)
{
    const char *all = NULL;

    for (int cpu = 0; cpu < l->m->cpus; cpu++) {
        char path[256];
        const char *one;

        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
        one = look_read(l, path);
        if (one == NULL)
            continue;
        if (all != NULL && strcmp(all, one) != 0)
            return "mixed";
        all = one;
    }
    return all;
}

/* Boost or turbo: "on" or "off"; two drivers, two files, one of them says it the other way round.
 */
static const char *boost(const struct look *l)
{
    const char *text = look_read(l, "/sys/devices/system/cpu/cpufreq/boost");

    if (text != NULL)
        return strcmp(text, "0") == 0 ? "off" : "on";
    text = look_read(l, "/sys/devices/system/cpu/intel_pstate/no_turbo");
    if (text != NULL)
        return strcmp(text, "0") == 0 ? "on" : "off";
    return NULL;
}

static const char *smt(const struct look *l)
{
    const char *text = look_read(l, "/sys/devices/system/cpu/smt/active");

    return text == NULL ? NULL : strcmp(text, "0") == 0 ? "off" : "on";
}

/* The value of a line "key<tab>: value" of /proc/cpuinfo's first CPU. */
static const char *cpuinfo(const struct look *l, const char *text, const char *key)
{
    const size_t n = strlen(key);

    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        const char *colon, *end;

        line += *line == '\n';
        if (strncmp(line, key, n) != 0 || (line[n] != '\t' && line[n] != ' '))
            continue;
        colon = strchr(line, ':');
        end = strchrnul(line, '\n');
        if (colon == NULL || colon > end)
            return NULL;
        colon++;
        while (*colon == ' ')
            colon++;
        return arena_strndup(l->arena, colon, (size_t)(end - colon));
    }
    return NULL;
}

static void look_at_cpu(const struct look *l)
{
    static const char *const keys[] = {"model name", "Model", "cpu model", "uarch"};
    struct buf text = BUF_INIT;
    char path[512];
    struct err err;

    snprintf(path, sizeof(path), "%s/proc/cpuinfo", l->root);
    if (files_read(path, 16 << 20, &text, &err) == 0) {
        const char *flags = cpuinfo(l, text.data, "flags");

        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && l->m->cpu_model == NULL; i++)
            l->m->cpu_model = cpuinfo(l, text.data, keys[i]);
        if (flags != NULL)
            look_set(l, "hypervisor", strstr(flags, " hypervisor") != NULL ? "yes" : "no");
        look_set(l, "cpu_flags", flags != NULL ? flags : cpuinfo(l, text.data, "Features"));
        look_set(l, "microcode", cpuinfo(l, text.data, "microcode"));
    }
    if (l->m->cpu_model == NULL)
        l->m->cpu_model = "unknown";
    buf_release(&text);
}

static long memory_mib(const struct look *l)
{
    const char *text = look_read(l, "/proc/meminfo");
    const char *total = text != NULL ? strstr(text, "MemTotal:") : NULL;

    return total != NULL ? strtol(total + strlen("MemTotal:"), NULL, 10) / 1024 : 0;
}

static void look_at_settings(const struct look *l)
{
    const char *load = look_read(l, "/proc/loadavg");

    look_set(l, "aslr", look_read(l, "/proc/sys/kernel/randomize_va_space"));
    look_set(l, "governor", of_all_cpus(l, "cpufreq/scaling_governor"));
    look_set(l, "frequency_driver", of_all_cpus(l, "cpufreq/scaling_driver"));
    look_set(l, "boost", boost(l));
    look_set(l, "smt", smt(l));
    look_set(l, "isolated_cpus", look_read(l, "/sys/devices/system/cpu/isolated"));
    look_set(l, "clocksource",
             look_read(l, "/sys/devices/system/clocksource/clocksource0/current_clocksource"));
    look_set(l, "transparent_hugepage",
             chosen(l, look_read(l, "/sys/kernel/mm/transparent_hugepage/enabled")));
    look_set(l, "perf_event_paranoid", look_read(l, "/proc/sys/kernel/perf_event_paranoid"));
    look_set(l, "nmi_watchdog", look_read(l, "/proc/sys/kernel/nmi_watchdog"));
    look_set(l, "numa_balancing", look_read(l, "/proc/sys/kernel/numa_balancing"));
    look_set(l, "swappiness", look_read(l, "/proc/sys/vm/swappiness"));
    look_set(l, "load", load != NULL ? arena_strndup(l->arena, load, strcspn(load, " ")) : NULL);
}

static int allowed_cpus(void)
{
    unsigned long mask[1024] = {0}; /* 65536 CPUs */
    const int n = sched_getaffinity(0, sizeof(mask), (cpu_set_t *)(void *)mask);

    return n < 0 ? 0 : CPU_COUNT_S(sizeof(mask), (cpu_set_t *)(void *)mask);
}

void machine_look(struct machine *m, const char *root, bool identify, struct arena *arena)
{
    const struct look l = {m, root, arena};
    struct utsname name;

    *m = (struct machine){.cpus = (int)sysconf(_SC_NPROCESSORS_ONLN),
                          .allowed_cpus = allowed_cpus(),
                          .page_bytes = sysconf(_SC_PAGESIZE)};
    m->settings = arena_array(arena, SETTINGS_MAX, sizeof(*m->settings));
    m->kernel = "unknown";
    if (uname(&name) == 0) {
        look_set(&l, "kernel_build", arena_strdup(arena, name.version));
        m->kernel = arena_printf(arena, "%s %s %s", name.sysname, name.release, name.machine);
        if (identify)
            m->host = arena_strdup(arena, name.nodename);
    }
    m->memory_mib = memory_mib(&l);
    look_at_cpu(&l);
    look_at_settings(&l);
    look_at_mitigations(&l);
    look_at_limits(&l);
    look_at_environment(&l);
}
