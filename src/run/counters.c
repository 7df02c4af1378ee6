#include "run/counters.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/files.h"
#include "run/events.h"

_Static_assert(sizeof(struct perf_event_attr) <= WIRE_ATTR_BYTES, "an attr fits its message");

struct reading {
    uint64_t value, enabled, running; /* PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING */
};

/* ---- the real kernel ---- */

static int system_open(void *user, const struct perf_event_attr *attr)
{
    (void)user;
    return (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int system_count(void *user, int fd, bool on)
{
    (void)user;
    return ioctl(fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static ssize_t system_read(void *user, int fd, void *out, size_t size)
{
    (void)user;
    return read(fd, out, size);
}

static void system_close(void *user, int fd)
{
    (void)user;
    close(fd);
}

/* Goes to another allowed CPU and back, where there is one: a migration. */
static void migrate(void)
{
    cpu_set_t allowed, one;
    const int here = sched_getcpu();

    if (here < 0 || sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
        return;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (cpu == (size_t)here || !CPU_ISSET(cpu, &allowed))
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof(one), &one);
        sched_setaffinity(0, sizeof(allowed), &allowed);
        return;
    }
}

static void system_work(void *user)
{
    const struct timespec nap = {.tv_nsec = 20000};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = COUNTER_WORK_PAGES * page;
    unsigned char *fresh =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile uint64_t sink = 0;
    uint64_t x = 88172645463325252u;

    (void)user;
    if (fresh != MAP_FAILED) {
        madvise(fresh, size, MADV_NOHUGEPAGE);
        for (size_t i = 0; i < size; i += page)
            fresh[i] = 1;
    }
    for (int i = 0; i < COUNTER_WORK_LOOPS; i++) { /* xorshift: branches that cannot be foreseen */
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        if (x & 1)
            sink = sink + x;
    }
    if (fresh != MAP_FAILED)
        munmap(fresh, size);
    for (int i = 0; i < COUNTER_WORK_SLEEPS; i++)
        nanosleep(&nap, NULL);
    migrate();
}

const struct counter_kernel counter_system = {
    .encode = event_encode,
    .open = system_open,
    .count = system_count,
    .read = system_read,
    .close = system_close,
    .work = system_work,
    .root = "",
};

/* ---- whether an event counts here ---- */

/*
 * A wire event's bytes are copied, never looked at through a pointer to another type: compilers
 * move such accesses across the copying of the event (seen with GCC 12 for arm64: exclude_kernel
 * was lost).
 */
static struct perf_event_attr attr_of(const struct wire_event *e)
{
    struct perf_event_attr attr;

    memcpy(&attr, e->attr, sizeof(attr));
    return attr;
}

static void set_attr(struct wire_event *e, const struct perf_event_attr *attr)
{
    memset(e->attr, 0, sizeof(e->attr));
    memcpy(e->attr, attr, sizeof(*attr));
}

static void set_status(struct machine_counter *m, enum value_status status, const char *reason)
{
    m->status = status;
    m->reason = reason;
}

/* False where the kernel has no such setting, and so no counters. */
static bool paranoid_level(const struct counters *c, int *level)
{
    char path[512], text[32];

    snprintf(path, sizeof(path), "%s/proc/sys/kernel/perf_event_paranoid", c->kernel->root);
    bool there = files_read_small(path, text, sizeof(text)) > 0;
    *level = there ? (int)strtol(text, NULL, 10) : 2;
    return there;
}

static const char no_pmu[] = "no PMU here (virtual machine?)";
static const char not_of_pmu[] = "this CPU's counters cannot count it";

/* Whether a filter refuses the call itself: flags that no kernel knows would be EINVAL. */
static bool filter_forbids(const struct counters *c)
{
    struct perf_event_attr attr = {.size = sizeof(attr)};

    if (c->kernel->open != system_open)
        return false;
    return syscall(SYS_perf_event_open, &attr, 0, -1, -1, ~0UL) < 0 && errno != EINVAL;
}

static const char filtered[] =
    "a seccomp filter, as containers have, forbids perf_event_open: start the container with "
    "--security-opt seccomp=unconfined --cap-add PERFMON";

static void explain_open(struct counters *c, struct machine_counter *m,
                         const struct perf_event_attr *attr, int why)
{
    int level;
    bool has_counters = paranoid_level(c, &level);

    switch (why) {
    case ENOENT:
        set_status(m, VALUE_UNSUPPORTED,
                   attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
                           attr->type == PERF_TYPE_RAW
                       ? no_pmu
                       : "this kernel has no such event");
        break;
    case EACCES:
    case EPERM:
        set_status(m, VALUE_DENIED,
                   filter_forbids(c)
                       ? filtered
                       : arena_printf(&c->arena,
                                      "kernel.perf_event_paranoid is %d; `sudo sysctl "
                                      "kernel.perf_event_paranoid=1` allows it",
                                      level));
        break;
    case ENOSYS:
        if (has_counters)
            set_status(m, VALUE_DENIED, filtered);
        else
            set_status(m, VALUE_UNSUPPORTED, "this kernel has no performance counters");
        break;
    case EINVAL:
    case EOPNOTSUPP:
        set_status(m, VALUE_UNSUPPORTED, not_of_pmu);
        break;
    default:
        set_status(m, VALUE_UNSUPPORTED,
                   arena_printf(&c->arena, "cannot be opened: %s", strerror(why)));
    }
}

/*
 * Opens with all that is allowed, else without the kernel's part. libpfm4 leaves out the guests'
 * part; some PMUs cannot, and one that must be told to would refuse the opposite.
 */
static int open_allowed(struct counters *c, struct perf_event_attr *attr)
{
    int fd = c->kernel->open(c->kernel->user, attr);

    if (fd < 0 && (errno == EINVAL || errno == EOPNOTSUPP)) {
        attr->exclude_guest = !attr->exclude_guest;
        fd = c->kernel->open(c->kernel->user, attr);
    }
    if (fd < 0 && (errno == EACCES || errno == EPERM) && !attr->exclude_kernel) {
        attr->exclude_kernel = 1;
        fd = c->kernel->open(c->kernel->user, attr);
    }
    return fd;
}

/* What the work makes each generic event show at least; 0: nothing is known. */
static uint64_t least_of(const struct perf_event_attr *attr)
{
    if (attr->exclude_user) /* the work is user code; only its sleeps are the kernel's */
        return attr->type == PERF_TYPE_HARDWARE && !attr->exclude_kernel ? 1 : 0;
    if (attr->type == PERF_TYPE_HARDWARE)
        switch (attr->config & 0xffffffffu) {
        case PERF_COUNT_HW_CPU_CYCLES:
        case PERF_COUNT_HW_REF_CPU_CYCLES:
            return COUNTER_WORK_LOOPS / 4;
        case PERF_COUNT_HW_INSTRUCTIONS:
            return COUNTER_WORK_LOOPS * 4;
        case PERF_COUNT_HW_BRANCH_INSTRUCTIONS:
            return COUNTER_WORK_LOOPS;
        case PERF_COUNT_HW_BRANCH_MISSES:
        case PERF_COUNT_HW_CACHE_REFERENCES:
        case PERF_COUNT_HW_CACHE_MISSES:
            return 1;
        }
    if (attr->type == PERF_TYPE_SOFTWARE)
        switch (attr->config) {
        case PERF_COUNT_SW_PAGE_FAULTS:
        case PERF_COUNT_SW_PAGE_FAULTS_MIN:
            return COUNTER_WORK_PAGES;
        case PERF_COUNT_SW_CONTEXT_SWITCHES:
            return COUNTER_WORK_SLEEPS;
        }
    return 0;
}

static int self_test(struct counters *c, int fd, struct reading *r)
{
    const struct counter_kernel *k = c->kernel;

    *r = (struct reading){0};
    if (k->count(k->user, fd, true) < 0)
        return -1;
    k->work(k->user);
    if (k->count(k->user, fd, false) < 0)
        return -1;
    return k->read(k->user, fd, r, sizeof(*r)) == (ssize_t)sizeof(*r) ? 0 : -1;
}

/* Software events of the kernel's own doing read 0 when the kernel's part is left out. */
static bool kernel_only(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
                                                attr->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

/*
 * Opens one event and lets it count. True if it can be trusted, or (`partial`) has been trusted
 * only for one kind of CPU; *fd is then open and disabled.
 */
static bool try_event(struct counters *c, struct perf_event_attr *attr, struct machine_counter *m,
                      bool partial, int *fd)
{
    const bool user_only = attr->exclude_kernel; /* as the event's name asks */
    struct reading r;

    attr->size = sizeof(*attr);
    attr->disabled = 1;
    attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    *fd = open_allowed(c, attr);
    if (*fd < 0) {
        explain_open(c, m, attr, errno);
        return false;
    }
    if (attr->exclude_kernel && kernel_only(attr)) {
        if (user_only)
            set_status(m, VALUE_UNSUPPORTED, "user code alone has none: the kernel does it");
        else
            explain_open(c, m, attr, EACCES);
        goto refuse;
    }
    if (self_test(c, *fd, &r) < 0) {
        set_status(m, VALUE_UNSUPPORTED, "opens, but cannot be read");
        goto refuse;
    }
    if (r.running == 0 && !partial) {
        set_status(m, VALUE_NOT_COUNTED, "opens, but never runs (all counters taken?)");
        goto refuse;
    }
    if (r.value < least_of(attr) && r.running > 0 && r.running >= r.enabled) {
        set_status(m, VALUE_UNSUPPORTED,
                   arena_printf(&c->arena, "opens, but counts %llu where there were at least %llu",
                                (unsigned long long)r.value, (unsigned long long)least_of(attr)));
        goto refuse;
    }
    set_status(m, VALUE_OK, NULL);
    if (attr->exclude_kernel && !user_only) {
        int level;
        paranoid_level(c, &level);
        m->reason =
            arena_printf(&c->arena, "user code only: kernel.perf_event_paranoid is %d", level);
    }
    return true;
refuse:
    c->kernel->close(c->kernel->user, *fd);
    *fd = -1;
    return false;
}

/* ---- all requests ---- */

/* The PMU types of a hybrid CPU's kinds of cores. */
static size_t core_types(const struct counters *c, uint64_t types[4])
{
    static const char *const kinds[] = {"cpu_core", "cpu_atom", "cpu_lowpower"};
    size_t n = 0;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char path[512], text[32];

        snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices/%s/type", c->kernel->root,
                 kinds[i]);
        if (files_read_small(path, text, sizeof(text)) > 0)
            types[n++] = strtoull(text, NULL, 10);
    }
    return n > 1 ? n : 0;
}

/* The event as programs open it: from their exec on, with their children. */
static void accept_event(struct counters *c, const struct perf_event_attr *tried, size_t request,
                         int fd)
{
    struct wire_event *kept = &c->event[c->event_count];
    struct perf_event_attr attr = *tried;

    attr.inherit = 1;
    attr.enable_on_exec = 1;
    kept->leader = -1;
    set_attr(kept, &attr);
    c->of[c->event_count++] = (struct counter_event){.request = request, .keep_fd = fd};
}

static void try_request(struct counters *c, size_t request, const uint64_t *types,
                        size_t type_count)
{
    struct machine_counter *m = &c->request[request];
    struct wire_event e = {.leader = -1};
    struct perf_event_attr attr;
    const size_t first = c->event_count;
    size_t kinds = 1;
    struct err err;

    if (c->kernel->encode(m->event, e.attr, &err) < 0) {
        set_status(m, VALUE_UNSUPPORTED, arena_strdup(&c->arena, err.msg));
        return;
    }
    attr = attr_of(&e);
    if (attr.type == PERF_TYPE_HARDWARE && type_count > 0)
        kinds = type_count;
    if (c->event_count + kinds > WIRE_MAX_EVENTS) {
        set_status(m, VALUE_UNSUPPORTED, "too many events at a time");
        return;
    }
    for (size_t i = 0; i < kinds; i++) {
        struct perf_event_attr one = attr;
        int fd;

        if (kinds > 1) /* PERF_PMU_TYPE_SHIFT, perf_event_open(2) */
            one.config |= types[i] << 32;
        if (!try_event(c, &one, m, kinds > 1, &fd)) {
            while (c->event_count > first) /* a part of the cores is no figure */
                c->kernel->close(c->kernel->user, c->of[--c->event_count].keep_fd);
            return;
        }
        accept_event(c, &one, request, fd);
    }
}

static void swap_events(struct counters *c, size_t a, size_t b)
{
    const struct wire_event event = c->event[a];
    const struct counter_event of = c->of[a];

    c->event[a] = c->event[b];
    c->of[a] = c->of[b];
    c->event[b] = event;
    c->of[b] = of;
}

/* cycles and instructions count over the same time, so that their ratio holds: a group of two. */
static void make_group(struct counters *c)
{
    size_t cycles = WIRE_MAX_EVENTS, instructions = WIRE_MAX_EVENTS;
    struct perf_event_attr attr;

    for (size_t i = 0; i < c->event_count; i++) {
        attr = attr_of(&c->event[i]);
        if (attr.type != PERF_TYPE_HARDWARE)
            continue;
        if (attr.config == PERF_COUNT_HW_CPU_CYCLES && cycles == WIRE_MAX_EVENTS)
            cycles = i;
        if (attr.config == PERF_COUNT_HW_INSTRUCTIONS && instructions == WIRE_MAX_EVENTS)
            instructions = i;
    }
    if (cycles == WIRE_MAX_EVENTS || instructions == WIRE_MAX_EVENTS)
        return;
    if (instructions < cycles) { /* the leader is opened first */
        const size_t first = instructions;

        swap_events(c, first, cycles);
        instructions = cycles;
        cycles = first;
    }
    c->event[instructions].leader = (int32_t)cycles;
    attr = attr_of(&c->event[instructions]);
    attr.disabled = 0; /* as its leader goes */
    attr.enable_on_exec = 0;
    set_attr(&c->event[instructions], &attr);
}

/* Where one hardware event counts there is a PMU: those that it refused are not in it. */
static void blame_pmu(struct counters *c)
{
    bool pmu = false;

    for (size_t i = 0; i < c->event_count; i++)
        pmu = pmu || attr_of(&c->event[i]).type == PERF_TYPE_HARDWARE;
    for (size_t i = 0; pmu && i < c->request_count; i++)
        if (c->request[i].reason == no_pmu)
            c->request[i].reason = not_of_pmu;
}

void counters_init(struct counters *c, const struct strings *names,
                   const struct counter_kernel *kernel)
{
    uint64_t types[4];
    size_t type_count;

    *c = (struct counters){.kernel = kernel, .request_count = names->count};
    arena_init(&c->arena);
    c->request = arena_array(&c->arena, names->count, sizeof(*c->request));
    type_count = core_types(c, types);
    for (size_t i = 0; i < names->count; i++) {
        c->request[i].event = arena_strdup(&c->arena, names->items[i]);
        try_request(c, i, types, type_count);
    }
    blame_pmu(c);
    make_group(c);
}

void counters_release(struct counters *c)
{
    for (size_t i = 0; i < c->event_count; i++)
        c->kernel->close(c->kernel->user, c->of[i].keep_fd);
    arena_release(&c->arena);
    *c = (struct counters){.event_count = 0};
}

/* ---- reading ---- */

/* Adds the events of one request. A negative errno in *failed is the first that did not open. */
static struct value combine(const struct reading *sum, int failed)
{
    struct value v;

    if (failed == EMFILE || failed == ENFILE)
        return value_none(VALUE_NOT_COUNTED, "the program may not open so many files");
    if (failed == EACCES || failed == EPERM)
        return value_none(VALUE_DENIED, "the kernel forbade it to this program");
    if (failed != 0)
        return value_none(VALUE_NOT_COUNTED, "the program could not open it");
    if (sum->running == 0)
        return value_none(VALUE_NOT_COUNTED, "the counter never ran");
    v = value_ok((double)sum->value);
    if (sum->running < sum->enabled) {
        v.status = VALUE_SCALED;
        v.coverage = (double)sum->running / (double)sum->enabled;
        v.number = (double)sum->value * ((double)sum->enabled / (double)sum->running);
        v.reason = "the counter shared the PMU";
    }
    return v;
}

void counters_read(struct counters *c, const int *fds, const int32_t *event_errno,
                   struct counter_reading *out)
{
    const struct counter_kernel *k = c->kernel;

    for (size_t request = 0; request < c->request_count; request++) {
        const struct machine_counter *m = &c->request[request];

        out[request].event = m->event;
        out[request].value = value_none(m->status, m->reason);
    }
    for (size_t i = 0; i < c->event_count;) { /* those of a request are neighbours */
        const size_t request = c->of[i].request;
        struct reading sum = {0};
        int failed = 0;

        for (; i < c->event_count && c->of[i].request == request; i++) {
            struct reading r = {0};

            if (fds[i] < 0) {
                failed = event_errno[i] != 0 ? event_errno[i] : ENODEV;
                continue;
            }
            if (k->read(k->user, fds[i], &r, sizeof(r)) != (ssize_t)sizeof(r))
                failed = EIO;
            k->close(k->user, fds[i]);
            sum.value += r.value;
            sum.running += r.running;
            if (r.enabled > sum.enabled) /* each kind of core is enabled all the time */
                sum.enabled = r.enabled;
        }
        out[request].value = combine(&sum, failed);
    }
}
