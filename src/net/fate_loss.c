#include "net/fate_parts.h"

/* Markov states. Gilbert-Elliott has the first two. */
enum { GOOD = 1, BAD = 2 };
enum { TX_IN_GAP = 1, TX_IN_BURST = 2, LOST_IN_BURST = 3, LOST_IN_GAP = 4 };

/* Gilbert-Elliott: always two draws; the loss is tested in the state before the step. */
static bool gilbert_elliott(struct fate *f)
{
    const struct net_loss *m = &f->impair->loss;
    uint32_t move = fate_random_next(&f->random);
    uint32_t lose = fate_random_next(&f->random);

    if (f->loss_state == GOOD) {
        if (move < m->p.scaled)
            f->loss_state = BAD;
        return lose < m->k.scaled;
    }
    if (move < m->r.scaled)
        f->loss_state = GOOD;
    return lose > m->h.scaled;
}

static bool go(struct fate *f, uint32_t state, bool lost)
{
    f->loss_state = state;
    return lost;
}

/* The 4-state chain of the GI model: one draw. Sums of shares wrap, as the kernel's do. */
static bool four_state(struct fate *f)
{
    const struct net_loss *m = &f->impair->loss;
    uint32_t rnd = fate_random_next(&f->random);

    switch (f->loss_state) {
    case TX_IN_GAP:
        if (rnd < m->p14.scaled)
            return go(f, LOST_IN_GAP, true);
        if (rnd < m->p13.scaled + m->p14.scaled)
            return go(f, LOST_IN_BURST, true);
        return false;
    case TX_IN_BURST:
        return rnd < m->p23.scaled ? go(f, LOST_IN_BURST, true) : false;
    case LOST_IN_BURST:
        if (rnd < m->p32.scaled)
            return go(f, TX_IN_BURST, false);
        if (rnd < m->p31.scaled + m->p32.scaled)
            return go(f, TX_IN_GAP, false);
        return true;
    default:
        return go(f, TX_IN_GAP, false);
    }
}

bool fate_loss_event(struct fate *f)
{
    uint32_t share = f->impair->loss.random.scaled;

    switch (f->impair->loss.model) {
    case LOSS_RANDOM:
        return share && share >= fate_correlated_next(&f->loss, &f->random);
    case LOSS_STATE:
        return four_state(f);
    case LOSS_GEMODEL:
        return gilbert_elliott(f);
    case LOSS_NONE:
        break;
    }
    return false;
}
