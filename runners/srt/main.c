/*
 * srt: live streams over whatever libsrt it is told to load, each payload checked. This file
 * prints and exits; nothing else does.
 */
#include "../common/timing.h"
#include "cost.h"
#include "datagrams.h"
#include "library.h"
#include "options.h"
#include "receiver.h"
#include "relay.h"
#include "sender.h"
#include "session.h"
#include "settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_INTACT = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_UNSUPPORTED = 3 };

static int complain(const struct err *e, int status)
{
    fflush(stdout);
    fprintf(stderr, "srt: %s\n", e->msg);
    return status;
}

/* ---- what is printed ---- */

static void print_library(const struct library *lib)
{
    printf("library=%s\nlibrary_version=%s\n", lib->path, lib->version);
}

static void print_stats(const char *prefix, const struct stats *s)
{
    const struct {
        const char *name;
        int64_t value;
    } rows[] = {
        {"packets_sent", s->sent},
        {"packets_received", s->received},
        {"packets_retransmitted", s->retransmitted},
        {"packets_reported_lost", s->send_lost},
        {"packets_found_lost", s->receive_lost},
        {"packets_dropped_unsent", s->send_dropped},
        {"packets_dropped_late", s->receive_dropped},
        {"packets_belated", s->belated},
        {"packets_undecrypted", s->undecrypted},
        {"naks_sent", s->naks_sent},
        {"naks_received", s->naks_received},
        {"filter_packets_extra", s->filter_extra},
        {"filter_packets_rebuilt", s->filter_rebuilt},
        {"filter_packets_lost", s->filter_lost},
    };

    printf("%sstatistics_of=%u\n", prefix, s->links);
    if (s->links == 0)
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        printf("%s%s=%" PRId64 "\n", prefix, rows[i].name, rows[i].value);
    printf("%srtt_ms=%.3f\n", prefix, s->rtt_ms / s->links);
}

static void print_received(const struct options *o, const struct receiver_result *r)
{
    double seconds = (double)r->delivery_ns / NS_PER_S;

    printf("delivered_bytes=%" PRIu64 "\n", r->bytes);
    printf("delivered_messages=%" PRIu64 "\n", r->payloads);
    printf("delivery_time=%.9f\n", seconds);
    printf("streams_ended=%u\n", r->ended);
    printf("missing=%" PRIu64 "\n", r->missing);
    printf("duplicates=%" PRIu64 "\n", r->duplicates);
    printf("out_of_order=%" PRIu64 "\n", r->out_of_order);
    printf("corrupt=%" PRIu64 "\n", r->corrupt);
    printf("late=%" PRIu64 "\n", r->late);
    if (r->payloads)
        printf("transit_ms=%.3f\n", (double)r->transit_ns / 1e6 / (double)r->payloads);
    print_stats("", &r->stats);
    printf("verified=%s\n", o->verify ? "yes" : "no");
    if (o->keep_bps)
        printf("rate=%s\n", (double)r->bytes * 8 >= (double)o->keep_bps * seconds && r->bytes
                                ? "kept"
                                : "missed");
}

/* Half of what was asked: what follows from a sender that is too busy to read is no missing flood.
 */
static const char *flood_verdict(const struct options *o, const struct sender_result *r)
{
    double asked = (double)o->naks * (double)r->watched_ns / NS_PER_S;

    return (double)r->watched.naks_received * 2 >= asked ? "processed" : "missing";
}

static void print_sent(const struct options *o, const struct sender_result *r)
{
    printf("pacer=tick-1ms-sleep\n");
    printf("offered_rate=%" PRIu64 "\n", o->rate_bps);
    printf("offered_time=%.9f\n", (double)r->offered_ns / NS_PER_S);
    printf("sent_messages=%" PRIu64 "\n", r->payloads);
    printf("sent_bytes=%" PRIu64 "\n", r->bytes);
    printf("ticks=%" PRIu64 "\n", r->ticks);
    printf("ticks_with_full_streams=%" PRIu64 "\n", r->full_ticks);
    print_stats("", &r->stats);
    if (o->may_fail == NO_STREAM)
        return;
    print_stats("watched_", &r->watched);
    printf("watched_stream=%s\n", r->watched_lost ? "lost" : "survived");
    printf("flood=%s\n", flood_verdict(o, r));
}

/* ---- sub-commands ---- */

static int both_sides(const struct options *o, struct err *e)
{
    if (!o->listen == !o->call)
        return err_set(e, "one of --listen and --call is needed");
    return 0;
}

/* Library and connections; prints what abba waits for. */
static int open_session(struct session *s, struct library *lib, const struct options *o,
                        struct err *e)
{
    int rc;

    if (library_open(lib, o->library, e))
        return -1;
    print_library(lib);
    rc = session_open(s, lib, o, e);
    if (rc)
        return rc;
    if (o->listen)
        printf("ready port=%u\n", s->port);
    fflush(stdout);
    return session_connect(s, e);
}

/* Prints what came and judges it: `rc` is how the receiving ended. */
static int print_arrived(const struct options *o, const struct receiver_result *r, int rc,
                         struct err *e)
{
    bool spared = rc == 0 && r->ended < o->streams; /* only a stream that may fail was lost */

    print_received(o, r);
    if (rc == 0 && !spared && r->corrupt)
        rc = err_set(e, "%" PRIu64 " payloads are corrupt", r->corrupt);
    else if (rc == 0 && !spared && !receiver_intact(o, r))
        rc = err_set(e, "not everything arrived: %" PRIu64 " missing, %" PRIu64 " twice",
                     r->missing, r->duplicates);
    puts(r->corrupt              ? "payload=corrupt"
         : receiver_intact(o, r) ? "payload=intact"
                                 : "payload=incomplete");
    return rc;
}

