#include "net/frame.h"

#define IP FRAME_HEADER_BYTES /* where the IP header begins */
#define IP4_HEADER_BYTES 20u
#define IP6_HEADER_BYTES 40u
#define IP4_CHECKSUM (IP + 10)
#define CE 3u
#define IP6_CE 0x30u /* the traffic class lies across two bytes */

static unsigned type_of(const unsigned char *frame)
{
    return ((unsigned)frame[12] << 8) | frame[13];
}

static bool is_ip4(const unsigned char *frame)
{
    return type_of(frame) == 0x0800;
}

bool frame_ecn_capable(const unsigned char *frame, uint32_t bytes)
{
    if (bytes < FRAME_HEADER_BYTES)
        return false;
    if (is_ip4(frame))
        return bytes >= IP + IP4_HEADER_BYTES && (frame[IP + 1] & CE);
    return type_of(frame) == 0x86dd && bytes >= IP + IP6_HEADER_BYTES && (frame[IP + 1] & IP6_CE);
}

/* A header word changes from old to new: RFC 1624, equation 3. */
static void mark_ip4(unsigned char *frame)
{
    uint32_t sum = ((uint32_t)frame[IP4_CHECKSUM] << 8) | frame[IP4_CHECKSUM + 1];
    uint32_t old = frame[IP + 1];
    uint32_t marked = old | CE;

    sum = (~sum & 0xffff) + (~old & 0xffff) + marked;
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~((sum & 0xffff) + (sum >> 16));
    frame[IP + 1] = (unsigned char)marked;
    frame[IP4_CHECKSUM] = (unsigned char)(sum >> 8);
    frame[IP4_CHECKSUM + 1] = (unsigned char)sum;
}

void frame_ecn_mark(unsigned char *frame)
{
    if (is_ip4(frame))
        mark_ip4(frame);
    else
        frame[IP + 1] |= IP6_CE;
}

void frame_flip(unsigned char *frame, uint32_t bit)
{
    frame[bit / 8] ^= (unsigned char)(1U << (bit % 8));
}
