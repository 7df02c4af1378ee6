#include "model/network_parts.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/words.h"
#include "model/decode.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The words, and where the parser is. A verb's parser starts at the verb, ends at its last word. */
struct parser {
    char **words;
    size_t count, at;
    struct net_impair *impair;
    struct arena *arena;
    struct err *err;
};

struct unit {
    const char *name; /* in any case */
    double factor;
};

/* ---- errors ------------------------------------------------------------------------------------
 */

/* About the word at hand. */
static int refuse(struct parser *p, const char *what, const char *allowed)
{
    struct buf shown = BUF_INIT;

    text_neutral(&shown, p->words[p->at], strlen(p->words[p->at]), 60);
    err_set(p->err, ERR_USAGE, "impairment: '%s' (word %zu) is no %s: allowed is %s", shown.data,
            p->at + 1, what, allowed);
    buf_release(&shown);
    return -1;
}

/* Steps to the next word, which must be there. */
static int next(struct parser *p, const char *what)
{
    if (p->at + 1 < p->count) {
        p->at++;
        return 0;
    }
    return err_set(p->err, ERR_USAGE, "impairment: '%s' (word %zu) lacks its %s", p->words[p->at],
                   p->at + 1, what);
}

/* ---- numbers, as tc reads them -----------------------------------------------------------------
 */

/* Whether a further optional number follows: a word that starts with a digit. */
static bool number_follows(const struct parser *p)
{
    return p->at + 1 < p->count && isdigit((unsigned char)p->words[p->at + 1][0]);
}

static bool signed_number_follows(const struct parser *p)
{
    return number_follows(p) || (p->at + 1 < p->count && p->words[p->at + 1][0] == '-');
}

/* A finite number that is not negative, and what follows it. */
static bool read_number(const char *text, double *value, const char **unit)
{
    char *end;

    *value = strtod(text, &end);
    *unit = end;
    return end != text && isfinite(*value) && *value >= 0;
}

static bool apply_unit(const struct unit *units, const char *name, double bare, double *value)
{
    if (*name == '\0') {
        *value *= bare;
        return true;
    }
    for (; units->name; units++)
        if (strcasecmp(units->name, name) == 0) {
            *value *= units->factor;
            return true;
        }
    return false;
}

/* bare_ns is what a number without a unit counts: microseconds for a delay, ns for a slot. */
static int read_time(struct parser *p, double bare_ns, int64_t *ns)
{
    static const struct unit units[] = {
        {"s", 1e9},     {"sec", 1e9}, {"secs", 1e9}, {"ms", 1e6},    {"msec", 1e6},
        {"msecs", 1e6}, {"us", 1e3},  {"usec", 1e3}, {"usecs", 1e3}, {"ns", 1},
        {"nsec", 1},    {"nsecs", 1}, {NULL, 0},
    };
    const char *unit;
    double value;

    if (!read_number(p->words[p->at], &value, &unit) || !apply_unit(units, unit, bare_ns, &value) ||
        value > (double)NET_DELAY_MAX_NS)
        return refuse(p, "time",
                      bare_ns > 1 ? "a number with s, ms, us or ns, or of microseconds; at most an "
                                    "hour"
                                  : "a number with s, ms, us or ns, or of nanoseconds; at most an "
                                    "hour");
    *ns = (int64_t)rint(value);
    return 0;
}

static int read_fraction(struct parser *p, double *fraction)
{
    const char *unit;

    if (!read_number(p->words[p->at], fraction, &unit) || *fraction / 100. > 1 ||
        (*unit && strcmp(unit, "%") != 0))
        return refuse(p, "percentage", "0% to 100%, with or without the sign");
    *fraction /= 100.;
    return 0;
}

static int read_share(struct parser *p, struct net_share *share)
{
    double fraction;

    if (read_fraction(p, &fraction) < 0)
        return -1;
    *share = net_share_of(fraction, p->arena);
    return 0;
}

/* A share that may be there: *share is left alone where it is not. */
static int optional_share(struct parser *p, struct net_share *share)
{
    if (!number_follows(p))
        return 0;
    p->at++;
    return read_share(p, share);
}

/* A whole number in decimal, octal or hexadecimal. */
static int read_whole(struct parser *p, long min, long max, const char *what, const char *allowed,
                      long *value)
{
    char *end;

    errno = 0;
    *value = strtol(p->words[p->at], &end, 0);
    if (end == p->words[p->at] || *end || errno || *value < min || *value > max)
        return refuse(p, what, allowed);
    return 0;
}

