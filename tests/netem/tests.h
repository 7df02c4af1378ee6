/*
 * tests: what the guest looks at.
 */
#ifndef ABBA_TESTS_NETEM_TESTS_H
#define ABBA_TESTS_NETEM_TESTS_H

#include <stdbool.h>

struct rtnl;

#define PACKETS 20000u

/*
 * Each parameter of netem, alone and at its ends, is programmed, read back and compared. `seeds`:
 * whether this kernel is to have the seed too.
 */
void test_parameters(struct rtnl *r, bool seeds);

/* Each model with a seed, against fate: 20,000 packets, bit for bit and to the nanosecond. */
void test_exactly(struct rtnl *r);

/* Each model without a seed: shares inside their intervals, and the discipline's own counts. */
void test_statistically(struct rtnl *r);

/* What a person types, end to end: /abba in /data, and /flow. */
void test_wholly(void);

/* The program that runs in a network there: datagrams to 127.0.0.1 and ::1. An exit status. */
int whole_talk(void);

#endif
