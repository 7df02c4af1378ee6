#include "run/cpus.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU_MAX (WIRE_CPU_BYTES * 8)

static bool is_set(const uint64_t *bits, size_t bytes, size_t cpu)
{
    return cpu < bytes * 8 && (bits[cpu / 64] >> (cpu % 64) & 1) != 0;
}

/* A number at *p, which moves behind it. -1 if there is none or it is too large. */
static long read_cpu(const char **p)
{
    char *end;
    long n;

    if (**p < '0' || **p > '9')
        return -1;
    n = strtol(*p, &end, 10);
    *p = end;
    return n < CPU_MAX ? n : -1;
}

int cpus_parse(struct cpus *set, const char *list, struct err *err)
{
    const char *p = list;

    *set = (struct cpus){.bytes = 0};
    for (;;) {
        long first = read_cpu(&p), last = first;

        if (first >= 0 && *p == '-') {
            p++;
            last = read_cpu(&p);
        }
        if (first < 0 || last < first)
            break;
        for (long cpu = first; cpu <= last; cpu++)
            set->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
        if ((size_t)last / 64 * 8 + 8 > set->bytes)
            set->bytes = (size_t)last / 64 * 8 + 8;
        if (*p == '\0')
            return 0;
        if (*p++ != ',')
            break;
    }
    err_set(err, ERR_CONFIG, "'%s' is not a list of CPUs", list);
    return err_hint(err, "a list is written like \"0-3,8\"; the highest number is %d", CPU_MAX - 1);
}

void cpus_format(const uint64_t *bits, size_t bytes, char *out, size_t size)
{
    size_t len = 0;

    out[0] = '\0';
    for (size_t cpu = 0; cpu < bytes * 8; cpu++) {
        size_t last = cpu;
        char item[48];
        int n;

        if (!is_set(bits, bytes, cpu))
            continue;
        while (is_set(bits, bytes, last + 1))
            last++;
        n = last > cpu ? snprintf(item, sizeof(item), "%s%zu-%zu", len > 0 ? "," : "", cpu, last)
                       : snprintf(item, sizeof(item), "%s%zu", len > 0 ? "," : "", cpu);
        if (len + (size_t)n + sizeof(",...") > size) {
            snprintf(out + len, size - len, "%s", ",...");
            return;
        }
        memcpy(out + len, item, (size_t)n + 1);
        len += (size_t)n;
        cpu = last;
    }
}
