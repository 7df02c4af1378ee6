/*
 * Counters, over kernels that are absent, forbidding, lying, sharing or hybrid.
 */
#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/files.h"
#include "run/counters.h"
#include "run/events.h"

/* A PMU that is played back. */
struct fake {
    int hardware_errno; /* of opening hardware events; 0: they open */
    int kernel_errno;   /* unless exclude_kernel */
    bool no_cache;      /* a PMU that knows no cache misses */
    int guest_bit;      /* the only exclude_guest that hardware events open with */
    int guest_errno;    /* with another */
    uint64_t value;     /* that hardware events read after the work; 0: what is true */
    double running;     /* share of the time that they ran */
    int opened, closed;
    struct perf_event_attr attr[128]; /* by descriptor */
};

static int fake_open(void *user, const struct perf_event_attr *attr)
{
    struct fake *f = user;
    const bool hardware = attr->type != PERF_TYPE_SOFTWARE;

    if (hardware && f->hardware_errno != 0) {
        errno = f->hardware_errno;
        return -1;
    }
    if (hardware && f->no_cache && attr->config == PERF_COUNT_HW_CACHE_MISSES) {
        errno = ENOENT;
        return -1;
    }
    if (f->kernel_errno != 0 && !attr->exclude_kernel) {
        errno = f->kernel_errno;
        return -1;
    }
    if (hardware && f->guest_errno != 0 && (int)attr->exclude_guest != f->guest_bit) {
        errno = f->guest_errno;
        return -1;
    }
    f->attr[f->opened] = *attr;
    return f->opened++;
}

static int fake_count(void *user, int fd, bool on)
{
    (void)user;
    (void)fd;
    (void)on;
    return 0;
}

static ssize_t fake_read(void *user, int fd, void *out, size_t size)
{
    struct fake *f = user;
    const bool hardware = f->attr[fd].type != PERF_TYPE_SOFTWARE;
    uint64_t r[3] = {COUNTER_WORK_LOOPS * 10u, 1000, 1000};

    assert_true(size >= sizeof(r));
    if (hardware && f->value != 0)
        r[0] = f->value - 1;
    if (hardware)
        r[2] = (uint64_t)(1000 * f->running);
    memcpy(out, r, sizeof(r));
    return sizeof(r);
}

static void fake_close(void *user, int fd)
{
    (void)fd;
    ((struct fake *)user)->closed++;
}

static void fake_work(void *user)
{
    (void)user;
}

static struct fake fake;
static struct counter_kernel kernel;
static struct counters counters;

static const char *names[] = {"PERF_COUNT_HW_INSTRUCTIONS",    "PERF_COUNT_HW_CPU_CYCLES",
                              "PERF_COUNT_HW_CACHE_MISSES",    "PERF_COUNT_SW_CONTEXT_SWITCHES",
                              "PERF_COUNT_SW_PAGE_FAULTS_MIN", "no_such_event"};
enum { INSTRUCTIONS, CYCLES, CACHE_MISSES, SWITCHES, FAULTS, NONSENSE, NAMES };

static int set_up(void **state)
{
    (void)state;
    fake = (struct fake){.running = 1};
    kernel = (struct counter_kernel){.encode = event_encode,
                                     .open = fake_open,
                                     .count = fake_count,
                                     .read = fake_read,
                                     .close = fake_close,
                                     .work = fake_work,
                                     .root = "",
                                     .user = &fake};
    return 0;
}

static void start(void)
{
    const struct strings list = {names, NAMES, NAMES};

    counters_init(&counters, &list, &kernel);
}

static int tear_down(void **state)
{
    (void)state;
    counters_release(&counters);
    assert_int_equal(fake.opened, fake.closed);
    return 0;
}

static void expect(size_t request, enum value_status status, const char *reason)
{
    const struct machine_counter *m = &counters.request[request];

    assert_string_equal(m->event, names[request]);
    assert_int_equal(m->status, status);
    if (reason == NULL)
        assert_null(m->reason);
    else if (m->reason == NULL || strstr(m->reason, reason) == NULL)
        fail_msg("'%s' does not say '%s'", m->reason, reason);
}

