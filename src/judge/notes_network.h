/*
 * notes_network: what a report says of a profile's private network, from the proofs in its samples.
 */
#ifndef ABBA_JUDGE_NOTES_NETWORK_H
#define ABBA_JUDGE_NOTES_NETWORK_H

#include "judge/assess.h"

/* Adds notes to out->notes; none for a profile on the host's loopback. */
void notes_network(struct report_profile *out, const struct assessment *x, const struct judging *j);

#endif
