#include "options.h"

#include "../common/units.h"
#include "message.h"

#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const char *name;
    size_t at; /* of a uint64_t in struct options; TEXT: see set_text() */
    uint64_t min, max, initial;
    const char *help;
};

#define TEXT ((size_t)-1)
#define AT(field) offsetof(struct options, field)

static const struct row rows[] = {
    {"size", AT(size), MESSAGE_LEAST, MESSAGE_MOST, 1000, "bytes in a message"},
    {"delivery", TEXT, 0, 0, 0, "ordered, unordered, or unreliable (no retransmission)"},
    {"in-flight", AT(in_flight), 1, 1000000, 512, "messages that may be under way"},
    {"warmup", AT(warmup), 1, 1000000000, 1000, "messages before the first repeat"},
    {"messages", AT(messages), 10, 1000000000, 100000, "messages in a repeat"},
    {"repeats", AT(repeats), 1, 1000, 3, "repeats in this process"},
    {"limit", TEXT, 0, 0, 0, "seconds: a repeat that would take longer sends a tenth"},
    {"pacing", TEXT, 0, 0, 0, "spin, yield or wait, while there is no room"},
    {"pairs", AT(pairs), 1, 1000, 1, "flow: associations"},
    {"low", AT(low), 0, 1u << 30, 524288, "flow: buffered bytes at which sending goes on"},
    {"high", AT(high), 4096, 1u << 30, 1048576, "flow: buffered bytes at which it stops"},
    {"skip", AT(skip), 0, 1ull << 40, 16777216, "flow: bytes a pair before measuring"},
    {"bytes", AT(bytes), 1, 1ull << 40, 50331648, "flow: bytes a pair that are measured"},
    {"crc32c", TEXT, 0, 0, 0, "on, or off: leave checksums to a lower layer"},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static const char *const deliveries[] = {"ordered", "unordered", "unreliable"};
static const char *const pacings[] = {"yield", "spin", "wait"};

const char *delivery_name(enum delivery delivery)
{
    return deliveries[delivery];
}

const char *pacing_name(enum pacing pacing)
{
    return pacings[pacing];
}

static int one_of(const char *name, const char *value, const char *const *words, int count,
                  struct err *e)
{
    for (int i = 0; i < count; i++)
        if (strcmp(value, words[i]) == 0)
            return i;
    return err_set(e, "'%.100s' is not a value for --%s: %s", value, name,
                   rows[strcmp(name, "delivery") == 0 ? 1 : 7].help);
}

static int set_text(struct options *o, const char *name, const char *value, struct err *e)
{
    static const char *const crc32c[] = {"on", "off"};
    char *end;
    int i;

    if (strcmp(name, "limit") == 0) {
        o->limit_s = strtod(value, &end);
        if (end == value || *end != '\0' || !(o->limit_s > 0 && o->limit_s <= 86400))
            return err_set(e, "'%.100s' is not a value for --limit: seconds, 0 to 86400", value);
        return 0;
    }
    if (strcmp(name, "delivery") == 0) {
        i = one_of(name, value, deliveries, 3, e);
        o->delivery = i < 0 ? ORDERED : (enum delivery)i;
    } else if (strcmp(name, "pacing") == 0) {
        i = one_of(name, value, pacings, 3, e);
        o->pacing = i < 0 ? YIELD : (enum pacing)i;
    } else {
        i = one_of(name, value, crc32c, 2, e);
        o->no_crc32c = i == 1;
    }
    return i < 0 ? -1 : 0;
}

static int set_row(struct options *o, const struct row *r, const char *value, struct err *e)
{
    if (r->at == TEXT)
        return set_text(o, r->name, value, e);
    if (parse_integer(value, r->min, r->max, (uint64_t *)(void *)((char *)o + r->at)) < 0)
        return err_set(e, "'%.100s' is not a value for --%s: %llu to %llu", value, r->name,
                       (unsigned long long)r->min, (unsigned long long)r->max);
    return 0;
}

int options_parse(struct options *o, int argc, char **argv, struct err *e)
{
    struct option names[ROWS + 2] = {{0}};
    int c;

    *o = (struct options){.limit_s = 60, .flow = strcmp(argv[0], "flow") == 0};
    if (!o->flow && strcmp(argv[0], "message") != 0)
        return err_set(e, "'%.100s' is not a shape: message or flow", argv[0]);
    for (int i = 0; i < ROWS; i++) {
        names[i] = (struct option){rows[i].name, required_argument, NULL, i};
        if (rows[i].at != TEXT)
            memcpy((char *)o + rows[i].at, &rows[i].initial, sizeof(uint64_t));
    }
    names[ROWS] = (struct option){"help", no_argument, NULL, 'h'};
    opterr = 0;
    while ((c = getopt_long(argc, argv, "h", names, NULL)) != -1) {
        if (c == 'h')
            return 1;
        if (c < 0 || c >= ROWS)
            return err_set(e, "unknown option, or one without its value: '%.100s'",
                           argv[optind - 1]);
        if (set_row(o, &rows[c], optarg, e) < 0)
            return -1;
    }
    if (optind < argc)
        return err_set(e, "nothing may follow the options, but there is '%.100s'", argv[optind]);
    if (o->low >= o->high)
        return err_set(e, "--low %llu is not below --high %llu", (unsigned long long)o->low,
                       (unsigned long long)o->high);
    return 0;
}

void options_help(FILE *to)
{
    fputs("usage: usrsctp message|flow [OPTIONS]\n"
          "Messages over SCTP associations between two peers in this process, on loopback UDP.\n",
          to);
    for (int i = 0; i < ROWS; i++)
        fprintf(to, "  --%-12s %s\n", rows[i].name, rows[i].help);
}
