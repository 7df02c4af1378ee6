#include "net/snmp.h"

#include "base/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX 65536

static size_t word_length(const char *s)
{
    return strcspn(s, " \t\n");
}

/* In snmp, a line of names ("Udp: A B C") stands before the line of their values. */
static int find_column(const char *text, const char *group, const char *name, uint64_t *out)
{
    size_t group_len = strlen(group);
    const char *names = strstr(text, group);
    const char *values = names ? strstr(names + group_len, group) : NULL;

    if (!values)
        return -1;
    while (*names != '\n' && *names && *values != '\n' && *values) {
        size_t len = word_length(names);

        if (len == strlen(name) && strncmp(names, name, len) == 0) {
            *out += strtoull(values, NULL, 10);
            return 0;
        }
        names += len;
        values += word_length(values);
        names += *names == ' ';
        values += *values == ' ';
    }
    return -1;
}

/* In snmp6, each line is a name and a value. */
static int find_line(const char *text, const char *name, uint64_t *out)
{
    size_t len = strlen(name);

    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, len) == 0 && (line[len] == ' ' || line[len] == '\t')) {
            *out += strtoull(line + len, NULL, 10);
            return 0;
        }
    }
    return -1;
}

int snmp_parse(struct net_counters *c, const char *snmp, const char *snmp6, struct err *err)
{
    const struct {
        const char *group, *name, *name6;
        uint64_t *to;
    } wanted[] = {
        {"Udp: ", "InErrors", "Udp6InErrors", &c->udp_in_errors},
        {"Udp: ", "RcvbufErrors", "Udp6RcvbufErrors", &c->udp_rcvbuf_errors},
        {"Udp: ", "SndbufErrors", "Udp6SndbufErrors", &c->udp_sndbuf_errors},
        {"Udp: ", "InCsumErrors", "Udp6InCsumErrors", &c->udp_csum_errors},
        {"Tcp: ", "RetransSegs", NULL, &c->tcp_retransmits},
    };

    memset(c, 0, sizeof(*c));
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (find_column(snmp, wanted[i].group, wanted[i].name, wanted[i].to) < 0)
            return err_set(err, ERR_MEASURE, "the private network has no counter '%s%s'",
                           wanted[i].group, wanted[i].name);
        if (snmp6 && wanted[i].name6 && find_line(snmp6, wanted[i].name6, wanted[i].to) < 0)
            return err_set(err, ERR_MEASURE, "the private network has no counter '%s'",
                           wanted[i].name6);
    }
    return 0;
}

int snmp_read(struct net_counters *c, struct err *err)
{
    struct buf snmp = BUF_INIT, snmp6 = BUF_INIT;
    bool has6 = true;
    int status = -1;

    if (files_read("/proc/thread-self/net/snmp", FILE_MAX, &snmp, err) < 0)
        goto out;
    if (files_read("/proc/thread-self/net/snmp6", FILE_MAX, &snmp6, err) < 0) {
        if (err->sys_errno != ENOENT)
            goto out;
        has6 = false;
    }
    status = snmp_parse(c, snmp.data, has6 ? snmp6.data : NULL, err);
out:
    buf_release(&snmp);
    buf_release(&snmp6);
    return status;
}

void snmp_subtract(struct net_counters *after, const struct net_counters *before)
{
    after->udp_in_errors -= before->udp_in_errors;
    after->udp_rcvbuf_errors -= before->udp_rcvbuf_errors;
    after->udp_sndbuf_errors -= before->udp_sndbuf_errors;
    after->udp_csum_errors -= before->udp_csum_errors;
    after->tcp_retransmits -= before->tcp_retransmits;
}