static const struct perf_event_attr *attr_of(size_t event)
{
    static struct perf_event_attr copy[WIRE_MAX_EVENTS];

    memcpy(&copy[event], counters.event[event].attr, sizeof(copy[event]));
    return &copy[event];
}

/* What a program would bring back: every event open, the rest as the fake has it. */
static void read_all(struct counter_reading *out)
{
    int fds[WIRE_MAX_EVENTS];
    int32_t why[WIRE_MAX_EVENTS] = {0};

    for (size_t i = 0; i < counters.event_count; i++)
        fds[i] = fake_open(&fake, attr_of(i));
    counters_read(&counters, fds, why, out);
}

static void all_work_on_a_good_machine(void **state)
{
    struct counter_reading r[NAMES];

    (void)state;
    start();
    for (size_t i = 0; i < NONSENSE; i++)
        expect(i, VALUE_OK, NULL);
    expect(NONSENSE, VALUE_UNSUPPORTED, "no event 'no_such_event'");
    assert_int_equal(counters.event_count, 5);
    read_all(r);
    for (size_t i = 0; i < NONSENSE; i++) {
        assert_int_equal(r[i].value.status, VALUE_OK);
        check_same(r[i].value.number, COUNTER_WORK_LOOPS * 10.0);
        check_same(r[i].value.coverage, 1);
    }
    assert_int_equal(r[NONSENSE].value.status, VALUE_UNSUPPORTED);
}

