/*
 * seed: common random numbers. Both runs of a pair get the same seed, each pair another.
 */
#ifndef ABBA_SERIES_SEED_H
#define ABBA_SERIES_SEED_H

#include <stdint.h>

/*
 * The first 8 bytes, big-endian, of SHA-256("abba-crn-1|SERIES|PROFILE|PAIR|LINK"). `series` is the
 * plan's seed; `link` names what the numbers are for ("lo", "program").
 */
uint64_t seed_of_pair(uint64_t series, const char *profile, uint64_t pair, const char *link);

#endif
