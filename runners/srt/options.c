#include "options.h"

#include "../common/units.h"
#include "library.h"
#include "payload.h"

#include <getopt.h>
#include <stddef.h>
#include <string.h>

enum kind { TEXT, PASSPHRASE, KEY_LENGTH, INTEGER, COUNT, SIZE, RATE, TIME, SWITCH, CRYPTO, FAULT };

struct row {
    const char *name;
    enum kind kind;
    size_t at; /* offset in struct options */
    uint64_t min, max;
    const char *argument, *help;
};

#define AT(field) offsetof(struct options, field)
#define HOUR_NS 3600000000000ULL

/* clang-format off */
static const struct row rows[] = {
    {"library", TEXT, AT(library), 0, 0, "NAME|FILE|FOLDER",
     "the libsrt to measure: a name for the loader, a file, or a folder\n"
     "or prefix that holds one (default: the name of the headers' version)"},
    {"listen", TEXT, AT(listen), 0, 0, "ADDRESS:PORT", "wait for callers there"},
    {"call", TEXT, AT(call), 0, 0, "ADDRESS:PORT", "call a listener there; all streams from one port"},
    {"streams", INTEGER, AT(streams), 1, STREAMS_MOST, "N", "connections (default 1)"},
    {"first-stream", INTEGER, AT(first_stream), 0, STREAMS_MOST - 1, "N",
     "number of the first (default 0)"},
    {"rate", RATE, AT(rate_bps), 1000, 1000000000000, "RATE",
     "payload offered by all streams together, in ticks of 1 ms (default 10Mbit/s)"},
    {"duration", TIME, AT(duration_ns), 1000000, 24 * HOUR_NS, "TIME",
     "how long it is offered (default 1s)"},
    {"payload", SIZE, AT(payload), PAYLOAD_LEAST, PAYLOAD_MOST, "SIZE",
     "bytes in a payload; live mode takes at most 1456 (default 1316)"},
    {"latency", TIME, AT(latency_ns), 0, 60000000000, "TIME",
     "SRTO_LATENCY; both sides must ask for the same (default 120ms)"},
    {"passphrase", PASSPHRASE, AT(passphrase), 10, 79, "TEXT",
     "encrypt; '' for no encryption (default)"},
    {"key-length", KEY_LENGTH, AT(key_length), 0, 0, "0|16|24|32",
     "bytes of the key; 0 is libsrt's default, 16 (default 0)"},
    {"cryptomode", CRYPTO, AT(cryptomode), 0, 0, "auto|aes-ctr|aes-gcm",
     "cipher; aes-gcm needs libsrt 1.5.2 or later, built with AEAD (default auto)"},
    {"filter", TEXT, AT(filter), 0, 0, "TEXT",
     "packet filter, such as fec,cols:10,rows:5; '' for none (default)"},
    {"tlpktdrop", SWITCH, AT(tlpktdrop), 0, 0, "on|off",
     "drop what comes too late (default off)"},
    {"window", INTEGER, AT(window), 32, 1048576, "N", "SRTO_FC, packets in flight (default 16384)"},
    {"buffers", SIZE, AT(buffers), 65536, 1073741824, "SIZE",
     "SRTO_SNDBUF and SRTO_RCVBUF (default 32MiB)"},
    {"udp-buffers", SIZE, AT(udp_buffers), 65536, 1073741824, "SIZE",
     "SRTO_UDP_SNDBUF and SRTO_UDP_RCVBUF (default 8MiB)"},
    {"pending", INTEGER, AT(pending), 1, 1048576, "N",
     "payloads of a stream that may be unacknowledged; the rest of what is\n"
     "offered then waits, at most 200 ms of it (default 64)"},
    {"auth", SWITCH, AT(auth), 0, 0, "on|off",
     "the listener lets in only who shows the secret in its streamid (default off)"},
    {"secret", TEXT, AT(secret), 0, 0, "TEXT", "for --auth on (default 'open sesame')"},
    {"verify", SWITCH, AT(verify), 0, 0, "on|off",
     "check every payload's checksum and sequence (default on)"},
    {"wait", TIME, AT(wait_ns), 1000000, HOUR_NS, "TIME",
     "give up when the connections are not there after so long (default 30s)"},
    {"idle", TIME, AT(idle_ns), 1000000, HOUR_NS, "TIME",
     "give up when the peer is silent for so long (default 10s)"},
    {"keep", RATE, AT(keep_bps), 0, 0, "RATE",
     "say whether at least so much arrived; 0bit/s: no matter (default)"},
    {"may-fail", INTEGER, AT(may_fail), 0, STREAMS_MOST - 1, "N",
     "a stream whose loss is no failure"},
    {"naks", COUNT, AT(naks), 0, 1000000, "N",
     "a second: loss reports that the relay injects towards the listener, and\n"
     "that a sender must have processed on the stream that may fail (default 0)"},
    {"fault", FAULT, AT(fault), 0, 0, "LIST",
     "for tests: die=N kills a receiver after N payloads; corrupt=N flips a\n"
     "bit in every Nth payload that is sent"},
    {0},
};
/* clang-format on */

