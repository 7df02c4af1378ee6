/* Records of the library of a memory pass, as processes leave them and as nobody should. */
#include "check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "measure/heap.h"
#include "outcomes.h"

static struct arena arena;
static char scratch[64];
static struct role_outcome role;

static int begin(void **state)
{
    struct err err = {0};

    (void)state;
    snprintf(scratch, sizeof scratch, "/tmp/heap-test-XXXXXX");
    assert_non_null(mkdtemp(scratch));
    assert_int_equal(files_mkdirs(files_join(&arena, scratch, "heap/peer"), &err), 0);
    role = outcome_role("peer", "", "");
    return 0;
}

static int end(void **state)
{
    struct err err = {0};

    (void)state;
    assert_int_equal(files_remove_tree(scratch, &err), 0);
    arena_release(&arena);
    return 0;
}

/* A process with one thread of 10 calls and 1000 bytes, and one that is gone with 2 and 20. */
static struct heap_record *made(int pid)
{
    struct heap_record *r = arena_alloc(&arena, sizeof *r);

    memset(r, 0, sizeof *r);
    memcpy(r->magic, HEAP_RECORD_MAGIC, sizeof r->magic);
    r->version = HEAP_RECORD_VERSION;
    r->pid = pid;
    r->slots = 2;
    r->slot[0] = (struct heap_slot){.calls = 10, .bytes = 1000, .frees = 9, .taken = 1};
    r->slot[1] = (struct heap_slot){.calls = 2, .bytes = 20, .frees = 2};
    memcpy(r->program, "prog", 5);
    return r;
}

static void mark(struct heap_record *r, uint64_t calls, uint64_t bytes)
{
    r->windows[r->closed++] = (struct heap_sums){calls, bytes, calls};
}

static void put(const char *name, const struct heap_record *r, size_t size)
{
    const char *path = arena_printf(&arena, "%s/heap/peer/%s", scratch, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, r, size), size);
    close(fd);
}

static struct heap_role looked(const char *obstacle)
{
    struct outcome o = outcome_of(&role, 1);

    return *heap_read(scratch, &o, &obstacle, &arena);
}

static void refused(const char *obstacle, enum value_status status, const char *reason)
{
    struct heap_role h = looked(obstacle);

    assert_int_equal(h.status.status, status);
    assert_string_equal(h.status.reason, reason);
}

static double figure(const struct heap_role *roles, size_t count, const char *name)
{
    struct metric_list list = {.arena = &arena};

    heap_derive(&list, roles, count);
    assert_int_equal(metric_list_find(&list, name)->value.status, VALUE_OK);
    return metric_list_find(&list, name)->value.number;
}

static void processes_stand_in_the_order_of_their_ids_and_add_up(void **state)
{
    struct heap_role h;

    (void)state;
    put("100.0", made(100), sizeof(struct heap_record));
    put("20.1", made(20), sizeof(struct heap_record));
    put("20.0", made(20), sizeof(struct heap_record));
    h = looked(NULL);
    assert_int_equal(h.status.status, VALUE_OK);
    assert_string_equal(h.text, "process=20 program=prog calls=12 bytes=1020 frees=11\n"
                                "process=20 program=prog calls=12 bytes=1020 frees=11\n"
                                "process=100 program=prog calls=12 bytes=1020 frees=11\n");
    assert_true(figure(&h, 1, "heap_bytes") == 3060.0);
    assert_true(figure(&h, 1, "heap_calls") == 36.0);
}

static void windows_go_before_whole_processes(void **state)
{
    struct heap_record *r = made(7);
    struct heap_role both[2];

    (void)state;
    mark(r, 3, 300);
    mark(r, 4, 400);
    put("7.0", r, sizeof *r);
    put("8.0", made(8), sizeof *r);
    both[0] = both[1] = looked("it is a static program"); /* which is so of others alone */
    assert_int_equal(both[0].windows, 2);
    assert_true(figure(both, 1, "heap_bytes") == 700.0);
    assert_true(figure(both, 2, "heap_calls") == 14.0);
    assert_non_null(strstr(both[0].text, "\nwindow=2 calls=4 bytes=400 frees=4\n"));
}

static void one_role_without_figures_leaves_the_sum_without(void **state)
{
    struct metric_list list = {.arena = &arena};
    struct heap_role both[2];

    (void)state;
    put("7.0", made(7), sizeof(struct heap_record));
    both[0] = looked(NULL);
    both[1] = (struct heap_role){.text = "", .status = value_none(VALUE_UNSUPPORTED, "why")};
    heap_derive(&list, both, 2);
    assert_int_equal(metric_list_find(&list, "heap_bytes")->value.status, VALUE_UNSUPPORTED);
    assert_string_equal(metric_list_find(&list, "heap_calls")->value.reason, "why");
}

static void nothing_is_not_zero(void **state)
{
    (void)state;
    refused("it is static", VALUE_UNSUPPORTED, "it is static");
    refused(NULL, VALUE_UNSUPPORTED, "the library that counts was in no process of it");
    /* killed while it made its record */
    put("5.0", made(5), 100);
    put("6.0", memset(made(6), 0, sizeof(struct heap_record)), sizeof(struct heap_record));
    refused(NULL, VALUE_UNSUPPORTED, "the library that counts was in no process of it");
    role.end = ROLE_NOT_STARTED;
    refused(NULL, VALUE_MISSING, "no program was started");
}

