/*
 * flow: reliable transfer of messages over UDP, a workload of two roles whose way of moving
 * datagrams can be chosen. This file prints and exits; nothing else does.
 */
#include "checksum.h"
#include "options.h"
#include "receiver.h"
#include "sender.h"
#include "../common/timing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_INTACT = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static int complain(const struct err *e, int status)
{
    fprintf(stderr, "flow: %s\n", e->msg);
    return status;
}

/* Flushes what was printed; a full disk or a closed pipe must not pass for success. */
static int flushed(int status)
{
    struct err e;

    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    err_sys(&e, "cannot write the result");
    return complain(&e, EXIT_FAILED);
}

static void print_ready(uint16_t port)
{
    printf("ready port=%u\n", port);
    fflush(stdout);
}

static void print_received(const struct options *o, const struct receiver_result *r)
{
    double seconds = (double)r->delivery_ns / NS_PER_S;

    printf("io=%s\n", io_mode_name(o->io));
    printf("window_datagrams=%" PRIu32 "\n", r->slots);
    printf("flight_datagrams=%" PRIu32 "\n", r->flight);
    printf("receive_buffer=%" PRIu64 "\n", r->granted);
    printf("message_size=%" PRIu64 "\n", r->message_size);
    printf("delivered_bytes=%" PRIu64 "\n", r->bytes);
    printf("delivered_messages=%" PRIu64 "\n", r->messages);
    printf("delivery_time=%.9f\n", seconds);
    if (r->delivery_ns > 0)
        printf("messages_per_second=%.3f\n", (double)r->messages / seconds);
    printf("duplicates=%" PRIu64 "\n", r->duplicates);
    printf("out_of_order=%" PRIu64 "\n", r->out_of_order);
    printf("damaged=%" PRIu64 "\n", r->damaged);
    printf("udp_drops=%" PRIu32 "\n", r->drops);
    if (r->errors.known) {
        printf("udp_in_errors=%" PRIu64 "\n", r->errors.in_errors);
        printf("udp_rcvbuf_errors=%" PRIu64 "\n", r->errors.rcvbuf_errors);
    }
    printf("receive_calls=%" PRIu64 "\n", r->receive_calls);
    printf("send_calls=%" PRIu64 "\n", r->send_calls);
    if (r->corrupt)
        printf("corrupt_datagrams=%" PRIu64 "\n", r->corrupt);
}

static int receive(int argc, char **argv)
{
    struct receiver_result r;
    struct options o;
    struct err e;
    int rc = options_receive(&o, argc, argv, &e);

    if (rc < 0)
        return complain(&e, EXIT_USAGE);
    if (rc > 0) {
        options_help(stdout);
        return flushed(EXIT_INTACT);
    }
    rc = receiver_run(&o, print_ready, &r, &e);
    if (r.slots) {
        print_received(&o, &r);
        puts(r.corrupt ? "payload=corrupt" : rc ? "payload=incomplete" : "payload=intact");
    }
    if (rc)
        complain(&e, EXIT_FAILED);
    return flushed(rc || r.corrupt ? EXIT_FAILED : EXIT_INTACT);
}

static void print_sent(const struct options *o, const struct sender_result *r)
{
    printf("io=%s\n", io_mode_name(o->io));
    printf("pacer=%s\n", o->rate_bps ? "tick-1ms-sleep" : "none");
    if (o->rate_bps)
        printf("offered_rate=%" PRIu64 "\n", o->rate_bps);
    printf("window_datagrams=%" PRIu32 "\n", r->slots);
    printf("flight_datagrams=%" PRIu32 "\n", r->flight);
    printf("sent_messages=%" PRIu64 "\n", r->messages);
    printf("sent_bytes=%" PRIu64 "\n", r->bytes);
    printf("sent_datagrams=%" PRIu64 "\n", r->datagrams);
    printf("retransmissions=%" PRIu64 "\n", r->retransmissions);
    printf("timeouts=%" PRIu64 "\n", r->timeouts);
    printf("probes=%" PRIu64 "\n", r->probes);
    printf("receive_calls=%" PRIu64 "\n", r->receive_calls);
    printf("send_calls=%" PRIu64 "\n", r->send_calls);
    if (r->rtt.total) {
        printf("rtt_samples=%" PRIu64 "\n", r->rtt.total);
        printf("rtt_p50_us=%.3f\n", histogram_quantile(&r->rtt, 0.5) / 1e3);
        printf("rtt_p99_us=%.3f\n", histogram_quantile(&r->rtt, 0.99) / 1e3);
    }
}

static int send_messages(int argc, char **argv)
{
    static struct sender_result r;
    struct options o;
    struct err e;
    int rc = options_send(&o, argc, argv, &e);

    if (rc < 0)
        return complain(&e, EXIT_USAGE);
    if (rc > 0) {
        options_help(stdout);
        return flushed(EXIT_INTACT);
    }
    rc = sender_run(&o, &r, &e);
    if (r.slots)
        print_sent(&o, &r);
    if (rc == 0 && !r.intact)
        rc = err_set(&e, "the receiver says that the payload is corrupt");
    if (rc)
        complain(&e, EXIT_FAILED);
    return flushed(rc ? EXIT_FAILED : EXIT_INTACT);
}

int main(int argc, char **argv)
{
    struct err e;

    crc32c_init();
    if (argc > 1 && strcmp(argv[1], "receive") == 0)
        return receive(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "send") == 0)
        return send_messages(argc - 1, argv + 1);
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        options_help(stdout);
        return flushed(EXIT_INTACT);
    }
    if (argc > 1)
        err_set(&e, "unknown sub-command '%s': receive or send, see 'flow --help'", argv[1]);
    else
        err_set(&e, "no sub-command: receive or send, see 'flow --help'");
    return complain(&e, EXIT_USAGE);
}
