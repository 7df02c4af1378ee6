/*
 * record: length-prefixed records with a CRC-32, packed into one store and found again by number.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stddef.h>
#include <stdint.h>

struct record_store;

/* A store for `count` records of at most `size` bytes each. NULL: no memory. */
struct record_store *record_store_new(size_t count, size_t size);
void record_store_free(struct record_store *s);

/* Appends a record. -1: the store is full. */
int record_append(struct record_store *s, const void *data, size_t size);

/* The record of that number (from 0) if its sum is right; its size, or -1. */
long record_read(const struct record_store *s, size_t number, const void **data);

/* CRC-32 of IEEE 802.3. */
uint32_t record_sum(const void *data, size_t size);

#endif
