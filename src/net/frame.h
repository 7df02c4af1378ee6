/*
 * frame: what is changed in a packet on its way. A frame begins with its Ethernet header.
 */
#ifndef ABBA_NET_FRAME_H
#define ABBA_NET_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#define FRAME_HEADER_BYTES 14u
#define FRAME_MAC_BYTES 6u

/* Whether its IPv4 or IPv6 header says that it can carry a mark (RFC 3168), or carries one. */
bool frame_ecn_capable(const unsigned char *frame, uint32_t bytes);

/* Marks it as having met congestion, IPv4's header checksum too. For capable frames. */
void frame_ecn_mark(unsigned char *frame);

/* Flips bit `bit` below 8 * bytes; bit 0 is the lowest of the first byte. */
void frame_flip(unsigned char *frame, uint32_t bit);

#endif
