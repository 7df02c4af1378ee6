#include "netstat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value under the name in a pair of lines as /proc/net/snmp has them; 0 if it is not there. */
static uint64_t column(char *names, char *values, const char *wanted)
{
    char *next_name = names;
    char *next_value = values;
    char *name;

    while ((name = strsep(&next_name, " \n"))) {
        char *value = strsep(&next_value, " \n");

        if (!value)
            return 0;
        if (strcmp(name, wanted) == 0)
            return strtoull(value, NULL, 10);
    }
    return 0;
}

static void read_snmp(struct netstat *n)
{
    char names[1024];
    char values[1024];
    char copy[2][1024];
    FILE *f = fopen("/proc/self/net/snmp", "re");

    if (!f)
        return;
    while (fgets(names, sizeof(names), f) && fgets(values, sizeof(values), f)) {
        if (strncmp(names, "Udp:", 4) != 0)
            continue;
        memcpy(copy[0], names, sizeof(names));
        memcpy(copy[1], values, sizeof(values));
        n->in_errors += column(names, values, "InErrors");
        n->rcvbuf_errors += column(copy[0], copy[1], "RcvbufErrors");
        n->known = true;
    }
    fclose(f);
}

static void read_snmp6(struct netstat *n)
{
    char line[256];
    char name[64];
    unsigned long long value;
    FILE *f = fopen("/proc/self/net/snmp6", "re");

    if (!f)
        return;
    while (fgets(line, sizeof(line), f)) {
        if (sscanf(line, "%63s %llu", name, &value) != 2)
            continue;
        if (strcmp(name, "Udp6InErrors") == 0)
            n->in_errors += value;
        else if (strcmp(name, "Udp6RcvbufErrors") == 0)
            n->rcvbuf_errors += value;
    }
    fclose(f);
}

void netstat_read(struct netstat *n)
{
    *n = (struct netstat){0};
    read_snmp(n);
    read_snmp6(n);
}
