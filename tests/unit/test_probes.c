#include "check.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "model/probes.h"

static struct arena arena;

static int end(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static int read_text(const char *text, struct probes *p, struct err *err)
{
    struct json *tree = json_parse(text, strlen(text), "probes.json", err);

    if (!tree)
        fail_msg("%s", err->msg);
    int rc = probes_decode(p, tree, "probes.json", &arena, err);
    json_free(tree);
    return rc;
}

static struct net_probe fit(void)
{
    return (struct net_probe){.profile = "p/one",
                              .backend = "user",
                              .sent = 200,
                              .received = 199,
                              .rtt_min_s = 0.04,
                              .rtt_p50_s = 0.0401,
                              .rtt_p99_s = 0.0425,
                              .expected_rtt_s = 0.04,
                              .loss = 0.005,
                              .expected_loss = 0.002,
                              .capacity_packets_s = 250000,
                              .offered_packets_s = 4711,
                              .agrees = true};
}

static void what_is_written_reads_back(void **state)
{
    struct net_probe items[] = {fit(), fit(), fit()};
    struct probes p = {items, 3}, back;
    struct buf text = BUF_INIT, again = BUF_INIT;
    struct err err;

    (void)state;
    items[1].profile = "p/two";
    items[1].agrees = false;
    items[1].received = 0;
    items[1].rtt_min_s = items[1].rtt_p50_s = items[1].rtt_p99_s = NAN;
    items[1].reason = "no datagram came back";
    items[2].backend = "kernel";
    items[2].capacity_packets_s = items[2].offered_packets_s = 0;
    probes_encode(&p, &text);
    assert_int_equal(read_text(text.data, &back, &err), 0);
    probes_encode(&back, &again);
    assert_string_equal(text.data, again.data);
    assert_int_equal(back.count, 3);
    assert_true(isnan(back.items[1].rtt_p50_s));
    assert_null(probes_unfit(&back, "p/one"));
    assert_string_equal(probes_unfit(&back, "p/two"), "no datagram came back");
    assert_null(probes_unfit(&back, "p/three"));
    assert_null(probes_unfit(NULL, "p/one"));
    buf_release(&text);
    buf_release(&again);
}

/* Replaces the first `from` of a good document by `to`. */
static void refuses(const char *from, const char *to, const char *says)
{
    struct net_probe item = fit();
    struct probes p = {&item, 1}, back;
    struct buf text = BUF_INIT, bad = BUF_INIT;
    struct err err;
    char *at;

    probes_encode(&p, &text);
    at = strstr(text.data, from);
    assert_non_null(at);
    buf_add(&bad, text.data, (size_t)(at - text.data));
    buf_addstr(&bad, to);
    buf_addstr(&bad, at + strlen(from));
    assert_int_equal(read_text(bad.data, &back, &err), -1);
    if (!strstr(err.msg, says))
        fail_msg("'%s' does not say '%s'", err.msg, says);
    buf_release(&text);
    buf_release(&bad);
}

static void what_is_not_a_probe_is_refused(void **state)
{
    (void)state;
    refuses("\"abba\": 1", "\"abba\": 2", "abba");
    refuses("\"profile\"", "\"profil\"", "profil");
    refuses("\"user\"", "\"users\"", "backend");
    refuses("\"sent\": 200", "\"sent\": -1", "sent");
    refuses("\"rtt_min\": 0.04", "\"rtt_min\": -0.04", "rtt_min");
    refuses("\"loss\": 0.005", "\"loss\": 1.5", "loss");
    refuses("\"expected_rtt\": 0.04", "\"expected_rtt\": null", "expected_rtt");
    refuses("250000", "0", "capacity");
    refuses("true", "1", "agrees");
    refuses("\"reason\": null", "\"reason\": 5", "reason");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(what_is_not_a_probe_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, end);
}
