#include "model/network.h"

#include <math.h>
#include <string.h>

#define WHOLE 4294967296.0 /* 2^32: what a draw is one of */

/* ---- correlated random loss --------------------------------------------------------------------
 *
 * netem's correlated number is x' = (1 - rho) * U + rho * x with U uniform over 0..1. In the long
 * run its distribution function F satisfies
 *     F(x) = rho / (1 - rho) * (G(x / rho) - G((x - (1 - rho)) / rho)),  G(y) = integral of F to y
 * which is iterated on a grid: each round brings F nearer by the factor rho.
 */
#define CELLS 4096

struct table {
    double f[CELLS + 1]; /* F at i / CELLS */
    double g[CELLS + 1]; /* G there */
};

static void integrate(struct table *t)
{
    t->g[0] = 0;
    for (int i = 1; i <= CELLS; i++)
        t->g[i] = t->g[i - 1] + (t->f[i - 1] + t->f[i]) / (2.0 * CELLS);
}

static double integral(const struct table *t, double y)
{
    double at, part;
    int i;

    if (y <= 0)
        return 0;
    if (y >= 1)
        return t->g[CELLS] + (y - 1);
    at = y * CELLS;
    i = (int)at;
    part = at - i;
    return t->g[i] + (t->f[i] * part + (t->f[i + 1] - t->f[i]) * part * part / 2) / CELLS;
}

static double below(const struct table *t, double x, double rho)
{
    double f = rho / (1 - rho) * (integral(t, x / rho) - integral(t, (x - (1 - rho)) / rho));

    return f < 0 ? 0 : f > 1 ? 1 : f;
}

/* The share of correlated numbers that are at most x. */
static double correlated_share(double x, double rho)
{
    struct table now, then;
    double moved = 1;

    for (int i = 0; i <= CELLS; i++)
        now.f[i] = (double)i / CELLS;
    for (int round = 0; round < 4000 && moved > 1e-10; round++) {
        integrate(&now);
        then = now;
        moved = 0;
        for (int i = 0; i <= CELLS; i++) {
            now.f[i] = below(&then, (double)i / CELLS, rho);
            moved = fmax(moved, fabs(now.f[i] - then.f[i]));
        }
    }
    integrate(&now);
    return below(&now, x, rho);
}

/*
 * Nearly whole correlation: the numbers hardly move within a run, which loses all or nothing as the
 * first, unseeded one has it. Over many runs that is the share asked for.
 */
#define STUCK 0.999

static double random_loss(const struct net_loss *loss)
{
    double share = ((double)loss->random.scaled + 1) / WHOLE;
    double rho = ((double)loss->correlation.scaled + 1) / WHOLE;

    if (loss->random.scaled == 0)
        return 0;
    if (loss->correlation.scaled == 0 || rho > STUCK)
        return share;
    return correlated_share(share, rho);
}

/* ---- Markov models ---- */

#define STATES 4

/* A chain, and the chance to lose a packet in each state before its step. */
struct chain {
    double step[STATES][STATES];
    double lose[STATES];
};

/* step = (step + 1) / 2, then squared again and again: its rows become the long run's averages. */
static void settle(struct chain *c)
{
    double next[STATES][STATES];

    for (int i = 0; i < STATES; i++)
        for (int k = 0; k < STATES; k++)
            c->step[i][k] = (c->step[i][k] + (i == k)) / 2;
    for (int round = 0; round < 64; round++) {
        for (int i = 0; i < STATES; i++) {
            double sum = 0;

            for (int k = 0; k < STATES; k++) {
                next[i][k] = 0;
                for (int j = 0; j < STATES; j++)
                    next[i][k] += c->step[i][j] * c->step[j][k];
                sum += next[i][k];
            }
            for (int k = 0; k < STATES; k++)
                next[i][k] /= sum;
        }
        memcpy(c->step, next, sizeof(next));
    }
}

/* From the first state, where every chain starts. */
static double long_run_loss(struct chain *c)
{
    double loss = 0;

    settle(c);
    for (int i = 0; i < STATES; i++)
        loss += c->step[0][i] * c->lose[i];
    return loss;
}

/* The chance of a draw from `from` up to below `to`; sums of shares wrap, as in the kernel. */
static double between(uint32_t from, uint32_t to)
{
    return to > from ? ((double)to - from) / WHOLE : 0;
}

/* States 1 to 4 of the kernel: received in a gap, in a burst; lost in a burst, alone in a gap. */
static double state_loss(const struct net_loss *loss)
{
    struct chain c = {.lose = {0}};
    double alone = between(0, loss->p14.scaled);
    double enter = between(loss->p14.scaled, loss->p13.scaled + loss->p14.scaled);
    double again = between(0, loss->p23.scaled);
    double pause = between(0, loss->p32.scaled);
    double leave = between(loss->p32.scaled, loss->p31.scaled + loss->p32.scaled);

    c.step[0][3] = alone, c.step[0][2] = enter, c.step[0][0] = 1 - alone - enter;
    c.step[1][2] = again, c.step[1][1] = 1 - again;
    c.step[2][1] = pause, c.step[2][0] = leave, c.step[2][2] = 1 - pause - leave;
    c.step[3][0] = 1;
    c.lose[0] = alone + enter;
    c.lose[1] = again;
    c.lose[2] = 1 - pause - leave;
    return long_run_loss(&c);
}

/* The good state and the bad one; the loss is tested in the state before the step. */
static double gemodel_loss(const struct net_loss *loss)
{
    struct chain c = {.lose = {0}};
    double enter = loss->p.scaled / WHOLE, leave = loss->r.scaled / WHOLE;

    c.step[0][1] = enter, c.step[0][0] = 1 - enter;
    c.step[1][0] = leave, c.step[1][1] = 1 - leave;
    c.step[2][2] = c.step[3][3] = 1;
    c.lose[0] = loss->k.scaled / WHOLE;
    c.lose[1] = (double)(UINT32_MAX - loss->h.scaled) / WHOLE;
    return long_run_loss(&c);
}

double net_loss_effective(const struct net_loss *loss, double *asked)
{
    double share = 0;

    if (loss->model == LOSS_RANDOM)
        share = random_loss(loss);
    else if (loss->model == LOSS_STATE)
        share = state_loss(loss);
    else if (loss->model == LOSS_GEMODEL)
        share = gemodel_loss(loss);
    if (asked)
        *asked = loss->model == LOSS_RANDOM ? (double)loss->random.scaled / UINT32_MAX : share;
    return share;
}