static void programs_count_from_exec_on_with_their_children(void **state)
{
    (void)state;
    start();
    for (size_t i = 0; i < counters.event_count; i++) {
        const struct perf_event_attr *a = attr_of(i);

        assert_int_equal(a->inherit, 1);
        assert_int_equal(a->size, sizeof(*a));
        assert_int_equal(a->read_format,
                         PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
        assert_int_equal(a->exclude_kernel, 0);
        if (counters.event[i].leader < 0) {
            assert_int_equal(a->disabled, 1);
            assert_int_equal(a->enable_on_exec, 1);
        }
    }
}

static void cycles_lead_a_group_of_two_in_any_order(void **state)
{
    const struct perf_event_attr *leader, *member;

    (void)state;
    start();
    for (size_t i = 0; i < counters.event_count; i++) {
        if (counters.event[i].leader < 0)
            continue;
        assert_true((size_t)counters.event[i].leader < i);
        leader = attr_of((size_t)counters.event[i].leader);
        member = attr_of(i);
        assert_int_equal(leader->config, PERF_COUNT_HW_CPU_CYCLES);
        assert_int_equal(member->config, PERF_COUNT_HW_INSTRUCTIONS);
        return;
    }
    fail_msg("no group");
}

static void without_a_pmu_software_events_remain(void **state)
{
    struct counter_reading r[NAMES];

    (void)state;
    fake.hardware_errno = ENOENT;
    start();
    expect(CYCLES, VALUE_UNSUPPORTED, "no PMU here");
    expect(CACHE_MISSES, VALUE_UNSUPPORTED, "no PMU here");
    expect(SWITCHES, VALUE_OK, NULL);
    read_all(r);
    assert_int_equal(r[CYCLES].value.status, VALUE_UNSUPPORTED);
    assert_string_equal(r[CYCLES].value.reason, "no PMU here (virtual machine?)");
    assert_int_equal(r[FAULTS].value.status, VALUE_OK);
}

static void a_pmu_that_lacks_an_event_is_still_a_pmu(void **state)
{
    (void)state;
    fake.no_cache = true;
    start();
    expect(CYCLES, VALUE_OK, NULL);
    expect(INSTRUCTIONS, VALUE_OK, NULL);
    expect(CACHE_MISSES, VALUE_UNSUPPORTED, "this CPU's counters cannot count it");
}

static void a_forbidding_kernel_says_how_to_allow_it(void **state)
{
    (void)state;
    fake.hardware_errno = EACCES;
    start();
    expect(CYCLES, VALUE_DENIED, "perf_event_paranoid is");
    expect(CYCLES, VALUE_DENIED, "sudo sysctl kernel.perf_event_paranoid=1");
    expect(FAULTS, VALUE_OK, NULL);
}

static void without_the_kernels_part_switches_are_no_zero(void **state)
{
    (void)state;
    fake.kernel_errno = EACCES;
    start();
    expect(CYCLES, VALUE_OK, "user code only");
    expect(SWITCHES, VALUE_DENIED, "perf_event_paranoid");
    for (size_t i = 0; i < counters.event_count; i++)
        assert_int_equal(attr_of(i)->exclude_kernel, 1);
}

static void the_guests_part_is_as_the_pmu_will_have_it(void **state)
{
    (void)state;
    for (int bit = 0; bit < 2; bit++) {
        fake.guest_errno = bit ? EOPNOTSUPP : EINVAL;
        fake.guest_bit = bit;
        start();
        expect(CYCLES, VALUE_OK, NULL);
        for (size_t i = 0; i < counters.event_count; i++)
            if (attr_of(i)->type == PERF_TYPE_HARDWARE)
                assert_int_equal(attr_of(i)->exclude_guest, bit);
        if (bit == 0)
            counters_release(&counters);
    }
}

static void a_pmu_that_lies_is_not_believed(void **state)
{
    (void)state;
    fake.value = 1; /* reads 0 */
    start();
    expect(INSTRUCTIONS, VALUE_UNSUPPORTED, "opens, but counts 0 where there were at least");
    expect(CACHE_MISSES, VALUE_UNSUPPORTED, "opens, but counts 0");
    expect(SWITCHES, VALUE_OK, NULL);
    assert_int_equal(counters.event_count, 2);
}

/* One event alone, its name with a modifier; hardware events read `reads`. */
static void start_one(const char *name, uint64_t reads)
{
    const struct strings list = {&name, 1, 1};

    fake.value = reads + 1;
    counters_init(&counters, &list, &kernel);
}

static void the_kernels_part_alone_need_not_show_the_works_loops(void **state)
{
    (void)state;
    start_one("PERF_COUNT_HW_INSTRUCTIONS:k", 300);
    assert_int_equal(counters.request[0].status, VALUE_OK);
    assert_int_equal(attr_of(0)->exclude_user, 1);
    assert_int_equal(attr_of(0)->exclude_kernel, 0);
    counters_release(&counters);
    start_one("PERF_COUNT_HW_INSTRUCTIONS:k", 0);
    assert_int_equal(counters.request[0].status, VALUE_UNSUPPORTED);
}

static void user_code_alone_because_asked_for_is_nothing_to_tell(void **state)
{
    (void)state;
    start_one("PERF_COUNT_HW_INSTRUCTIONS:u", 100000000);
    assert_int_equal(counters.request[0].status, VALUE_OK);
    assert_null(counters.request[0].reason);
    assert_int_equal(attr_of(0)->exclude_kernel, 1);
    counters_release(&counters);
    start_one("PERF_COUNT_SW_CONTEXT_SWITCHES:u", 0);
    assert_int_equal(counters.request[0].status, VALUE_UNSUPPORTED);
}

static void a_counter_that_never_ran_is_not_counted(void **state)
{
    struct counter_reading r[NAMES];

    (void)state;
    start();
    fake.running = 0;
    read_all(r);
    assert_int_equal(r[CYCLES].value.status, VALUE_NOT_COUNTED);
    assert_non_null(r[CYCLES].value.reason);
    assert_int_equal(r[SWITCHES].value.status, VALUE_OK);
}

static void a_pmu_that_is_taken_at_the_start_is_told(void **state)
{
    (void)state;
    fake.running = 0;
    start();
    expect(CYCLES, VALUE_NOT_COUNTED, "never runs");
}

static void a_shared_counter_is_scaled_with_its_coverage(void **state)
{
    struct counter_reading r[NAMES];

    (void)state;
    fake.running = 0.4;
    start();
    expect(CACHE_MISSES, VALUE_OK, NULL);
    read_all(r);
    assert_int_equal(r[CACHE_MISSES].value.status, VALUE_SCALED);
    check_near(r[CACHE_MISSES].value.coverage, 0.4, 1e-12);
    check_near(r[CACHE_MISSES].value.number, COUNTER_WORK_LOOPS * 10.0 / 0.4, 1e-3);
    assert_false(value_usable(&r[CACHE_MISSES].value));
    fake.running = 0.995;
    read_all(r);
    assert_true(value_usable(&r[CACHE_MISSES].value));
}

static void a_program_that_cannot_open_one_loses_that_one(void **state)
{
    struct counter_reading r[NAMES];
    int fds[WIRE_MAX_EVENTS];
    int32_t why[WIRE_MAX_EVENTS] = {0};

    (void)state;
    start();
    for (size_t i = 0; i < counters.event_count; i++) {
        const struct perf_event_attr *a = attr_of(i);
        const bool one =
            a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_CONTEXT_SWITCHES;

        fds[i] = one ? -1 : fake_open(&fake, a);
        why[i] = one ? EMFILE : 0;
    }
    counters_read(&counters, fds, why, r);
    assert_int_equal(r[SWITCHES].value.status, VALUE_NOT_COUNTED);
    assert_string_equal(r[SWITCHES].value.reason, "the program may not open so many files");
    assert_int_equal(r[FAULTS].value.status, VALUE_OK);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    struct err err;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_int_equal(files_mkdirs(path, &err), 0);
    snprintf(path, sizeof(path), "%s/%s/type", folder, name);
    assert_int_equal(files_write_atomic(path, text, strlen(text), &err), 0);
}

static void cores_of_two_kinds_are_summed(void **state)
{
    char folder[] = "/tmp/abba-test-XXXXXX";
    struct counter_reading r[NAMES];
    struct err err;

    (void)state;
    assert_non_null(mkdtemp(folder));
    write_file(folder, "sys/bus/event_source/devices/cpu_core", "4\n");
    write_file(folder, "sys/bus/event_source/devices/cpu_atom", "10\n");
    kernel.root = folder;
    start();
    assert_int_equal(counters.event_count, 3 * 2 + 2);
    assert_int_equal(attr_of(0)->config, 4ull << 32 | PERF_COUNT_HW_INSTRUCTIONS);
    assert_int_equal(attr_of(1)->config, 10ull << 32 | PERF_COUNT_HW_INSTRUCTIONS);
    fake.running = 0.5; /* half of the time on either kind */
    read_all(r);
    assert_int_equal(r[CYCLES].value.status, VALUE_OK);
    check_same(r[CYCLES].value.number, 2 * COUNTER_WORK_LOOPS * 10.0);
    fake.running = 0.25;
    read_all(r);
    assert_int_equal(r[CYCLES].value.status, VALUE_SCALED);
    check_near(r[CYCLES].value.coverage, 0.5, 1e-12);
    assert_int_equal(files_remove_tree(folder, &err), 0);
}

static void this_machine_counts_page_faults_or_says_why_not(void **state)
{
    const struct strings list = {names, NAMES, NAMES};

    (void)state;
    counters_init(&counters, &list, &counter_system);
    for (size_t i = 0; i < NAMES; i++)
        if (counters.request[i].status != VALUE_OK)
            assert_non_null(counters.request[i].reason);
    if (geteuid() == 0 && counters.request[FAULTS].status == VALUE_OK)
        expect(SWITCHES, VALUE_OK, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_work_on_a_good_machine),
        TEST(programs_count_from_exec_on_with_their_children),
        TEST(cycles_lead_a_group_of_two_in_any_order),
        TEST(without_a_pmu_software_events_remain),
        TEST(a_pmu_that_lacks_an_event_is_still_a_pmu),
        TEST(a_forbidding_kernel_says_how_to_allow_it),
        TEST(without_the_kernels_part_switches_are_no_zero),
        TEST(the_guests_part_is_as_the_pmu_will_have_it),
        TEST(a_pmu_that_lies_is_not_believed),
        TEST(the_kernels_part_alone_need_not_show_the_works_loops),
        TEST(user_code_alone_because_asked_for_is_nothing_to_tell),
        TEST(a_counter_that_never_ran_is_not_counted),
        TEST(a_pmu_that_is_taken_at_the_start_is_told),
        TEST(a_shared_counter_is_scaled_with_its_coverage),
        TEST(a_program_that_cannot_open_one_loses_that_one),
        TEST(cores_of_two_kinds_are_summed),
        TEST(this_machine_counts_page_faults_or_says_why_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