static int receive(const struct options *o, struct session *s, struct err *e)
{
    struct receiver_result r;
    int rc = receiver_run(s, &r, e);

    return print_arrived(o, &r, rc, e);
}

static int send_all(const struct options *o, struct session *s, struct err *e)
{
    struct sender_result r;
    int rc = sender_run(s, &r, e);

    print_sent(o, &r);
    return rc;
}

static int role(const struct options *o,
                int (*run)(const struct options *, struct session *, struct err *))
{
    static struct library lib;
    static struct session s;
    struct err e;
    int rc;

    if (both_sides(o, &e))
        return complain(&e, EXIT_USAGE);
    rc = open_session(&s, &lib, o, &e);
    if (rc == 0)
        rc = run(o, &s, &e);
    session_close(&s);
    if (rc)
        return complain(&e, rc > 0 ? EXIT_UNSUPPORTED : EXIT_FAILED);
    return EXIT_INTACT;
}

/* Whether the library takes the options, without any connection. */
static int check(const struct options *o)
{
    static struct library lib;
    struct err e;
    SRTSOCKET socket;
    int rc;

    if (library_open(&lib, o->library, &e))
        return complain(&e, EXIT_FAILED);
    print_library(&lib);
    socket = lib.create_socket();
    rc = socket == SRT_INVALID_SOCK ? library_error(&lib, &e, "cannot make an SRT socket")
                                    : settings_apply(&lib, socket, o, &e);
    if (rc <= 0)
        return rc ? complain(&e, EXIT_FAILED) : EXIT_INTACT;
    printf("unsupported: %s\n", e.msg);
    return EXIT_UNSUPPORTED;
}

static int cost(const struct options *o)
{
    struct cost c;

    cost_measure(o, &c);
    printf("pacer=tick-1ms-sleep\n");
    printf("ticks=%" PRIu64 "\n", c.ticks);
    printf("pacing_time=%.6f\n", c.pacing_s);
    printf("pacing_cpu_time=%.6f\n", c.pacing_cpu_s);
    printf("bare_sleeps_cpu_time=%.6f\n", c.bare_cpu_s);
    printf("make_ns=%.1f\n", c.make_ns);
    printf("check_ns=%.1f\n", c.check_ns);
    return EXIT_INTACT;
}

static int relay(const struct options *o)
{
    struct relay_result r;
    struct err e;

    if (!o->listen || !o->call) {
        err_set(&e, "a relay needs --listen and --call");
        return complain(&e, EXIT_USAGE);
    }
    if (relay_run(o, &r, &e))
        return complain(&e, EXIT_FAILED);
    printf("forwarded=%" PRIu64 "\n", r.forwarded);
    printf("naks_offered=%" PRIu64 "\n", r.naks);
    printf("naks_time=%.6f\n", (double)r.flood_ns / NS_PER_S);
    printf("flood=%s\n", r.short_of ? "short" : "offered");
    return EXIT_INTACT;
}

static int feed(const struct options *o)
{
    struct sender_result r;
    struct err e;

    if (!o->call) {
        err_set(&e, "--call is needed");
        return complain(&e, EXIT_USAGE);
    }
    if (feed_run(o, &r, &e))
        return complain(&e, EXIT_FAILED);
    print_sent(o, &r);
    return EXIT_INTACT;
}

static int sink(const struct options *o)
{
    struct receiver_result r;
    struct err e;
    int rc;

    if (!o->listen) {
        err_set(&e, "--listen is needed");
        return complain(&e, EXIT_USAGE);
    }
    rc = sink_run(o, &r, &e);
    return print_arrived(o, &r, rc, &e) ? complain(&e, EXIT_FAILED) : EXIT_INTACT;
}

static int dispatch(const char *name, const struct options *o)
{
    struct err e;

    if (strcmp(name, "receive") == 0)
        return role(o, receive);
    if (strcmp(name, "send") == 0)
        return role(o, send_all);
    if (strcmp(name, "check") == 0)
        return check(o);
    if (strcmp(name, "cost") == 0)
        return cost(o);
    if (strcmp(name, "relay") == 0)
        return relay(o);
    if (strcmp(name, "feed") == 0)
        return feed(o);
    if (strcmp(name, "sink") == 0)
        return sink(o);
    err_set(&e, "unknown sub-command '%s', see 'srt --help'", name);
    return complain(&e, EXIT_USAGE);
}

static int run(int argc, char **argv)
{
    struct options o;
    struct err e;
    int rc;

    if (argc < 2) {
        err_set(
            &e,
            "no sub-command: receive, send, relay, check, cost, feed or sink; see 'srt --help'");
        return complain(&e, EXIT_USAGE);
    }
    rc = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0
             ? 1
             : options_parse(&o, argc - 1, argv + 1, &e);
    if (rc > 0)
        options_help(stdout);
    return rc > 0 ? EXIT_INTACT : rc < 0 ? complain(&e, EXIT_USAGE) : dispatch(argv[1], &o);
}

/*
 * Ends without libsrt's clean-up: it waits up to seconds for its own threads, and all sockets are
 * closed by then. A result that cannot be written is no success.
 */
int main(int argc, char **argv)
{
    int status = run(argc, argv);

    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "srt: cannot write the result\n");
        status = EXIT_FAILED;
    }
    _exit(status);
}
