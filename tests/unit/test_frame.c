/* Frame: marks and faults in a packet on its way. */
#include "check.h"

#include "net/frame.h"

#include <string.h>

#define ETHERNET 14

static unsigned sum16(const unsigned char *p, int bytes)
{
    unsigned sum = 0;

    for (int i = 0; i < bytes; i += 2)
        sum += (unsigned)(p[i] << 8 | p[i + 1]);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

static void ip4(unsigned char *frame, unsigned char tos, unsigned char id)
{
    unsigned sum;

    memset(frame, 0, 60);
    frame[12] = 0x08;
    memcpy(frame + ETHERNET, "\x45\0\0\x2e\0\0\0\0\x40\x11\0\0\x7f\0\0\x01\x7f\0\0\x01", 20);
    frame[ETHERNET + 1] = tos;
    frame[ETHERNET + 5] = id;
    sum = ~sum16(frame + ETHERNET, 20) & 0xffff;
    frame[ETHERNET + 10] = (unsigned char)(sum >> 8);
    frame[ETHERNET + 11] = (unsigned char)sum;
}

static void ip4_mark_keeps_the_header_checksum_right(void **state)
{
    unsigned char frame[60];

    (void)state;
    for (int tos = 0; tos < 256; tos++) {
        for (int id = 0; id < 256; id++) {
            ip4(frame, (unsigned char)tos, (unsigned char)id);
            assert_int_equal(frame_ecn_capable(frame, 60), (tos & 3) != 0);
            frame_ecn_mark(frame);
            assert_int_equal(frame[ETHERNET + 1], tos | 3);
            assert_int_equal(sum16(frame + ETHERNET, 20), 0xffff);
        }
    }
}

static void ip6_mark_leaves_class_and_flow_label(void **state)
{
    unsigned char frame[60] = {0};

    (void)state;
    frame[12] = 0x86;
    frame[13] = 0xdd;
    frame[ETHERNET] = 0x6b;
    frame[ETHERNET + 1] = 0xcf;
    assert_false(frame_ecn_capable(frame, 60));
    frame[ETHERNET + 1] = 0xef;
    assert_true(frame_ecn_capable(frame, 60));
    frame_ecn_mark(frame);
    assert_int_equal(frame[ETHERNET], 0x6b);
    assert_int_equal(frame[ETHERNET + 1], 0xff);
}

static void neither_short_nor_other_packets_can_be_marked(void **state)
{
    unsigned char frame[60];

    (void)state;
    ip4(frame, 2, 0);
    assert_true(frame_ecn_capable(frame, 34));
    assert_false(frame_ecn_capable(frame, 33));
    assert_false(frame_ecn_capable(frame, 13));
    frame[13] = 0x06;
    assert_false(frame_ecn_capable(frame, 60));
    frame[12] = 0x86;
    frame[13] = 0xdd;
    frame[ETHERNET + 1] = 0x20;
    assert_true(frame_ecn_capable(frame, 54));
    assert_false(frame_ecn_capable(frame, 53));
}

static void flip_changes_one_bit_and_back(void **state)
{
    unsigned char frame[60] = {0};

    (void)state;
    frame_flip(frame, 0);
    assert_int_equal(frame[0], 1);
    frame_flip(frame, 8 * 60 - 1);
    assert_int_equal(frame[59], 0x80);
    frame_flip(frame, 0);
    assert_int_equal(frame[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ip4_mark_keeps_the_header_checksum_right),
        cmocka_unit_test(ip6_mark_leaves_class_and_flow_label),
        cmocka_unit_test(neither_short_nor_other_packets_can_be_marked),
        cmocka_unit_test(flip_changes_one_bit_and_back),
    };

    return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
