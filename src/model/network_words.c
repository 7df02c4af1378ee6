#include "model/network_words.h"

#include "model/decode.h"
#include "model/network_parts.h"

#include "base/mem.h"
#include "base/words.h"

#include <ctype.h>
#include <string.h>

/* ---- verbs ---- */

static int parse_limit(struct netem_words *p)
{
    return netem_words_next(p, "packets") < 0
               ? -1
               : netem_words_size(p, "limit", "1 packet and more", &p->impair->limit);
}

static int parse_delay(struct netem_words *p)
{
    if (netem_words_next(p, "time") < 0 || netem_words_time(p, 1e3, &p->impair->delay_ns) < 0)
        return -1;
    if (!netem_words_number_follows(p))
        return 0;
    p->at++;
    if (netem_words_time(p, 1e3, &p->impair->jitter_ns) < 0)
        return -1;
    if (p->impair->jitter_ns > NET_JITTER_MAX_NS)
        return netem_words_refuse(p, "jitter", "at most 2147483647ns, the kernel's limit");
    return netem_words_optional_share(p, &p->impair->delay_correlation);
}

static int parse_random(struct netem_words *p)
{
    struct net_loss *loss = &p->impair->loss;

    loss->model = LOSS_RANDOM;
    return netem_words_share(p, &loss->random) < 0
               ? -1
               : netem_words_optional_share(p, &loss->correlation);
}

static int parse_state(struct netem_words *p)
{
    struct net_loss *loss = &p->impair->loss;
    struct net_share *const more[] = {&loss->p31, &loss->p32, &loss->p23, &loss->p14};
    double p13;

    if (netem_words_next(p, "p13") < 0 || netem_words_fraction(p, &p13) < 0)
        return -1;
    loss->model = LOSS_STATE;
    loss->p13 = net_share_of(p13, p->arena);
    loss->p31 = net_share_of(1 - p13, p->arena);
    loss->p23 = net_share_of(1, p->arena);
    for (size_t i = 0; i < 4; i++)
        if (netem_words_optional_share(p, more[i]) < 0)
            return -1;
    return 0;
}

static int parse_gemodel(struct netem_words *p)
{
    struct net_loss *loss = &p->impair->loss;
    struct net_share not_h = net_share_of(1, p->arena);
    double enter;

    if (netem_words_next(p, "p") < 0 || netem_words_fraction(p, &enter) < 0)
        return -1;
    loss->model = LOSS_GEMODEL;
    loss->p = net_share_of(enter, p->arena);
    loss->r = net_share_of(1 - enter, p->arena);
    if (netem_words_optional_share(p, &loss->r) < 0 || netem_words_optional_share(p, &not_h) < 0 ||
        netem_words_optional_share(p, &loss->k) < 0)
        return -1;
    net_loss_set_h(loss, not_h, p->arena);
    return 0;
}

/* A second loss is an error, except after one of 0 %. */
static int parse_loss(struct netem_words *p)
{
    struct net_loss *loss = &p->impair->loss;

    if (loss->model > LOSS_RANDOM || loss->random.scaled)
        return netem_words_refuse(p, "second loss", "one");
    memset(loss, 0, sizeof(*loss));
    if (netem_words_next(p, "model or percentage") < 0)
        return -1;
    if (isdigit((unsigned char)p->words[p->at][0]))
        return parse_random(p);
    if (strcmp(p->words[p->at], "random") == 0)
        return netem_words_next(p, "percentage") < 0 ? -1 : parse_random(p);
    if (strcmp(p->words[p->at], "state") == 0)
        return parse_state(p);
    if (strcmp(p->words[p->at], "gemodel") == 0)
        return parse_gemodel(p);
    return netem_words_refuse(p, "loss", "a percentage, random, state or gemodel");
}

static int parse_ecn(struct netem_words *p)
{
    p->impair->ecn = true;
    return 0;
}

static int share_and_correlation(struct netem_words *p, struct net_share *share,
                                 struct net_share *correlation)
{
    if (netem_words_next(p, "percentage") < 0 || netem_words_share(p, share) < 0)
        return -1;
    return netem_words_optional_share(p, correlation);
}

static int parse_reorder(struct netem_words *p)
{
    return share_and_correlation(p, &p->impair->reorder, &p->impair->reorder_correlation);
}

static int parse_corrupt(struct netem_words *p)
{
    return share_and_correlation(p, &p->impair->corrupt, &p->impair->corrupt_correlation);
}

static int parse_duplicate(struct netem_words *p)
{
    return share_and_correlation(p, &p->impair->duplicate, &p->impair->duplicate_correlation);
}

static int parse_gap(struct netem_words *p)
{
    long gap;

    if (netem_words_next(p, "distance") < 0 ||
        netem_words_whole(p, 0, INT32_MAX, "gap", "a whole number of packets", &gap) < 0)
        return -1;
    p->impair->gap = (uint32_t)gap;
    return 0;
}

