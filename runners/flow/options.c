#include "options.h"

#include "../common/units.h"
#include "wire.h"

#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, INTEGER16, INTEGER32, INTEGER64, SIZE, SIZE32, RATE, TIME, IO, MODE, FAULT };

struct row {
    const char *name;
    enum kind kind;
    size_t at; /* offset in struct options */
    uint64_t min, max;
    const char *argument, *help;
};

#define AT(field) offsetof(struct options, field)

/* clang-format off */
#define COMMON_ROWS \
    {"io", IO, AT(io), 0, 0, "single|batch|gso", \
     "how datagrams pass the kernel: one a system call, many, or trains\n" \
     "that the kernel cuts and joins (default single)"}, \
    {"idle", TIME, AT(idle_ns), 1000000, 3600000000000, "TIME", \
     "give up when the peer is silent for so long (default 10s)"}, \
    {"fault", FAULT, AT(fault), 0, 0, "LIST", \
     "for tests: drop=P,duplicate=P,reorder=P,damage=P of what is\n" \
     "received, corrupt=P of what is sent (percent), seed=N"}

static const struct row receive_rows[] = {
    {"bind", TEXT, AT(bind), 0, 0, "ADDRESS", "numeric IPv4 or IPv6 address (default 127.0.0.1)"},
    {"port", INTEGER16, AT(port), 0, 65535, "N",
     "UDP port; 0 lets the kernel choose, see the line 'ready' (default 0)"},
    {"consume", RATE, AT(consume_bps), 0, 0, "RATE",
     "consume no faster than this; 'unpaced': at once (default unpaced)"},
    {"receive-buffer", SIZE, AT(receive_buffer), 4096, 1073741824, "SIZE",
     "socket buffer to ask for (default 4MiB); what the kernel grants\n"
     "bounds what may be under way"},
    {"wait", TIME, AT(wait_ns), 1000000, 3600000000000, "TIME",
     "give up when no sender comes for so long (default 30s)"},
    COMMON_ROWS,
    {0},
};

static const struct row send_rows[] = {
    {"to", TEXT, AT(to), 0, 0, "ADDRESS:PORT", "the receiver; [ADDRESS]:PORT for IPv6 (required)"},
    {"streams", INTEGER32, AT(streams), 1, 65536, "N",
     "independent streams, all through one socket (default 1)"},
    {"message", SIZE, AT(message), 1, 16777216, "SIZE", "bytes in a message (default 1KiB)"},
    {"payload", SIZE32, AT(payload), 1, WIRE_MAX_PAYLOAD, "SIZE",
     "most payload bytes in a datagram; longer messages are cut\n"
     "into equal pieces (default 1400)"},
    {"rate", RATE, AT(rate_bps), 0, 0, "RATE",
     "payload offered by all streams together, in ticks of 1 ms;\n"
     "'unpaced' or '0bit/s': as fast as can be (default unpaced)"},
    {"window", SIZE, AT(window), 1, 1073741824, "SIZE",
     "payload bytes that the receiver keeps for a stream; how many of them\n"
     "may be unacknowledged depends on its socket buffer (default 256KiB)"},
    {"mode", MODE, AT(mode), 0, 0, "stream|pingpong",
     "stream: messages follow each other; pingpong: the next message\n"
     "starts when the one before it was acknowledged (default stream)"},
    {"duration", TIME, AT(duration_ns), 0, 86400000000000, "TIME",
     "stop starting messages after so long; 0: no bound (default 1s)"},
    {"messages", INTEGER64, AT(messages), 0, 1000000000000, "N",
     "stop after so many messages a stream; 0: no bound (default 0)"},
    COMMON_ROWS,
    {0},
};
/* clang-format on */

static int bad_value(const char *name, const char *text, const char *allowed, struct err *e)
{
    return err_set(e, "'%s' is not a value for --%s: %s", text, name, allowed);
}

static int in_range(const struct row *r, uint64_t value, const char *text, struct err *e)
{
    if (value >= r->min && value <= r->max)
        return 0;
    return err_set(e, "'%s' is out of range for --%s: %llu to %llu%s", text, r->name,
                   (unsigned long long)r->min, (unsigned long long)r->max,
                   r->kind == TIME ? " ns" : " bytes");
}

static int parse_int_row(const struct row *r, void *field, const char *text, struct err *e)
{
    uint64_t value;

    if (parse_integer(text, r->min, r->max, &value))
        return err_set(e, "'%s' is not a value for --%s: an integer from %llu to %llu", text,
                       r->name, (unsigned long long)r->min, (unsigned long long)r->max);
    if (r->kind == INTEGER16)
        *(uint16_t *)field = (uint16_t)value;
    else if (r->kind == INTEGER32)
        *(uint32_t *)field = (uint32_t)value;
    else
        *(uint64_t *)field = value;
    return 0;
}

