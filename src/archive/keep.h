/*
 * keep: which of many archives stay, by age, size and pins. Decides only; touches nothing.
 *
 * A rule is read from text: "30d:full,1y:weekly,verdicts": all of the last 30 days, one a week of
 * the last year, and of older ones the verdicts alone. Ages grow; the last word has none and is for
 * all that are older. Words: full, daily, weekly, monthly, verdicts. Of a day, week (from Monday)
 * or month, in UTC, the newest of each series stays.
 */
#ifndef ABBA_ARCHIVE_KEEP_H
#define ABBA_ARCHIVE_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum keep_what { KEEP_FULL, KEEP_DAILY, KEEP_WEEKLY, KEEP_MONTHLY, KEEP_VERDICTS };

#define KEEP_STEPS 8

struct keep_rule {
    struct keep_step {
        int64_t age_s; /* archives younger than that; the last: INT64_MAX */
        enum keep_what what;
    } steps[KEEP_STEPS];
    size_t count;
};

/* ERR_USAGE says what is allowed. Ages: whole numbers with h, d, w, m (30 days) or y (365 days). */
int keep_parse(const char *text, struct keep_rule *rule, struct err *err);

struct keep_item {
    const char *series; /* of the plan */
    int64_t started_s;  /* UTC seconds */
    uint64_t bytes;
    bool pinned;
    const char *drop; /* filled in: why it goes, or NULL */
};

/*
 * Decides on all. Pinned ones stay. What the rule (may be NULL) leaves is then made to fit into
 * `max_bytes` (0: no limit), the oldest going first. Returns the bytes that stay, which are more
 * than max_bytes only where pinned ones are.
 */
uint64_t keep_decide(struct keep_item *items, size_t count, const struct keep_rule *rule,
                     uint64_t max_bytes, int64_t now_s);

#endif
