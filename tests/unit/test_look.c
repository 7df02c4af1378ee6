/* net/look: what a machine lacks is named, once and clearly; such machines are played back. */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/networks.h"
#include "net/look.h"

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* ---- a kernel that has everything, and ones that lack one thing ---- */

static int can_permit(int user_ns, struct err *err)
{
    (void)user_ns;
    (void)err;
    return 0;
}

static int can_make(int *fd, struct err *err)
{
    (void)err;
    *fd = -1;
    return 0;
}

static int can_open(struct rtnl **r, struct err *err)
{
    (void)err;
    *r = NULL;
    return 0;
}

static int can_veth(struct rtnl *r, struct err *err)
{
    (void)r;
    (void)err;
    return 0;
}

static int can_redirect(struct rtnl *r, const char *to, struct err *err)
{
    (void)r;
    (void)err;
    return strcmp(to, "a0") == 0 ? 0 : -1;
}

static int can_packets(struct err *err)
{
    (void)err;
    return 0;
}

static bool can_netem(struct rtnl *r)
{
    (void)r;
    return true;
}

static const struct look_kernel whole = {can_permit,   can_make,    can_open, can_veth,
                                         can_redirect, can_packets, can_netem};

/* rtnetlink's answer where the module veth is missing, and where CAP_NET_ADMIN is. */
static int no_veth(struct rtnl *r, struct err *err)
{
    (void)r;
    return err_sys(err, ERR_SYSTEM, EOPNOTSUPP,
                   "making of device 'a0' refused: Unknown device type");
}

static int no_admin(struct rtnl *r, struct err *err)
{
    (void)r;
    return err_sys(err, ERR_SYSTEM, EPERM, "making of device 'a0' refused");
}

static int no_redirect(struct rtnl *r, const char *to, struct err *err)
{
    (void)r;
    (void)to;
    return err_sys(err, ERR_SYSTEM, ENOENT,
                   "a redirecting filter (u32, mirred) of device 'lo' refused");
}

static int no_packets(struct err *err)
{
    return err_sys(err, ERR_CONFIG, EPERM, "no AF_PACKET socket");
}

static bool no_netem(struct rtnl *r)
{
    (void)r;
    return false;
}

static int no_namespace(int *fd, struct err *err)
{
    (void)fd;
    return err_sys(err, ERR_SYSTEM, EINVAL, "no network namespace");
}

/* Why such a machine cannot have a network that delays, or NULL. */
static const char *why_not(const struct look_kernel *kernel, enum net_backend backend,
                           struct networks *n)
{
    const struct network delayed = {.topology = NET_LOOPBACK,
                                    .backend = backend,
                                    .has_impair = true,
                                    .impair = {.delay_ns = 1000000}};

    *n = (struct networks){.looked = true};
    look_at(&n->ability, kernel, -1, &arena);
    return networks_why_not(n, &delayed);
}

static void a_machine_that_has_everything_has_every_network(void **state)
{
    struct networks n;

    (void)state;
    assert_null(why_not(&whole, NET_BACKEND_AUTO, &n));
    assert_null(why_not(&whole, NET_BACKEND_USER, &n));
    assert_null(why_not(&whole, NET_BACKEND_KERNEL, &n));
    assert_null(n.ability.reason);
}

static void a_kernel_without_veth_has_no_network_and_the_module_is_named(void **state)
{
    struct look_kernel kernel = whole;
    struct networks n;

    (void)state;
    kernel.veth = no_veth;
    for (int b = NET_BACKEND_AUTO; b <= NET_BACKEND_USER; b++)
        assert_string_equal(why_not(&kernel, (enum net_backend)b, &n),
                            "making of device 'a0' refused: Unknown device type: Operation not "
                            "supported (the kernel needs the module veth)");
    assert_string_equal(n.ability.hint, "load the module veth");
    assert_false(n.ability.namespaces || n.ability.user || n.ability.kernel);
}

static void a_right_that_is_missing_is_told_from_a_module(void **state)
{
    struct look_kernel kernel = whole;
    struct networks n;

    (void)state;
    kernel.veth = no_admin;
    assert_non_null(strstr(why_not(&kernel, NET_BACKEND_AUTO, &n), "CAP_NET_ADMIN"));
    kernel = whole;
    kernel.packets = no_packets;
    assert_non_null(strstr(why_not(&kernel, NET_BACKEND_USER, &n), "CAP_NET_RAW"));
    assert_null(why_not(&kernel, NET_BACKEND_AUTO, &n)); /* the kernel's needs no such right */
}

static void a_back_end_that_is_missing_is_named_where_it_is_wanted(void **state)
{
    struct look_kernel kernel = whole;
    struct networks n;

    (void)state;
    kernel.netem = no_netem;
    assert_string_equal(why_not(&kernel, NET_BACKEND_KERNEL, &n), "the kernel has no sch_netem");
    assert_null(why_not(&kernel, NET_BACKEND_AUTO, &n));
    kernel.redirect = no_redirect;
    assert_non_null(strstr(why_not(&kernel, NET_BACKEND_AUTO, &n), "u32, mirred"));
    kernel = whole;
    kernel.namespace_new = no_namespace;
    assert_non_null(why_not(&kernel, NET_BACKEND_AUTO, &n));
    assert_non_null(n.ability.hint);
}

/* ---- tables ---- */

static char folder[] = "/tmp/abba-look-XXXXXX";
static char path[sizeof(folder) + 16];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || setenv("TC_LIB_DIR", folder, 1) < 0)
        return -1;
    snprintf(path, sizeof(path), "%s/own.dist", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    unsetenv("TC_LIB_DIR");
    return rmdir(folder);
}

static void write_table(const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void refused(const struct network *network, const char *says)
{
    struct err err = {0};

    assert_int_equal(net_find_tables(network, &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    if (!strstr(err.msg, says))
        fail_msg("'%s' does not say '%s'", err.msg, says);
}

static void tables_are_looked_for_wherever_a_network_names_one(void **state)
{
    static const char *const faults[][2] = {{"1 2\nx 3\n", "line 2: not a number"},
                                            {"1 40000\n", "out of"},
                                            {"# none\n", "no numbers"}};
    const struct net_impair delay = {.delay_ns = 2, .jitter_ns = 1, .distribution = "own"};
    const struct net_impair slot = {.slot = {.distribution = "own"}};
    struct net_link links[2] = {{.from = "a", .to = "b"}, {.from = "b", .to = "a", .impair = slot}};
    const struct network all[] = {{.has_impair = true, .impair = delay},
                                  {.has_impair = true, .impair = slot},
                                  {.links = links, .link_count = 2}};
    const struct network none = {.has_impair = true};
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        unlink(path);
        refused(&all[i], "there is no own.dist");
        for (size_t k = 0; k < sizeof(faults) / sizeof(faults[0]); k++) {
            write_table(faults[k][0]);
            refused(&all[i], faults[k][1]);
        }
        write_table("-8192 0 8192\n");
        assert_int_equal(net_find_tables(&all[i], &err), 0);
    }
    assert_int_equal(net_find_tables(&none, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machine_that_has_everything_has_every_network),
        cmocka_unit_test(a_kernel_without_veth_has_no_network_and_the_module_is_named),
        cmocka_unit_test(a_right_that_is_missing_is_told_from_a_module),
        cmocka_unit_test(a_back_end_that_is_missing_is_named_where_it_is_wanted),
        cmocka_unit_test_setup_teardown(tables_are_looked_for_wherever_a_network_names_one,
                                        make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, release);
}