static void faults_are_told_in_words(void **state)
{
    static const struct {
        uint32_t flag;
        enum value_status status;
        const char *reason;
    } cases[] = {
        {HEAP_SHADOWED, VALUE_UNSUPPORTED,
         "the program has an allocator of its own before the library's"},
        {HEAP_TWICE, VALUE_INVALID, "a window was begun while one was open"},
        {HEAP_STRAY, VALUE_INVALID, "a window was ended while none was open"},
        {HEAP_LOST, VALUE_INVALID, "there were more threads at a time than are counted"},
        {HEAP_MANY, VALUE_INVALID, "more windows were marked than are kept"},
    };
    struct heap_record *r = made(1);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        r->flags = cases[i].flag;
        put("1.0", r, sizeof *r);
        refused(NULL, cases[i].status, cases[i].reason);
        assert_non_null(
            strstr(looked(NULL).text, arena_printf(&arena, "\nfault=%s\n", cases[i].reason)));
        unlink(arena_printf(&arena, "%s/heap/peer/1.0", scratch));
    }
    r->flags = 0;
    r->open = 1;
    put("1.0", r, sizeof *r);
    refused(NULL, VALUE_INVALID, "a window was open when the process ended");
}

/* A helper with an allocator of its own does not matter where another process has the windows. */
static void only_processes_with_windows_matter_where_there_are_any(void **state)
{
    struct heap_record *helper = made(2), *r = made(1);

    (void)state;
    helper->flags = HEAP_SHADOWED;
    mark(r, 5, 50);
    put("1.0", r, sizeof *r);
    put("2.0", helper, sizeof *helper);
    assert_int_equal(looked(NULL).status.status, VALUE_OK);
    unlink(arena_printf(&arena, "%s/heap/peer/1.0", scratch));
    refused(NULL, VALUE_UNSUPPORTED,
            "the program has an allocator of its own before the library's");
}

static void records_that_cannot_be_are_damage(void **state)
{
    struct heap_record *r = made(1);
    struct heap_role h;

    (void)state;
    r->slots = HEAP_SLOTS + 1;
    put("1.0", r, sizeof *r);
    refused(NULL, VALUE_INVALID, "a record of a process is damaged");
    unlink(arena_printf(&arena, "%s/heap/peer/1.0", scratch));
    r->slots = 1;
    r->version = 99;
    put("1.0", r, sizeof *r);
    refused(NULL, VALUE_INVALID, "a record of a process is damaged");
    unlink(arena_printf(&arena, "%s/heap/peer/1.0", scratch));
    /* more windows than there is room for are no reason to read beyond it */
    r->version = HEAP_RECORD_VERSION;
    r->closed = UINT32_MAX;
    put("1.0", r, sizeof *r);
    h = looked(NULL);
    assert_int_equal(h.windows, HEAP_WINDOWS);
    assert_int_equal(h.status.status, VALUE_INVALID);
}

static void neither_links_nor_pipes_nor_other_names_are_followed(void **state)
{
    const char *folder = arena_printf(&arena, "%s/heap/peer", scratch);

    (void)state;
    put("notes", made(1), sizeof(struct heap_record));
    put("01.0", made(1), sizeof(struct heap_record));
    put("1.0.bak", made(1), sizeof(struct heap_record));
    refused("none", VALUE_UNSUPPORTED, "none");
    assert_int_equal(symlink("notes", files_join(&arena, folder, "1.0")), 0);
    refused(NULL, VALUE_INVALID, "a record of a process is damaged");
    unlink(files_join(&arena, folder, "1.0"));
    assert_int_equal(mkfifo(files_join(&arena, folder, "2.0"), 0600), 0);
    refused(NULL, VALUE_INVALID, "a record of a process is damaged");
}

/* Figures that a runner reads out of the text would be of some processes only. */
static void more_text_than_there_is_room_for_is_no_figure(void **state)
{
    struct heap_record *r = made(1);
    const size_t head = offsetof(struct heap_record, slot);
    struct heap_role h;

    (void)state;
    for (size_t i = 0; i < HEAP_WINDOWS; i++)
        mark(r, UINT64_MAX, UINT64_MAX);
    r->slots = 0;
    for (int i = 1; i <= 200; i++)
        put(arena_printf(&arena, "%d.0", i), r, head);
    h = looked(NULL);
    assert_int_equal(h.status.status, VALUE_INVALID);
    assert_string_equal(h.status.reason, "its records have more than 16 MiB of text");
    assert_true(h.len <= (size_t)16 << 20);
    assert_int_equal(h.text[h.len - 1], '\n');
    assert_int_equal(h.windows, 200 * HEAP_WINDOWS);
}

static void names_of_programs_are_made_harmless(void **state)
{
    struct heap_record *r = made(1);

    (void)state;
    memset(r->program, 'x', sizeof r->program);
    memcpy(r->program, "a\nb\x1b[1m", 7);
    put("1.0", r, sizeof *r);
    assert_null(strchr(looked(NULL).text, '\x1b'));
    assert_null(strstr(looked(NULL).text, "a\nb"));
    assert_int_equal(looked(NULL).status.status, VALUE_OK);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        EACH(processes_stand_in_the_order_of_their_ids_and_add_up),
        EACH(windows_go_before_whole_processes),
        EACH(one_role_without_figures_leaves_the_sum_without),
        EACH(nothing_is_not_zero),
        EACH(faults_are_told_in_words),
        EACH(only_processes_with_windows_matter_where_there_are_any),
        EACH(records_that_cannot_be_are_damage),
        EACH(neither_links_nor_pipes_nor_other_names_are_followed),
        EACH(more_text_than_there_is_room_for_is_no_figure),
        EACH(names_of_programs_are_made_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
