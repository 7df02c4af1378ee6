/*
 * network_words: the words of tc's netem and the numbers among them, read as tc reads them
 * (iproute2's tc/tc_util.c and lib/utils.c). For src/model/network_words*.c only.
 *
 * Errors are ERR_USAGE and name the word at hand. A reader reads the word at hand and stays there.
 */
#ifndef ABBA_MODEL_NETWORK_WORDS_H
#define ABBA_MODEL_NETWORK_WORDS_H

#include "model/network.h"

/* The words, and which is at hand. */
struct netem_words {
    char **words;
    size_t count, at;
    struct net_impair *impair;
    struct arena *arena;
    struct err *err;
};

/* "'5parsec' (word 2) is no WHAT: allowed is ALLOWED". Returns -1. */
int netem_words_refuse(struct netem_words *p, const char *what, const char *allowed);

/* Steps to the next word, which must be there: it is the WHAT of this one. */
int netem_words_next(struct netem_words *p, const char *what);

/* Whether a further optional number follows: a word that starts with a digit (or a minus). */
bool netem_words_number_follows(const struct netem_words *p);
bool netem_words_signed_follows(const struct netem_words *p);

/* bare_ns is what a number without a unit counts: microseconds for a delay, ns for a slot. */
int netem_words_time(struct netem_words *p, double bare_ns, int64_t *ns);

/* A percentage with or without its sign, at most 100. */
int netem_words_fraction(struct netem_words *p, double *fraction);
int netem_words_share(struct netem_words *p, struct net_share *share);

/* Steps to a share if one follows; *share is left alone where none does. */
int netem_words_optional_share(struct netem_words *p, struct net_share *share);

/* A whole number in decimal, octal or hexadecimal. */
int netem_words_whole(struct netem_words *p, long min, long max, const char *what,
                      const char *allowed, long *value);

/* From 1; units are powers of 1024. */
int netem_words_size(struct netem_words *p, const char *what, const char *allowed, uint32_t *size);

/* In bits a second; "...bps" are bytes. */
int netem_words_rate(struct netem_words *p, uint64_t *bit_s);

#endif
