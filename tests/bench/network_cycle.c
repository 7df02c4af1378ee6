/*
 * network_cycle [CYCLES]: set-up and end of private networks, one after the other without a pause,
 * as a series has them: milliseconds, smallest, median and largest, and the share of the bound of
 * 60 ms a run. The end of one (the kernel lets go of packet sockets) and the set-up of the next
 * overlap; both are over before a run would begin.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/network.h"

#define BOUND_MS 60.0
#define MOST 1000

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* A network's set-up with the end of the one before, and the proof of this; ms, or -1. */
static double cycle(const struct net_request *request, struct net **leaving)
{
    struct arena arena = ARENA_INIT;
    int64_t begun_ns = clock_mono_ns();
    struct net_proof proof;
    struct net *net;
    struct err err;
    int status = network_up(&net, request, &err);

    network_kill(*leaving);
    *leaving = net;
    if (status < 0 || network_prove(net, &proof, &arena, &err) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        return -1;
    }
    arena_release(&arena);
    return (double)(clock_mono_ns() - begun_ns) / 1e6;
}

static int show(const char *name, const struct network *network, long cycles)
{
    static const char *const roles[] = {"receiver", "sender"};
    const struct net_request request = {
        .network = network, .roles = roles, .role_count = 2, .user_ns = -1};
    static double ms[MOST + 1];
    struct net *leaving = NULL;

    for (long i = 0; i <= cycles; i++) /* the first has none before it */
        if ((ms[i ? i - 1 : 0] = cycle(&request, &leaving)) < 0)
            return -1;
    network_kill(leaving);
    qsort(ms, (size_t)cycles, sizeof(ms[0]), by_size);
    printf("%-26s smallest %6.2f  median %6.2f  largest %6.2f ms  %5.2f of the bound\n", name,
           ms[0], ms[cycles / 2], ms[cycles - 1], ms[cycles / 2] / BOUND_MS);
    return 0;
}

int main(int argc, char **argv)
{
    long cycles = argc > 1 ? strtol(argv[1], NULL, 10) : 40;
    struct network network = {.topology = NET_LOOPBACK, .bound = {.lateness_p99_ns = NSEC_PER_SEC}};
    int status = 0;

    if (cycles < 1 || cycles > MOST)
        return 2;
    status |= show("loopback, nothing asked", &network, cycles);
    network.has_impair = true;
    network.impair.delay_ns = NSEC_PER_MSEC;
    status |= show("loopback, impaired (auto)", &network, cycles);
    network.backend = NET_BACKEND_USER;
    status |= show("loopback, impaired (user)", &network, cycles);
    network.topology = NET_PAIR;
    status |= show("pair, impaired (user)", &network, cycles);
    return status ? 1 : 0;
}
