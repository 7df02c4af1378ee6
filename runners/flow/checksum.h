/*
 * checksum: CRC-32C (Castagnoli, RFC 3720 appendix B.4), the checksum of SCTP and iSCSI, by
 * eight tables of 256 entries (slicing-by-8, Kounavis and Berry 2005). No special instruction
 * is used, so that two machines of one kind compute alike.
 */
#ifndef FLOW_CHECKSUM_H
#define FLOW_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Fills the tables; must be called once before crc32c. */
void crc32c_init(void);

/* Continues crc (0 to start) over len bytes. */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);

#endif
