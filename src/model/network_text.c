#include "model/network_text.h"

#include <math.h>

#include "base/buf.h"
#include "base/units.h"

/* An effective loss that differs from what was asked by more than this share of it is told. */
#define TOLD 0.05

static void say_time(const char *name, int64_t ns, struct buf *out)
{
    char text[UNITS_TEXT];

    if (ns == 0)
        return;
    units_canonical_time(ns, text);
    buf_printf(out, ", %s %s", name, text);
}

static void say_net_share(const char *name, const struct net_share *share, struct buf *out)
{
    if (share->text)
        buf_printf(out, ", %s %s", name, share->text);
}

/* A share, 0..1, with three digits: "0.2%". */
static void say_share(double share, struct buf *out)
{
    buf_printf(out, "%.3g%%", 100 * share);
}

static void say_loss(const struct net_loss *loss, struct buf *out)
{
    static const char *const models[] = {"", "", " (4-state model)", " (Gilbert-Elliott)"};

    if (loss->model == LOSS_NONE)
        return;
    if (loss->model == LOSS_RANDOM) {
        say_net_share("loss", &loss->random, out);
        if (loss->correlation.text)
            buf_printf(out, " correlated %s", loss->correlation.text);
        return;
    }
    buf_addstr(out, ", loss ");
    say_share(net_loss_effective(loss, NULL), out);
    buf_addstr(out, models[loss->model]);
}

static void say_rate(const struct net_rate *rate, struct buf *out)
{
    char text[UNITS_TEXT];

    if (rate->bit_s == 0)
        return;
    units_canonical_rate(rate->bit_s, text);
    buf_printf(out, ", rate %s", text);
}

/* "delay 20ms, jitter 5ms, loss 0.1%", or "untouched" for NULL. One way. */
static void say_impair(const struct net_impair *impair, struct buf *out)
{
    struct buf list = BUF_INIT;

    if (impair) {
        say_time("delay", impair->delay_ns, &list);
        say_time("jitter", impair->jitter_ns, &list);
        if (impair->distribution)
            buf_printf(&list, " (%s)", impair->distribution);
        if (impair->keep_order)
            buf_addstr(&list, " in order");
        say_loss(&impair->loss, &list);
        say_net_share("duplicate", &impair->duplicate, &list);
        say_net_share("corrupt", &impair->corrupt, &list);
        say_net_share("reorder", &impair->reorder, &list);
        say_rate(&impair->rate, &list);
        if (impair->slot.max_ns || impair->slot.jitter_ns || impair->slot.delay_ns)
            buf_addstr(&list, ", slots");
        if (impair->limit)
            buf_printf(&list, ", queue of %u packets", impair->limit);
        if (impair->ecn)
            buf_addstr(&list, ", ECN");
    }
    buf_addstr(out, list.len > 2 ? list.data + 2 : "untouched");
    buf_release(&list);
}

void network_say_effective(const struct net_impair *impair, struct buf *out)
{
    double asked, real;

    if (!impair || impair->loss.model != LOSS_RANDOM || !impair->loss.correlation.scaled)
        return;
    real = net_loss_effective(&impair->loss, &asked);
    if (fabs(real - asked) <= TOLD * asked)
        return;
    buf_printf(out, "loss %s with a correlation of %s really loses ", impair->loss.random.text,
               impair->loss.correlation.text);
    say_share(real, out);
}

/* ---- there and back ---- */

static double loss_of(const struct net_impair *impair)
{
    return impair ? net_loss_effective(&impair->loss, NULL) : 0;
}

static void say_round_trip(const struct net_impair *there, const struct net_impair *back,
                           struct buf *out)
{
    int64_t delay_ns = (there ? there->delay_ns : 0) + (back ? back->delay_ns : 0);
    int64_t jitter_ns = (there ? there->jitter_ns : 0) + (back ? back->jitter_ns : 0);
    double loss = 1 - (1 - loss_of(there)) * (1 - loss_of(back));
    struct buf list = BUF_INIT;

    say_time("delay", delay_ns, &list);
    if (jitter_ns) {
        say_time("jitter", jitter_ns, &list);
        buf_addstr(&list, " at most");
    }
    if (loss > 0) {
        buf_addstr(&list, ", loss ");
        say_share(loss, &list);
    }
    if (list.len > 2)
        buf_printf(out, "; round trip: %s", list.data + 2);
    buf_release(&list);
}

void network_say(const struct network *n, const char *a, const char *b, struct buf *out)
{
    const struct net_impair *there, *back;

    buf_addstr(out, net_topology_name(n->topology));
    if (n->topology != NET_PAIR || !a || !b) {
        there = back = network_direction(n, "", "");
        buf_addstr(out, there ? "; one way: " : "; ");
        say_impair(there, out);
    } else {
        there = network_direction(n, a, b);
        back = network_direction(n, b, a);
        buf_printf(out, "; %s to %s: ", a, b);
        say_impair(there, out);
        buf_printf(out, "; %s to %s: ", b, a);
        say_impair(back, out);
    }
    say_round_trip(there, back, out);
}