/* ---- values ---- */

static int bad_value(const struct row *r, const char *text, const char *allowed, struct err *e)
{
    return err_set(e, "'%s' is not a value for --%s: %s", text, r->name, allowed);
}

static int parse_whole(const struct row *r, void *field, const char *text, struct err *e)
{
    uint64_t value;

    if (parse_integer(text, r->min, r->max, &value))
        return err_set(e, "'%s' is not a value for --%s: an integer from %llu to %llu", text,
                       r->name, (unsigned long long)r->min, (unsigned long long)r->max);
    if (r->kind == COUNT)
        *(uint64_t *)field = value;
    else
        *(uint32_t *)field = (uint32_t)value;
    return 0;
}

/* A quantity with a unit, in its base unit. */
static int parse_quantity(const struct row *r, void *field, const char *text, struct err *e)
{
    uint64_t value;
    int64_t ns;
    int rc = r->kind == SIZE   ? parse_size(text, &value)
             : r->kind == RATE ? parse_rate(text, &value)
                               : parse_time(text, &ns);

    if (rc)
        return bad_value(r, text,
                         r->kind == SIZE   ? "a size like 1316B, 64KiB, 32MiB"
                         : r->kind == RATE ? "a rate like 320Mbit/s"
                                           : "a time like 120ms, 10s",
                         e);
    if (r->kind == TIME)
        value = (uint64_t)ns;
    if (r->max && (value < r->min || value > r->max))
        return err_set(e, "'%s' is out of range for --%s: %llu to %llu %s", text, r->name,
                       (unsigned long long)r->min, (unsigned long long)r->max,
                       r->kind == SIZE   ? "bytes"
                       : r->kind == RATE ? "bit/s"
                                         : "ns");
    memcpy(field, &value, sizeof(value));
    return 0;
}

static int parse_passphrase(const struct row *r, const char **field, const char *text,
                            struct err *e)
{
    size_t len = strlen(text);

    if (len && (len < r->min || len > r->max))
        return err_set(e, "the passphrase has %zu characters: 10 to 79 are allowed, or none", len);
    *field = text;
    return 0;
}

static int parse_key_length(const struct row *r, uint32_t *field, const char *text, struct err *e)
{
    uint64_t value;

    if (parse_integer(text, 0, 32, &value) || value % 8 || value == 8)
        return bad_value(r, text, "0, 16, 24 or 32", e);
    *field = (uint32_t)value;
    return 0;
}

static const char *const cryptomodes[] = {"auto", "aes-ctr", "aes-gcm"};

const char *cryptomode_name(enum cryptomode mode)
{
    return cryptomodes[mode];
}

static int parse_cryptomode(const struct row *r, enum cryptomode *field, const char *text,
                            struct err *e)
{
    for (int i = CRYPTO_AUTO; i <= CRYPTO_AES_GCM; i++)
        if (strcmp(text, cryptomodes[i]) == 0) {
            *field = (enum cryptomode)i;
            return 0;
        }
    return bad_value(r, text, "auto, aes-ctr or aes-gcm", e);
}

static int parse_switch(const struct row *r, bool *field, const char *text, struct err *e)
{
    if (strcmp(text, "on") && strcmp(text, "off"))
        return bad_value(r, text, "on or off", e);
    *field = text[1] == 'n';
    return 0;
}

static int parse_fault(const struct row *r, struct fault *field, const char *text, struct err *e)
{
    if (strncmp(text, "die=", 4) == 0 && parse_integer(text + 4, 1, UINT32_MAX, &field->die) == 0)
        return 0;
    if (strncmp(text, "corrupt=", 8) == 0 &&
        parse_integer(text + 8, 1, UINT32_MAX, &field->corrupt) == 0)
        return 0;
    return bad_value(r, text, "die=N or corrupt=N", e);
}

