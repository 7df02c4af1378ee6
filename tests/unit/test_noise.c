/*
 * Noise, the machine and cgroups, over folders and files that are made up.
 */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "run/cgroup.h"
#include "run/machine.h"
#include "run/noise.h"

static char root[64];
static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    snprintf(root, sizeof(root), "/tmp/abba-test-XXXXXX");
    arena_init(&arena);
    return mkdtemp(root) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    struct err err;

    (void)state;
    arena_release(&arena);
    return files_remove_tree(root, &err);
}

/* In place, so that an open descriptor sees it. */
static void put(const char *path, const char *text)
{
    const char *full = arena_printf(&arena, "%s%s", root, path);
    struct err err;
    int fd;

    assert_int_equal(files_mkdirs(files_dirname(&arena, full), &err), 0);
    fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void differences_over_a_run_are_told(void **state)
{
    struct noise_reading r;
    struct noise n;

    (void)state;
    put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\nfull x\n");
    put("/proc/stat", "cpu  100 0 100 800 0 0 0 50 0 0\ncpu0 1 2 3\n");
    put("/proc/loadavg", "1.25 0.5 0.1 1/100 1\n");
    put("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "7\n");
    put("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "1\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3000000\n");
    put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "2000000\n");
    noise_open(&n, root);
    noise_begin(&n, 1000);
    put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=26000\nfull x\n");
    put("/proc/stat", "cpu  150 0 100 830 0 0 0 70 0 0\ncpu0 1 2 3\n");
    put("/proc/loadavg", "9.00 0.5 0.1 1/100 1\n");
    put("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "9\n");
    noise_end(&n, 1000 + 100000000, 0.1, &r);
    check_near(r.psi_cpu.number, 0.25, 1e-12); /* 25 of 100 ms */
    check_near(r.steal.number, 0.2, 1e-12);    /* 20 of 100 ticks */
    check_near(r.others.number, 0.4, 0.01);    /* 50 of 100 ticks, 10 of them the run's */
    check_same(r.throttled.number, 2);
    check_same(r.frequency.number, 2500);
    check_same(r.load.number, 1.25); /* as it was at the start */
    noise_close(&n);
}

static void a_machine_that_tells_nothing_gives_no_zeros(void **state)
{
    struct noise_reading r;
    struct noise n;

    (void)state;
    noise_open(&n, root);
    noise_begin(&n, 1);
    noise_end(&n, 200000000, 0, &r);
    assert_int_equal(r.psi_cpu.status, VALUE_UNSUPPORTED);
    assert_int_equal(r.steal.status, VALUE_UNSUPPORTED);
    assert_int_equal(r.throttled.status, VALUE_UNSUPPORTED);
    assert_int_equal(r.frequency.status, VALUE_UNSUPPORTED);
    assert_int_equal(r.load.status, VALUE_UNSUPPORTED);
    assert_non_null(r.psi_cpu.reason);
    noise_close(&n);
}

static void a_short_run_has_the_last_windows_figures(void **state)
{
    struct noise_reading r;
    struct noise n;

    (void)state;
    put("/proc/pressure/cpu", "some avg10=0.00 total=0\n");
    noise_open(&n, root);
    noise_begin(&n, 1000);
    noise_end(&n, 1000 + 500000, 0, &r);
    assert_int_equal(r.psi_cpu.status, VALUE_MISSING); /* no window is over yet */
    put("/proc/pressure/cpu", "some avg10=0.00 total=100000\n");
    noise_begin(&n, 2000000);
    noise_end(&n, 1000 + 200000000, 0, &r);
    check_near(r.psi_cpu.number, 0.5, 1e-9);
    noise_begin(&n, 202000000);
    noise_end(&n, 203000000, 0, &r);
    check_near(r.psi_cpu.number, 0.5, 1e-9);
    noise_close(&n);
}

static void steal_time_that_goes_back_is_no_giant(void **state)
{
    struct noise_reading r;
    struct noise n;

    (void)state;
    put("/proc/stat", "cpu  100 0 100 800 0 0 0 50 0 0\n");
    noise_open(&n, root);
    noise_begin(&n, 1);
    put("/proc/stat", "cpu  150 0 150 800 0 0 0 49 0 0\n");
    noise_end(&n, 200000000, 0, &r);
    check_same(r.steal.number, 0);
    noise_close(&n);
}

/* ---- the machine ---- */

static const char *setting(const struct machine *m, const char *name)
{
    for (size_t i = 0; i < m->setting_count; i++)
        if (strcmp(m->settings[i].name, name) == 0)
            return m->settings[i].value;
    fail_msg("no setting '%s'", name);
    return NULL;
}

static void settings_are_read_and_absent_ones_said_to_be(void **state)
{
    struct machine m;

    (void)state;
    put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Made Up 3000 @ 3.00GHz\n"
                         "flags\t\t: fpu vme hypervisor lahf_lm\n\nprocessor\t: 1\n"
                         "model name\t: Another\n");
    put("/proc/meminfo", "MemTotal:       24684152 kB\nMemFree: 1 kB\n");
    put("/proc/sys/kernel/randomize_va_space", "2\n");
    put("/proc/loadavg", "0.50 0.20 0.10 1/2 3\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    put("/sys/devices/system/cpu/smt/active", "1\n");
    put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    machine_look(&m, root, false, &arena);
    assert_string_equal(m.cpu_model, "Made Up 3000 @ 3.00GHz");
    assert_int_equal(m.memory_mib, 24105);
    assert_true(m.cpus >= m.allowed_cpus && m.allowed_cpus > 0);
    assert_int_equal(strncmp(m.kernel, "Linux ", 6), 0);
    assert_null(m.host);
    assert_string_equal(setting(&m, "aslr"), "2");
    assert_string_equal(setting(&m, "governor"), "performance");
    assert_string_equal(setting(&m, "smt"), "on");
    assert_string_equal(setting(&m, "boost"), "off");
    assert_string_equal(setting(&m, "transparent_hugepage"), "madvise");
    assert_string_equal(setting(&m, "hypervisor"), "yes");
    assert_string_equal(setting(&m, "load"), "0.50");
    assert_null(setting(&m, "numa_balancing"));
    machine_look(&m, root, true, &arena);
    assert_non_null(m.host);
}

static void an_empty_machine_is_no_crash(void **state)
{
    struct machine m;

    (void)state;
    machine_look(&m, root, false, &arena);
    assert_string_equal(m.cpu_model, "unknown");
    assert_null(setting(&m, "governor"));
}

/* ---- cgroups ---- */

struct hierarchy {
    const char *mountinfo, *own;
    const char *stat; /* cpu.stat of any folder; NULL: cannot be opened */
    int make_errno;
    char made[512], removed[512];
};

static ssize_t h_read(void *user, const char *path, char *out, size_t size)
{
    const struct hierarchy *h = user;
    const char *text = strstr(path, "mountinfo") != NULL ? h->mountinfo : h->own;

    if (text == NULL)
        return -1;
    snprintf(out, size, "%s", text);
    return (ssize_t)strlen(text);
}

static int h_make(void *user, const char *path)
{
    struct hierarchy *h = user;

    if (h->make_errno != 0) {
        errno = h->make_errno;
        return -1;
    }
    snprintf(h->made, sizeof(h->made), "%s", path);
    return 0;
}

static int h_remove(void *user, const char *path)
{
    struct hierarchy *h = user;

    snprintf(h->removed, sizeof(h->removed), "%s", path);
    return 0;
}

static int h_open(void *user, const char *path)
{
    const struct hierarchy *h = user;

    if (strstr(path, "cpu.stat") != NULL && h->stat == NULL)
        return -1;
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static ssize_t h_reread(void *user, int fd, char *out, size_t size)
{
    const struct hierarchy *h = user;

    (void)fd;
    snprintf(out, size, "%s", h->stat);
    return (ssize_t)strlen(h->stat);
}

static const char mounts[] =
    "24 1 0:22 / /sys rw,nosuid - sysfs sysfs rw\n"
    "30 24 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw\n";

static struct hierarchy hierarchy;
static struct cgroup_files files;

static void make_hierarchy(void)
{
    hierarchy = (struct hierarchy){.mountinfo = mounts,
                                   .own = "0::/user.slice/session-3.scope\n",
                                   .stat = "usage_usec 1500\nuser_usec 1000\nsystem_usec 500\n"};
    files = (struct cgroup_files){h_read, h_make, h_remove, h_open, h_reread, &hierarchy};
}

static void a_cgroup_is_made_below_abbas_own(void **state)
{
    struct cgroup c;
    uint64_t us;

    (void)state;
    make_hierarchy();
    assert_int_equal(cgroup_open(&c, &files, 3), 0);
    assert_string_equal(
        hierarchy.made,
        arena_printf(&arena, "/sys/fs/cgroup/user.slice/session-3.scope/abba-%d-3", (int)getpid()));
    assert_int_equal(cgroup_usage(&c, &us), 0);
    assert_int_equal(us, 1500);
    hierarchy.stat = "user_usec 1\nusage_usec 9\n";
    assert_int_equal(cgroup_usage(&c, &us), 0);
    assert_int_equal(us, 9);
    cgroup_close(&c);
    assert_string_equal(hierarchy.removed, hierarchy.made);
}

static void expect_none(const char *why)
{
    struct cgroup c;

    assert_int_equal(cgroup_open(&c, &files, 0), -1);
    assert_int_equal(c.folder_fd, -1);
    if (strstr(c.why, why) == NULL)
        fail_msg("'%s' does not say '%s'", c.why, why);
    cgroup_close(&c);
}

static void without_a_cgroup_the_reason_is_told(void **state)
{
    (void)state;
    make_hierarchy();
    hierarchy.mountinfo = "24 1 0:22 / /sys rw - sysfs sysfs rw\n";
    expect_none("cgroup v2 is not mounted");
    make_hierarchy();
    hierarchy.own = "1:cpu:/x\n";
    expect_none("in no cgroup v2");
    make_hierarchy();
    hierarchy.make_errno = EACCES;
    expect_none("Permission denied");
    make_hierarchy();
    hierarchy.stat = NULL;
    expect_none("does not tell its CPU time");
    assert_string_equal(hierarchy.removed, hierarchy.made); /* nothing is left behind */
    make_hierarchy();
    hierarchy.stat = "nr_periods 0\n";
    expect_none("does not tell its CPU time");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(differences_over_a_run_are_told),
        TEST(a_machine_that_tells_nothing_gives_no_zeros),
        TEST(a_short_run_has_the_last_windows_figures),
        TEST(steal_time_that_goes_back_is_no_giant),
        TEST(settings_are_read_and_absent_ones_said_to_be),
        TEST(an_empty_machine_is_no_crash),
        TEST(a_cgroup_is_made_below_abbas_own),
        TEST(without_a_cgroup_the_reason_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
