#include "arrivals.h"

#include <string.h>

static bool seen(const struct arrivals *a, uint64_t n)
{
    return a->seen[n % REMEMBERED / 64] >> (n % 64) & 1;
}

static void mark(struct arrivals *a, uint64_t n)
{
    a->seen[n % REMEMBERED / 64] |= 1ULL << (n % 64);
}

/* Forgets what came REMEMBERED numbers before those that are passed over. */
static void advance(struct arrivals *a, uint64_t to)
{
    if (to - a->next >= REMEMBERED) {
        memset(a->seen, 0, sizeof(a->seen));
        a->next = to;
    }
    for (; a->next < to; a->next++)
        a->seen[a->next % REMEMBERED / 64] &= ~(1ULL << (a->next % 64));
}

bool arrivals_add(struct arrivals *a, uint64_t sequence)
{
    if (sequence >= a->next) {
        advance(a, sequence + 1);
    } else if (a->next - sequence > REMEMBERED || seen(a, sequence)) {
        a->duplicates++;
        return false;
    } else {
        a->out_of_order++;
    }
    mark(a, sequence);
    a->received++;
    return true;
}

uint64_t arrivals_missing(const struct arrivals *a)
{
    uint64_t sent = a->ended && a->sent > a->next ? a->sent : a->next;

    return sent - a->received;
}