/* get_size of tc: powers of 1024. */
static int read_size(struct parser *p, const char *what, const char *allowed, uint32_t *size)
{
    static const struct unit units[] = {
        {"b", 1},         {"k", 1024},         {"kb", 1024},       {"m", 1048576},
        {"mb", 1048576},  {"g", 1073741824},   {"gb", 1073741824}, {"kbit", 128},
        {"mbit", 131072}, {"gbit", 134217728}, {NULL, 0},
    };
    const char *unit;
    double value;

    if (!read_number(p->words[p->at], &value, &unit) || !apply_unit(units, unit, 1, &value) ||
        value < 1 || value > INT32_MAX)
        return refuse(p, what, allowed);
    *size = (uint32_t)value;
    return 0;
}

/* get_rate of tc: bits, and "...bps" bytes, a second. */
static int read_rate(struct parser *p, uint64_t *bit_s)
{
    static const struct unit units[] = {
        {"bit", 1},
        {"Kibit", 1024.},
        {"kbit", 1000.},
        {"mibit", 1048576.},
        {"mbit", 1e6},
        {"gibit", 1073741824.},
        {"gbit", 1e9},
        {"tibit", 1099511627776.},
        {"tbit", 1e12},
        {"Bps", 8.},
        {"KiBps", 8192.},
        {"KBps", 8e3},
        {"MiBps", 8388608.},
        {"MBps", 8e6},
        {"GiBps", 8589934592.},
        {"GBps", 8e9},
        {"TiBps", 8796093022208.},
        {"TBps", 8e12},
        {NULL, 0},
    };
    const char *unit;
    char name[16];
    double value;
    size_t len;

    if (!read_number(p->words[p->at], &value, &unit))
        return refuse(p, "rate", "a number with bit, kbit, mbit, gbit, or of bits, a second");
    len = strlen(unit);
    if (len > 5 && len < sizeof(name) && strcasecmp(unit + len - 5, "bit/s") == 0)
        len -= 2;
    if (len >= sizeof(name))
        len = sizeof(name) - 1;
    memcpy(name, unit, len);
    name[len] = '\0';
    if (!apply_unit(units, name, 1, &value) || value > 8e15 ||
        (value > 0 && value < NET_RATE_MIN_BIT_S))
        return refuse(p, "rate",
                      "8bit and more: bit, kbit, mbit, gbit, tbit (kibit ...), or in bytes Bps, "
                      "KBps, MBps, GBps");
    *bit_s = (uint64_t)value;
    return 0;
}

/* ---- verbs -------------------------------------------------------------------------------------
 */

static int parse_limit(struct parser *p)
{
    return next(p, "packets") < 0 ? -1
                                  : read_size(p, "limit", "1 packet and more", &p->impair->limit);
}

static int parse_delay(struct parser *p)
{
    if (next(p, "time") < 0 || read_time(p, 1e3, &p->impair->delay_ns) < 0)
        return -1;
    if (!number_follows(p))
        return 0;
    p->at++;
    if (read_time(p, 1e3, &p->impair->jitter_ns) < 0)
        return -1;
    if (p->impair->jitter_ns > NET_JITTER_MAX_NS)
        return refuse(p, "jitter", "at most 2147483647ns, the kernel's limit");
    return optional_share(p, &p->impair->delay_correlation);
}

static int parse_random(struct parser *p)
{
    struct net_loss *loss = &p->impair->loss;

    loss->model = LOSS_RANDOM;
    return read_share(p, &loss->random) < 0 ? -1 : optional_share(p, &loss->correlation);
}

static int parse_state(struct parser *p)
{
    struct net_loss *loss = &p->impair->loss;
    struct net_share *const more[] = {&loss->p31, &loss->p32, &loss->p23, &loss->p14};
    double p13;

    if (next(p, "p13") < 0 || read_fraction(p, &p13) < 0)
        return -1;
    loss->model = LOSS_STATE;
    loss->p13 = net_share_of(p13, p->arena);
    loss->p31 = net_share_of(1 - p13, p->arena);
    loss->p23 = net_share_of(1, p->arena);
    for (size_t i = 0; i < 4; i++)
        if (optional_share(p, more[i]) < 0)
            return -1;
    return 0;
}

