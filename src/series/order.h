/*
 * order: which variant runs in which slot.
 *
 * Two variants alternate AB, BA; k variants run in Williams rows, each row followed by its mirror,
 * so that every variant follows every other equally often. Source: E. J. Williams, "Experimental
 * designs balanced for the estimation of residual effects of treatments", 1949.
 */
#ifndef ABBA_SERIES_ORDER_H
#define ABBA_SERIES_ORDER_H

#include <stddef.h>

/*
 * Fills `slots` (k of them) with variant indices for block `block` (0..). `first` shifts the start:
 * the first order alternates from profile to profile (pass the profile's index).
 */
void order_block(size_t k, size_t block, size_t first, size_t *slots);

#endif