static int parse_row(const struct row *r, struct options *o, const char *text, struct err *e)
{
    void *field = (char *)o + r->at;

    switch (r->kind) {
    case TEXT:
        *(const char **)field = text;
        return 0;
    case PASSPHRASE:
        return parse_passphrase(r, field, text, e);
    case KEY_LENGTH:
        return parse_key_length(r, field, text, e);
    case INTEGER:
    case COUNT:
        return parse_whole(r, field, text, e);
    case SIZE:
    case RATE:
    case TIME:
        return parse_quantity(r, field, text, e);
    case SWITCH:
        return parse_switch(r, field, text, e);
    case CRYPTO:
        return parse_cryptomode(r, field, text, e);
    case FAULT:
        return parse_fault(r, field, text, e);
    }
    return -1;
}

/* ---- the line ---- */

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void long_options(struct option out[ROWS + 1])
{
    for (int n = 0; n < ROWS - 1; n++)
        out[n] =
            (struct option){.name = rows[n].name, .has_arg = required_argument, .val = 256 + n};
    out[ROWS - 1] = (struct option){.name = "help", .has_arg = no_argument, .val = 'h'};
    out[ROWS] = (struct option){0};
}

static void set_defaults(struct options *o)
{
    *o = (struct options){
        .library = library_default(),
        .streams = 1,
        .rate_bps = 10000000,
        .duration_ns = 1000000000,
        .payload = 1316,
        .latency_ns = 120000000,
        .passphrase = "",
        .filter = "",
        .window = 16384,
        .buffers = 32 << 20,
        .udp_buffers = 8 << 20,
        .pending = 64,
        .secret = "open sesame",
        .verify = true,
        .wait_ns = 30000000000,
        .idle_ns = 10000000000,
        .may_fail = NO_STREAM,
    };
}

/* What no value alone shows. */
static int check(const struct options *o, struct err *e)
{
    if (o->cryptomode == CRYPTO_AES_GCM && !o->passphrase[0])
        return err_set(e, "--cryptomode aes-gcm without --passphrase would send plain text");
    if (o->first_stream + o->streams > STREAMS_MOST)
        return err_set(e, "streams %u to %u: at most %u are numbered", o->first_stream,
                       o->first_stream + o->streams - 1, STREAMS_MOST);
    if (o->auth && strpbrk(o->secret, ",={}"))
        return err_set(e, "--secret may hold none of , = { }: it is part of a streamid");
    return 0;
}

int options_parse(struct options *o, int argc, char **argv, struct err *e)
{
    struct option table[ROWS + 1];
    int c;

    set_defaults(o);
    long_options(table);
    opterr = 0;
    optind = 1;
    while ((c = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
        if (c == 'h')
            return 1;
        if (c == ':')
            return err_set(e, "'%s' needs a value", argv[optind - 1]);
        if (c == '?')
            return err_set(e, "unknown option '%s', see 'srt --help'", argv[optind - 1]);
        if (parse_row(&rows[c - 256], o, optarg, e))
            return -1;
    }
    if (optind < argc)
        return err_set(e, "unexpected argument '%s', see 'srt --help'", argv[optind]);
    return check(o, e);
}

void options_help(FILE *out)
{
    fputs("srt: live streams over any libsrt\n"
          "\n"
          "usage: srt receive --listen|--call ADDRESS:PORT [options]\n"
          "       srt send    --listen|--call ADDRESS:PORT [options]\n"
          "       srt relay   --listen ADDRESS:PORT --call ADDRESS:PORT --naks N\n"
          "       srt check   [options]     whether the library takes these options\n"
          "       srt cost    [options]     what pacing and checking cost by themselves\n"
          "       srt feed    --call ADDRESS:PORT, srt sink --listen ADDRESS:PORT: the same\n"
          "                   payloads over bare UDP, for programs that carry them further\n"
          "\n"
          "All take the same options; one given twice counts as it was given last. Exit\n"
          "status: 0 everything arrived intact, 1 it did not, 2 the command line is wrong,\n"
          "3 the library lacks what was asked.\n"
          "\n",
          out);
    for (const struct row *r = rows; r->name; r++) {
        const char *line = r->help;

        fprintf(out, "  --%s %s\n", r->name, r->argument);
        while (*line) {
            size_t len = strcspn(line, "\n");

            fprintf(out, "      %.*s\n", (int)len, line);
            line += len + (line[len] == '\n');
        }
    }
}
