#include "net/fate_parts.h"

/* get_slot_next: when the next slot opens, with a fresh budget. */
static void open_next(struct fate *f, int64_t now_ns)
{
    const struct net_slot *slot = &f->impair->slot;
    uint64_t width = (uint64_t)(slot->max_ns - slot->min_ns);
    int64_t wait_ns;

    if (f->slot_table.count)
        wait_ns = fate_spread_ns(
            slot->delay_ns, slot->jitter_ns > INT32_MAX ? INT32_MAX : (uint32_t)slot->jitter_ns,
            NULL, &f->random, &f->slot_table);
    else
        wait_ns =
            slot->min_ns + (int64_t)((unsigned __int128)width * fate_random_next(&f->aside) >> 32);
    f->slot_next_ns = now_ns + wait_ns;
    f->slot_packets_left = slot->packets ? (int32_t)slot->packets : INT32_MAX;
    f->slot_bytes_left = slot->bytes ? (int32_t)slot->bytes : INT32_MAX;
}

/* The part of netem_dequeue that is about slots. */
int64_t fate_release_ns(struct fate *f, int64_t now_ns, int64_t due_ns, uint32_t bytes)
{
    if (f->slot_next_ns == 0)
        return due_ns;
    if (f->slot_next_ns < due_ns)
        open_next(f, now_ns);
    if (due_ns > now_ns || f->slot_next_ns > now_ns)
        return due_ns > f->slot_next_ns ? due_ns : f->slot_next_ns;
    f->slot_packets_left--;
    f->slot_bytes_left -= (int32_t)bytes;
    if (f->slot_packets_left <= 0 || f->slot_bytes_left <= 0)
        open_next(f, now_ns);
    return due_ns;
}
