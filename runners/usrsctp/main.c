/*
 * usrsctp: messages over SCTP associations as WebRTC data channels use them, without DTLS. Both
 * peers are in this process. This file prints and exits; nothing else does.
 */
#include "../common/err.h"
#include "../common/timing.h"
#include "meter.h"
#include "options.h"
#include "shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_INTACT = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static int complain(const struct err *e, int status)
{
    fprintf(stderr, "usrsctp: %s\n", e->msg);
    return status;
}

/* ---- results ---- */

static void print_ready(void *user)
{
    (void)user;
    puts("ready");
    fflush(stdout);
}

static void print_lowered(void *user, uint64_t to, uint64_t from, double projected_s)
{
    (void)user;
    printf("NOTE count lowered to %" PRIu64 ": %.1f s projected for %" PRIu64 "\n", to, projected_s,
           from);
}

static void print_result(void *user, const struct result *r)
{
    struct result *last = user;
    const double messages = (double)r->messages;

    printf("result repeat=%" PRIu64 " messages=%" PRIu64 " sent=%" PRIu64 " lost=%" PRIu64
           " bytes=%" PRIu64 " seconds=%.6f messages_per_second=%.1f cpu_seconds=%.6f"
           " effective_cores=%.6f cpu_us_per_message=%.3f\n",
           r->repeat, r->messages, r->sent, r->lost, r->bytes, r->seconds,
           r->seconds > 0 ? messages / r->seconds : 0, r->cpu_seconds,
           r->seconds > 0 ? r->cpu_seconds / r->seconds : 0,
           r->messages ? r->cpu_seconds * 1e6 / messages : 0);
    fflush(stdout);
    *last = *r;
}

static void print_final(const struct options *o, const struct result *last)
{
    printf("FINAL %.3f Mbit/s aggregate over %" PRIu64 " pairs (ordered=%s) in %.3fs\n",
           (double)last->bytes * 8 / 1e6 / last->seconds, o->pairs,
           o->delivery == ORDERED ? "true" : "false", last->seconds);
}

static int run(const struct options *o)
{
    struct result last = {0};
    const struct shape_user user = {&last, print_ready, print_lowered, print_result};
    struct meter total;
    bool intact = false;
    struct err e;
    int rc;

    puts("stack=usrsctp " USRSCTP_VERSION);
    printf("delivery=%s\npacing=%s\ncrc32c=%s\n", delivery_name(o->delivery),
           pacing_name(o->pacing), o->no_crc32c ? "off" : "on");
    rc = o->flow ? shape_flow(o, &user, &intact, &e) : shape_message(o, &user, &intact, &e);
    if (rc == 0 && o->flow && last.seconds > 0)
        print_final(o, &last);
    total = meter_now();
    printf("total wall=%.6f cpu=%.6f\n", (double)total.wall_ns / NS_PER_S,
           (double)total.cpu_ns / NS_PER_S);
    puts(intact ? "payload=intact" : "payload=damaged");
    if (rc < 0)
        return complain(&e, EXIT_FAILED);
    return intact ? EXIT_INTACT : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    struct options o;
    struct err e;
    int rc, status;

    meter_birth();
    if (argc < 2)
        rc = err_set(&e, "no shape: message or flow, see 'usrsctp --help'");
    else if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        rc = 1;
    else
        rc = options_parse(&o, argc - 1, argv + 1, &e);
    if (rc < 0)
        return complain(&e, EXIT_USAGE);
    if (rc > 0)
        options_help(stdout);
    status = rc > 0 ? EXIT_INTACT : run(&o);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        err_sys(&e, "cannot write the result");
        return complain(&e, EXIT_FAILED);
    }
    return status;
}
