#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "net/capacity_memory.h"

static char folder[] = "/tmp/abba-capacity-XXXXXX";

static int begin(void **state)
{
    (void)state;
    return mkdtemp(folder) && setenv("XDG_CACHE_HOME", folder, 1) == 0 ? 0 : -1;
}

static int end(void **state)
{
    struct err ignored;

    (void)state;
    return files_remove_tree(folder, &ignored);
}

static struct network delayed(int64_t ns)
{
    return (struct network){
        .topology = NET_LOOPBACK, .has_impair = true, .impair = {.delay_ns = ns}};
}

static void a_figure_is_that_of_its_network(void **state)
{
    struct network one = delayed(NSEC_PER_MSEC), other = delayed(2 * NSEC_PER_MSEC);
    uint64_t packets_s = 0;

    (void)state;
    assert_false(capacity_recall(&one, &packets_s));
    capacity_remember(&one, 234567);
    assert_true(capacity_recall(&one, &packets_s));
    assert_int_equal(packets_s, 234567);
    assert_false(capacity_recall(&other, &packets_s));
    capacity_remember(&one, 345678);
    assert_true(capacity_recall(&one, &packets_s));
    assert_int_equal(packets_s, 345678);
}

static void figures_of_earlier_boots_go(void **state)
{
    struct network one = delayed(NSEC_PER_MSEC);
    char old[120];
    struct err err;

    (void)state;
    capacity_remember(&one, 1);
    snprintf(old, sizeof(old), "%s/abba/capacity/zzzzzzzz-0", folder);
    assert_int_equal(files_write_atomic(old, "5\n", 2, &err), 0);
    capacity_remember(&one, 2);
    assert_false(files_exists(old));
}

/* The one file that is there. */
static void spoil(const char *text, size_t len)
{
    char command[200];
    FILE *f;

    snprintf(command, sizeof(command), "ls -d %s/abba/capacity/*", folder);
    f = popen(command, "r");
    assert_non_null(f);
    assert_non_null(fgets(command, sizeof(command), f));
    pclose(f);
    command[strcspn(command, "\n")] = '\0';
    f = fopen(command, "w");
    assert_non_null(f);
    fwrite(text, 1, len, f);
    fclose(f);
}

static void what_is_no_figure_is_not_known(void **state)
{
    static const char *const bad[] = {
        "",   "\n",           "0 packets/s\n", "-5 packets/s\n",
        "12", "12 packets\n", " packets/s\n",  "99999999999999999999999 packets/s\n"};
    struct network one = delayed(NSEC_PER_MSEC);
    uint64_t packets_s;

    (void)state;
    capacity_remember(&one, 7);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        spoil(bad[i], strlen(bad[i]));
        if (capacity_recall(&one, &packets_s))
            fail_msg("'%s' is taken for a figure", bad[i]);
    }
}

static void without_a_folder_nothing_is_remembered(void **state)
{
    struct network one = delayed(NSEC_PER_MSEC);
    uint64_t packets_s;

    (void)state;
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
    capacity_remember(&one, 7);
    assert_false(capacity_recall(&one, &packets_s));
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    capacity_remember(&one, 7);
    assert_false(capacity_recall(&one, &packets_s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_figure_is_that_of_its_network),
        cmocka_unit_test(figures_of_earlier_boots_go),
        cmocka_unit_test(what_is_no_figure_is_not_known),
        cmocka_unit_test(without_a_folder_nothing_is_remembered),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