static int parse_size_row(const struct row *r, void *field, const char *text, struct err *e)
{
    uint64_t value;

    if (parse_size(text, &value))
        return bad_value(r->name, text, "a size like 1400, 16KiB, 4MiB", e);
    if (in_range(r, value, text, e))
        return -1;
    if (r->kind == SIZE32)
        *(uint32_t *)field = (uint32_t)value;
    else
        *(uint64_t *)field = value;
    return 0;
}

static int parse_mode(const char *text, enum flow_mode *mode)
{
    if (strcmp(text, "stream") && strcmp(text, "pingpong"))
        return -1;
    *mode = text[0] == 's' ? MODE_STREAM : MODE_PINGPONG;
    return 0;
}

static int parse_row(const struct row *r, struct options *o, const char *text, struct err *e)
{
    void *field = (char *)o + r->at;

    switch (r->kind) {
    case TEXT:
        *(const char **)field = text;
        return 0;
    case INTEGER16:
    case INTEGER32:
    case INTEGER64:
        return parse_int_row(r, field, text, e);
    case SIZE:
    case SIZE32:
        return parse_size_row(r, field, text, e);
    case RATE:
        if (parse_rate(text, field))
            return bad_value(r->name, text, "a rate like 320Mbit/s, or unpaced", e);
        return 0;
    case TIME:
        if (parse_time(text, field))
            return bad_value(r->name, text, "a time like 500ms or 10s", e);
        return in_range(r, (uint64_t) * (int64_t *)field, text, e);
    case IO:
        if (io_mode_parse(text, field))
            return bad_value(r->name, text, "single, batch or gso", e);
        return 0;
    case MODE:
        if (parse_mode(text, field))
            return bad_value(r->name, text, "stream or pingpong", e);
        return 0;
    case FAULT:
        return fault_parse(field, text, e);
    }
    return -1;
}

enum { ROWS_MOST = 24 };

static void long_options(const struct row *rows, struct option *out)
{
    size_t n = 0;

    for (; rows[n].name; n++)
        out[n] = (struct option){
            .name = rows[n].name, .has_arg = required_argument, .val = 256 + (int)n};
    out[n++] = (struct option){.name = "help", .has_arg = no_argument, .val = 'h'};
    out[n] = (struct option){0};
}

static int parse(const struct row *rows, struct options *o, int argc, char **argv, struct err *e)
{
    struct option table[ROWS_MOST];
    int c;

    long_options(rows, table);
    opterr = 0;
    optind = 1;
    while ((c = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
        if (c == 'h')
            return 1;
        if (c == ':')
            return err_set(e, "'%s' needs a value", argv[optind - 1]);
        if (c == '?')
            return err_set(e, "unknown option '%s', see 'flow --help'", argv[optind - 1]);
        if (parse_row(&rows[c - 256], o, optarg, e))
            return -1;
    }
    if (optind < argc)
        return err_set(e, "unexpected argument '%s', see 'flow --help'", argv[optind]);
    return 0;
}

static void set_defaults(struct options *o)
{
    *o = (struct options){
        .idle_ns = 10000000000,
        .bind = "127.0.0.1",
        .receive_buffer = 4 << 20,
        .wait_ns = 30000000000,
        .streams = 1,
        .message = 1024,
        .payload = 1400,
        .window = 256 << 10,
        .duration_ns = 1000000000,
    };
}

int options_receive(struct options *o, int argc, char **argv, struct err *e)
{
    set_defaults(o);
    return parse(receive_rows, o, argc, argv, e);
}

int options_send(struct options *o, int argc, char **argv, struct err *e)
{
    int rc;

    set_defaults(o);
    rc = parse(send_rows, o, argc, argv, e);
    if (rc)
        return rc;
    if (!o->to)
        return err_set(e, "--to is missing: the receiver's ADDRESS:PORT");
    if (o->duration_ns == 0 && o->messages == 0)
        return err_set(e, "nothing ends this: give --duration or --messages");
    return 0;
}

static void help_rows(FILE *out, const struct row *rows)
{
    for (; rows->name; rows++) {
        const char *line = rows->help;

        fprintf(out, "  --%s %s\n", rows->name, rows->argument);
        while (*line) {
            size_t len = strcspn(line, "\n");

            fprintf(out, "      %.*s\n", (int)len, line);
            line += len + (line[len] == '\n');
        }
    }
}

void options_help(FILE *out)
{
    fputs("flow: reliable transfer of messages over UDP\n"
          "\n"
          "usage: flow receive [options]\n"
          "       flow send --to ADDRESS:PORT [options]\n"
          "\n"
          "An option given twice counts as it was given last. Exit status: 0 everything\n"
          "arrived intact, 1 it did not, 2 the command line is wrong.\n"
          "\n"
          "flow receive:\n",
          out);
    help_rows(out, receive_rows);
    fputs("\nflow send:\n", out);
    help_rows(out, send_rows);
}
