/* Queue: packets that are held leave in order of due time. */
#include "check.h"

#include "base/mem.h"
#include "net/queue.h"

#include <stdlib.h>
#include <string.h>

#define PACKETS 5000

static struct queue q;

static int made(void **state)
{
    struct err err;

    (void)state;
    return queue_init(&q, PACKETS, &err);
}

static int released(void **state)
{
    (void)state;
    queue_release(&q);
    return 0;
}

static void put(int64_t due_ns, uint32_t number, bool at_head)
{
    struct queue_packet p = {due_ns, due_ns, queue_frame_new(&q), number, at_head};

    assert_int_not_equal(p.frame, QUEUE_NO_FRAME);
    queue_put(&q, &p);
}

static uint32_t take(void)
{
    uint32_t shown = queue_first(&q)->bytes;
    struct queue_packet p = queue_take(&q);

    assert_int_equal(p.bytes, shown);
    queue_frame_free(&q, p.frame);
    return p.bytes;
}

static void leaves_by_due_time_whatever_came_when(void **state)
{
    int64_t last = -1;

    (void)state;
    srandom(1);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < PACKETS; i++)
            put(random() % 1000000, i, false);
        assert_int_equal(queue_frame_new(&q), QUEUE_NO_FRAME);
        last = -1;
        while (q.length) {
            struct queue_packet p = queue_take(&q);

            assert_true(p.due_ns >= last);
            last = p.due_ns;
            queue_frame_free(&q, p.frame);
        }
    }
    assert_int_equal(q.high_water, PACKETS);
}

static void first_in_first_out_on_ties(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        put(i % 3, i, false);
    for (uint32_t due = 0; due < 3; due++)
        for (uint32_t i = due; i < 1000; i += 3)
            assert_int_equal(take(), i);
    assert_null(queue_first(&q));
}

static void constant_delay_stays_in_order_while_others_come(void **state)
{
    uint32_t next = 0;

    (void)state;
    for (uint32_t i = 0; i < 20000; i++) {
        put(i, i, false);
        if (i >= 4000)
            assert_int_equal(take(), next++);
    }
    assert_int_equal(q.high_water, 4001);
}

static void head_is_before_all_and_the_latest_head_first(void **state)
{
    (void)state;
    put(-100, 1, false);
    put(5, 2, true);
    put(3, 3, false);
    put(9, 4, true);
    assert_int_equal(take(), 4);
    assert_int_equal(take(), 2);
    assert_int_equal(take(), 1);
    assert_int_equal(take(), 3);
}

/* The list of those in order and the heap of the others, against a search for the smallest. */
static void order_is_that_of_a_search_while_some_overtake(void **state)
{
    int64_t dues[600];
    uint32_t count = 0, taken = 0;

    (void)state;
    srandom(7);
    while (taken < 600) {
        uint32_t best = UINT32_MAX;

        if (count < 600 && random() % 5 < 3) {
            dues[count] = count / 2 + (random() % 4 ? 20 : random() % 20);
            put(dues[count], count, false);
            count++;
            continue;
        }
        for (uint32_t i = 0; i < count; i++)
            if (dues[i] >= 0 && (best == UINT32_MAX || dues[i] < dues[best]))
                best = i;
        if (best == UINT32_MAX)
            continue;
        assert_int_equal(take(), best);
        dues[best] = -1;
        taken++;
    }
    assert_int_equal(q.length, 0);
}

static void frames_are_apart_and_used_again(void **state)
{
    uint32_t a = queue_frame_new(&q), b = queue_frame_new(&q);

    (void)state;
    memset(queue_frame(&q, a), 'a', QUEUE_FRAME_BYTES);
    memset(queue_frame(&q, b), 'b', QUEUE_FRAME_BYTES);
    assert_int_equal(queue_frame(&q, a)[QUEUE_FRAME_BYTES - 1], 'a');
    queue_frame_free(&q, a);
    assert_int_equal(queue_frame_new(&q), a);
    for (uint32_t i = 2; i < PACKETS; i++)
        assert_int_not_equal(queue_frame_new(&q), QUEUE_NO_FRAME);
    assert_int_equal(queue_frame_new(&q), QUEUE_NO_FRAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(leaves_by_due_time_whatever_came_when, made, released),
        cmocka_unit_test_setup_teardown(first_in_first_out_on_ties, made, released),
        cmocka_unit_test_setup_teardown(constant_delay_stays_in_order_while_others_come, made,
                                        released),
        cmocka_unit_test_setup_teardown(order_is_that_of_a_search_while_some_overtake, made,
                                        released),
        cmocka_unit_test_setup_teardown(head_is_before_all_and_the_latest_head_first, made,
                                        released),
        cmocka_unit_test_setup_teardown(frames_are_apart_and_used_again, made, released),
    };

    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