static int parse_gemodel(struct parser *p)
{
    struct net_loss *loss = &p->impair->loss;
    struct net_share not_h = net_share_of(1, p->arena);
    double enter;

    if (next(p, "p") < 0 || read_fraction(p, &enter) < 0)
        return -1;
    loss->model = LOSS_GEMODEL;
    loss->p = net_share_of(enter, p->arena);
    loss->r = net_share_of(1 - enter, p->arena);
    if (optional_share(p, &loss->r) < 0 || optional_share(p, &not_h) < 0 ||
        optional_share(p, &loss->k) < 0)
        return -1;
    net_loss_set_h(loss, not_h, p->arena);
    return 0;
}

/* A second loss is an error, except after one of 0 %. */
static int parse_loss(struct parser *p)
{
    struct net_loss *loss = &p->impair->loss;

    if (loss->model > LOSS_RANDOM || loss->random.scaled)
        return refuse(p, "second loss", "one");
    memset(loss, 0, sizeof(*loss));
    if (next(p, "model or percentage") < 0)
        return -1;
    if (isdigit((unsigned char)p->words[p->at][0]))
        return parse_random(p);
    if (strcmp(p->words[p->at], "random") == 0)
        return next(p, "percentage") < 0 ? -1 : parse_random(p);
    if (strcmp(p->words[p->at], "state") == 0)
        return parse_state(p);
    if (strcmp(p->words[p->at], "gemodel") == 0)
        return parse_gemodel(p);
    return refuse(p, "loss", "a percentage, random, state or gemodel");
}

static int parse_ecn(struct parser *p)
{
    p->impair->ecn = true;
    return 0;
}

static int share_and_correlation(struct parser *p, struct net_share *share,
                                 struct net_share *correlation)
{
    if (next(p, "percentage") < 0 || read_share(p, share) < 0)
        return -1;
    return optional_share(p, correlation);
}

static int parse_reorder(struct parser *p)
{
    return share_and_correlation(p, &p->impair->reorder, &p->impair->reorder_correlation);
}

static int parse_corrupt(struct parser *p)
{
    return share_and_correlation(p, &p->impair->corrupt, &p->impair->corrupt_correlation);
}

static int parse_duplicate(struct parser *p)
{
    return share_and_correlation(p, &p->impair->duplicate, &p->impair->duplicate_correlation);
}

static int parse_gap(struct parser *p)
{
    long gap;

    if (next(p, "distance") < 0 ||
        read_whole(p, 0, INT32_MAX, "gap", "a whole number of packets", &gap) < 0)
        return -1;
    p->impair->gap = (uint32_t)gap;
    return 0;
}

static int read_distribution(struct parser *p, const char **name)
{
    if (next(p, "name") < 0)
        return -1;
    if (!decode_is_name(p->words[p->at]))
        return refuse(p, "distribution",
                      "uniform, normal, pareto, paretonormal, or NAME of a file "
                      "NAME.dist of tc's");
    *name = p->words[p->at];
    return 0;
}

static int parse_distribution(struct parser *p)
{
    return read_distribution(p, &p->impair->distribution);
}

static int read_overhead(struct parser *p, long min, const char *allowed, int32_t *bytes)
{
    long value;

    if (!signed_number_follows(p))
        return 0;
    p->at++;
    if (read_whole(p, min, NET_OVERHEAD_MAX, "overhead", allowed, &value) < 0)
        return -1;
    *bytes = (int32_t)value;
    return 0;
}

static int parse_rate(struct parser *p)
{
    struct net_rate *rate = &p->impair->rate;
    long cell;

    if (next(p, "rate") < 0)
        return -1;
    if (strchr(p->words[p->at], '%'))
        return refuse(p, "rate", "a rate; this link has no speed to take a percentage of");
    if (read_rate(p, &rate->bit_s) < 0 ||
        read_overhead(p, NET_OVERHEAD_MIN, "-42 to 65535 bytes a packet", &rate->packet_overhead) <
            0)
        return -1;
    if (number_follows(p)) {
        p->at++;
        if (read_whole(p, 0, NET_CELL_MAX, "cell size", "0 to 65535 bytes", &cell) < 0)
            return -1;
        rate->cell_bytes = (uint32_t)cell;
    }
    return read_overhead(p, rate->cell_bytes ? 1 - (long)rate->cell_bytes : INT32_MIN,
                         "up to 65535 bytes a cell, leaving something of the cell",
                         &rate->cell_overhead);
}

/* Whether `word` is the beginning of `name`, at least a letter of it. */
static bool matches(const char *word, const char *name)
{
    return *word && strncmp(word, name, strlen(word)) == 0;
}

