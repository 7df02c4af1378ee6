/*
 * lab_sums: what the SHA256SUMS of a lab lists, as the files are now.
 */
#ifndef ABBA_ARCHIVE_LAB_SUMS_H
#define ABBA_ARCHIVE_LAB_SUMS_H

#include "archive/checksums.h"
#include "archive/folder.h"
#include "model/lab.h"

/* Adds lab.json, report.json where it is there, and the SHA256SUMS of each archive that has one;
 * sorted. ERR_ARCHIVE. */
int lab_sums(const struct folder *f, const struct lab *lab, struct checksums *out, struct err *err);

#endif
