/*
 * sequence: whether an archive's samples are the runs of its plan: each once, in order.
 */
#ifndef ABBA_ARCHIVE_SEQUENCE_H
#define ABBA_ARCHIVE_SEQUENCE_H

#include "archive/reader.h"

/*
 * Runs are numbered 1, 2, ...; profiles come in the plan's order (one may be left out as a whole),
 * in each warm-ups, main stage, confirming stage; variants in the slots of model/order.h. The last
 * stage may end early; a block that begins again counts one attempt more. ERR_ARCHIVE names the
 * first line that does not follow.
 */
int sequence_check(const struct archive *a, struct err *err);

#endif
