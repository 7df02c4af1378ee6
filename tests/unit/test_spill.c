/* archive/spill: what was added comes back, from memory and from the file. */
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "archive/spill.h"

#define WORDS 1000
#define MANY (3 * SPILL_CACHED * SPILL_BLOCK_WORDS / WORDS) /* three times what memory holds */

static struct spill s;

static int end(void **state)
{
    (void)state;
    spill_release(&s);
    return 0;
}

/* Record i has 1 to WORDS words, each of which can be told from all others. */
static size_t length_of(size_t i)
{
    return 1 + i * 7919 % WORDS;
}

static uint32_t word_of(size_t i, size_t k)
{
    return (uint32_t)(i * 2654435761u + k);
}

static int add(size_t i)
{
    struct err err = {.code = ERR_NONE};
    uint32_t *record = spill_begin(&s, WORDS, &err);

    if (!record)
        return -1;
    for (size_t k = 0; k < length_of(i); k++) {
        assert_int_equal(record[k], 0);
        record[k] = word_of(i, k);
    }
    spill_end(&s, length_of(i));
    return 0;
}

static void check(size_t i)
{
    const uint32_t *record = spill_at(&s, i);

    for (size_t k = 0; k < length_of(i); k++)
        if (record[k] != word_of(i, k))
            fail_msg("record %zu, word %zu: %u", i, k, record[k]);
}

static void few_records_stay_in_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3000; i++)
        assert_int_equal(add(i), 0);
    for (size_t i = 3000; i-- > 0;)
        check(i);
    assert_false(s.spilled);
}

static void many_records_come_back_in_any_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * MANY; i++) {
        assert_int_equal(add(i), 0);
        check(i); /* the newest is there at once */
        if (i % 1000 == 0)
            check(i / 2);
    }
    assert_true(s.spilled);
    assert_true(s.blocks > 2 * SPILL_CACHED);
    for (size_t i = 0; i < s.count; i++)
        check(i);
    for (size_t i = s.count; i-- > 0;)
        check(i);
    for (size_t i = 0, at = 1; i < 300; i++, at = (at * 1103515245 + 12345) % s.count)
        check(at);
    for (size_t i = s.count; i < 2 * MANY + 5000; i++) /* adding goes on after reading */
        assert_int_equal(add(i), 0);
    check(0);
    check(s.count - 1);
}

static void the_largest_record_has_room(void **state)
{
    struct err err = {.code = ERR_NONE};
    uint32_t *record;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        record = spill_begin(&s, SPILL_RECORD_WORDS, &err);
        assert_non_null(record);
        record[0] = 7;
        record[SPILL_RECORD_WORDS - 1] = 8;
        spill_end(&s, SPILL_RECORD_WORDS);
    }
    assert_int_equal(spill_at(&s, 0)[SPILL_RECORD_WORDS - 1], 8);
    assert_int_equal(spill_at(&s, 1)[0], 7);
}

/* Adds until it is refused; true if the message names the folder and the variable. */
static bool refused_naming(const char *folder)
{
    struct err err = {.code = ERR_NONE};

    for (size_t i = 0; i < 2 * MANY; i++) {
        if (!spill_begin(&s, WORDS, &err))
            return err.code == ERR_SYSTEM && strstr(err.msg, folder) && strstr(err.hint, "TMPDIR");
        spill_end(&s, WORDS);
    }
    return false;
}

static void no_folder_is_told(void **state)
{
    (void)state;
    setenv("TMPDIR", "/no/such/folder", 1);
    assert_true(refused_naming("/no/such/folder"));
    unsetenv("TMPDIR");
}

static void no_room_is_told(void **state)
{
    struct rlimit old, small = {20u << 20, 20u << 20};

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    assert_true(refused_naming("/"));
    setrlimit(RLIMIT_FSIZE, &old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(few_records_stay_in_memory, end),
        cmocka_unit_test_teardown(many_records_come_back_in_any_order, end),
        cmocka_unit_test_teardown(the_largest_record_has_room, end),
        cmocka_unit_test_teardown(no_folder_is_told, end),
        cmocka_unit_test_teardown(no_room_is_told, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
