/*
 * verified: an archive, or the folder of several, that was found whole: what verify and notify
 * stand on.
 */
#ifndef ABBA_CLI_VERIFIED_H
#define ABBA_CLI_VERIFIED_H

#include "archive/reader.h"
#include "model/lab_report.h"

struct buf;
struct option_group;
struct settings;

extern const struct option_group group_expected; /* --digest, --signer */

struct verified {
    struct archive *a; /* and its report, computed again */
    struct report report;
    struct lab_archive *l; /* or this; then `a` is NULL */
    struct lab_report lab_report;
    const char *digest;
};

/*
 * Checks structure, checksums, plan and runs, computes the reports again and compares them byte for
 * byte, and looks at digest and signature as the options say. `text` gets lines on what was found.
 * Reports belong to the settings' arena and what was opened. ERR_ARCHIVE, ERR_UNFINISHED,
 * ERR_USAGE.
 */
int verified_open(struct verified *v, struct settings *s, const char *folder, struct buf *text,
                  struct err *err);
void verified_close(struct verified *v); /* safe after a failure, too */

#endif
