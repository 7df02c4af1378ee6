/* rtnetlink: what is set on a device of a namespace of our own is what is read of it. */
#include "check.h"

#include <linux/pkt_sched.h>
#include <stdlib.h>
#include <string.h>

#include "net/namespace.h"
#include "net/rtnl.h"
#include "sandbox.h"

#define LIMIT 77

static const char *read_a_discipline(void *unused)
{
    struct tc_fifo_qopt fifo = {.limit = LIMIT};
    struct rtnl_qdisc q = {.options = malloc(RTNL_OPTIONS_MAX)};
    struct rtnl *r;
    struct err err;
    int fd;

    (void)unused;
    if (namespace_permit(-1, &err) < 0 || namespace_new(&fd, &err) < 0 || rtnl_open(&r, &err) < 0 ||
        rtnl_veth(r, "a", "b", -1, &err) < 0 ||
        rtnl_qdisc_add(r, "a", "pfifo", &fifo, sizeof(fifo), &err) < 0 ||
        rtnl_qdisc_get(r, "a", &q, &err) < 0)
        return sandbox_say("%s", err.msg);
    if (strcmp(q.kind, "pfifo") != 0)
        return sandbox_say("the kind read is '%s'", q.kind);
    memset(&fifo, 0, sizeof(fifo));
    memcpy(&fifo, q.options, q.options_len < sizeof(fifo) ? q.options_len : sizeof(fifo));
    if (fifo.limit != LIMIT)
        return sandbox_say("the limit read is %u", fifo.limit);
    return q.has_basic && q.has_queue ? NULL : sandbox_say("no statistics");
}

static void a_discipline_that_was_set_is_read_back_with_its_statistics(void **state)
{
    (void)state;
    if (!sandbox_can(0))
        skip();
    sandbox_run(0, read_a_discipline, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_discipline_that_was_set_is_read_back_with_its_statistics),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