static int parse_slot_waits(struct parser *p, struct net_slot *slot)
{
    *slot = (struct net_slot){.packets = slot->packets, .bytes = slot->bytes};
    if (read_time(p, 1, &slot->min_ns) < 0)
        return -1;
    slot->max_ns = slot->min_ns;
    if (!number_follows(p))
        return 0;
    p->at++;
    if (read_time(p, 1, &slot->max_ns) < 0)
        return -1;
    return slot->max_ns < slot->min_ns
               ? refuse(p, "longest wait of a slot", "the shortest and more")
               : 0;
}

static int parse_slot_spread(struct parser *p, struct net_slot *slot)
{
    *slot = (struct net_slot){.packets = slot->packets, .bytes = slot->bytes};
    if (read_distribution(p, &slot->distribution) < 0 || next(p, "delay") < 0 ||
        read_time(p, 1, &slot->delay_ns) < 0 || next(p, "jitter") < 0 ||
        read_time(p, 1, &slot->jitter_ns) < 0)
        return -1;
    return slot->jitter_ns == 0 || slot->jitter_ns > NET_JITTER_MAX_NS
               ? refuse(p, "jitter of slots", "1ns to 2147483647ns, the kernel's limit")
               : 0;
}

static int parse_slot(struct parser *p)
{
    struct net_slot *slot = &p->impair->slot;
    long packets;

    if (next(p, "wait or 'distribution'") < 0)
        return -1;
    if (isdigit((unsigned char)p->words[p->at][0])) {
        if (parse_slot_waits(p, slot) < 0)
            return -1;
    } else if (strcmp(p->words[p->at], "distribution") == 0) {
        if (parse_slot_spread(p, slot) < 0)
            return -1;
    } else {
        return refuse(p, "slot", "MIN [MAX], or distribution NAME DELAY JITTER");
    }
    if (p->at + 1 < p->count && matches(p->words[p->at + 1], "packets")) {
        p->at++;
        if (next(p, "number") < 0 ||
            read_whole(p, 0, INT32_MAX, "number of packets", "0 to 2147483647", &packets) < 0)
            return -1;
        slot->packets = (uint32_t)packets;
    }
    if (p->at + 1 < p->count && matches(p->words[p->at + 1], "bytes")) {
        p->at++;
        if (next(p, "size") < 0 ||
            read_size(p, "size", "1 byte and more, b, k, m", &slot->bytes) < 0)
            return -1;
    }
    return 0;
}

static int parse_seed(struct parser *p)
{
    refuse(p, "word for here", "a seed of the series: each pair's is derived from it");
    return err_hint(p->err, "--seed N sets the seed of the series");
}

/* In the order in which tc tries them: an abbreviation means the first that it fits. */
static const struct verb {
    const char *name;
    int (*parse)(struct parser *p);
} verbs[] = {
    {"limit", parse_limit},
    {"latency", parse_delay},
    {"delay", parse_delay},
    {"loss", parse_loss},
    {"drop", parse_loss},
    {"ecn", parse_ecn},
    {"reorder", parse_reorder},
    {"corrupt", parse_corrupt},
    {"gap", parse_gap},
    {"duplicate", parse_duplicate},
    {"distribution", parse_distribution},
    {"rate", parse_rate},
    {"slot", parse_slot},
    {"seed", parse_seed},
};

static int parse_verb(struct parser *p)
{
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (matches(p->words[p->at], verbs[i].name))
            return verbs[i].parse(p);
    refuse(p, "word of tc's netem",
           "delay, distribution, loss, ecn, duplicate, corrupt, reorder, gap, rate, slot, limit");
    return err_hint(p->err, "for example \"delay 20ms 5ms distribution normal loss 0.1%%\"; see "
                            "tc-netem(8)");
}

int net_impair_parse_words(struct net_impair *impair, const char *words, struct arena *arena,
                           struct err *err)
{
    struct parser p = {.impair = impair, .arena = arena, .err = err};
    const char *why, *key;

    memset(impair, 0, sizeof(*impair));
    if (words_split(arena, words, &p.words, &p.count, err) < 0)
        return err_wrap(err, "impairment");
    if (p.count == 0)
        return err_set(err, ERR_USAGE, "impairment: no words in it");
    for (; p.at < p.count; p.at++)
        if (parse_verb(&p) < 0)
            return -1;
    why = net_impair_settle(impair, &key);
    return why ? err_set(err, ERR_USAGE, "impairment: '%s': %s", key, why) : 0;
}