static int read_distribution(struct netem_words *p, const char **name)
{
    if (netem_words_next(p, "name") < 0)
        return -1;
    if (!decode_is_name(p->words[p->at]))
        return netem_words_refuse(p, "distribution",
                                  "uniform, normal, pareto, paretonormal, or NAME of a file "
                                  "NAME.dist of tc's");
    *name = p->words[p->at];
    return 0;
}

static int parse_distribution(struct netem_words *p)
{
    return read_distribution(p, &p->impair->distribution);
}

static int read_overhead(struct netem_words *p, long min, const char *allowed, int32_t *bytes)
{
    long value;

    if (!netem_words_signed_follows(p))
        return 0;
    p->at++;
    if (netem_words_whole(p, min, NET_OVERHEAD_MAX, "overhead", allowed, &value) < 0)
        return -1;
    *bytes = (int32_t)value;
    return 0;
}

static int parse_rate(struct netem_words *p)
{
    struct net_rate *rate = &p->impair->rate;
    long cell;

    if (netem_words_next(p, "rate") < 0)
        return -1;
    if (strchr(p->words[p->at], '%'))
        return netem_words_refuse(p, "rate",
                                  "a rate; this link has no speed to take a percentage of");
    if (netem_words_rate(p, &rate->bit_s) < 0 ||
        read_overhead(p, NET_OVERHEAD_MIN, "-42 to 65535 bytes a packet", &rate->packet_overhead) <
            0)
        return -1;
    if (netem_words_number_follows(p)) {
        p->at++;
        if (netem_words_whole(p, 0, NET_CELL_MAX, "cell size", "0 to 65535 bytes", &cell) < 0)
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

static int parse_slot_waits(struct netem_words *p, struct net_slot *slot)
{
    *slot = (struct net_slot){.packets = slot->packets, .bytes = slot->bytes};
    if (netem_words_time(p, 1, &slot->min_ns) < 0)
        return -1;
    slot->max_ns = slot->min_ns;
    if (!netem_words_number_follows(p))
        return 0;
    p->at++;
    if (netem_words_time(p, 1, &slot->max_ns) < 0)
        return -1;
    return slot->max_ns < slot->min_ns
               ? netem_words_refuse(p, "longest wait of a slot", "the shortest and more")
               : 0;
}

static int parse_slot_spread(struct netem_words *p, struct net_slot *slot)
{
    *slot = (struct net_slot){.packets = slot->packets, .bytes = slot->bytes};
    if (read_distribution(p, &slot->distribution) < 0 || netem_words_next(p, "delay") < 0 ||
        netem_words_time(p, 1, &slot->delay_ns) < 0 || netem_words_next(p, "jitter") < 0 ||
        netem_words_time(p, 1, &slot->jitter_ns) < 0)
        return -1;
    return slot->jitter_ns == 0 || slot->jitter_ns > NET_JITTER_MAX_NS
               ? netem_words_refuse(p, "jitter of slots", "1ns to 2147483647ns, the kernel's limit")
               : 0;
}

static int parse_slot(struct netem_words *p)
{
    struct net_slot *slot = &p->impair->slot;
    long packets;

    if (netem_words_next(p, "wait or 'distribution'") < 0)
        return -1;
    if (isdigit((unsigned char)p->words[p->at][0])) {
        if (parse_slot_waits(p, slot) < 0)
            return -1;
    } else if (strcmp(p->words[p->at], "distribution") == 0) {
        if (parse_slot_spread(p, slot) < 0)
            return -1;
    } else {
        return netem_words_refuse(p, "slot", "MIN [MAX], or distribution NAME DELAY JITTER");
    }
    if (p->at + 1 < p->count && matches(p->words[p->at + 1], "packets")) {
        p->at++;
        if (netem_words_next(p, "number") < 0 ||
            netem_words_whole(p, 0, INT32_MAX, "number of packets", "0 to 2147483647", &packets) <
                0)
            return -1;
        slot->packets = (uint32_t)packets;
    }
    if (p->at + 1 < p->count && matches(p->words[p->at + 1], "bytes")) {
        p->at++;
        if (netem_words_next(p, "size") < 0 ||
            netem_words_size(p, "size", "1 byte and more, b, k, m", &slot->bytes) < 0)
            return -1;
    }
    return 0;
}

static int parse_seed(struct netem_words *p)
{
    netem_words_refuse(p, "word for here", "a seed of the series: each pair's is derived from it");
    return err_hint(p->err, "--seed N sets the seed of the series");
}

/* In the order in which tc tries them: an abbreviation means the first that it fits. */
static const struct verb {
    const char *name;
    int (*parse)(struct netem_words *p);
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

static int parse_verb(struct netem_words *p)
{
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (matches(p->words[p->at], verbs[i].name))
            return verbs[i].parse(p);
    netem_words_refuse(
        p, "word of tc's netem",
        "delay, distribution, loss, ecn, duplicate, corrupt, reorder, gap, rate, slot, limit");
    return err_hint(p->err, "for example \"delay 20ms 5ms distribution normal loss 0.1%%\"; see "
                            "tc-netem(8)");
}

int net_impair_parse_words(struct net_impair *impair, const char *words, struct arena *arena,
                           struct err *err)
{
    struct netem_words p = {.impair = impair, .arena = arena, .err = err};
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
