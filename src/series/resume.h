/*
 * resume: goes on with an archive whose series ended before its time.
 *
 * A crash, SIGKILL, Ctrl-C, a power cut and a full disk all leave an archive whose samples are the
 * first runs of its plan. Its plan, not the files that it was made of, says what is left to run.
 * Only a pair that abba itself interrupted is run again, as one attempt more; see
 * archive/sequence.h. Nothing goes on with other programs, another abba or on another machine.
 */
#ifndef ABBA_SERIES_RESUME_H
#define ABBA_SERIES_RESUME_H

#include "archive/reader.h"
#include "archive/sequence.h"
#include "base/err.h"
#include "model/plan.h"

struct archive_writer;

struct resumption {
    struct archive *archive; /* as it was found */
    struct plan plan;        /* the archive's, with programs and input found here */
    struct sequence_next next;
    uint64_t left; /* runs, confirming stages that have not begun excepted */
    size_t lost;   /* runs at the end whose raw files did not reach the disk */
    struct archive_writer *writer;
};

/*
 * Opens the archive, holds it, checks all of it, and finds the programs. Nothing is changed or run.
 * ERR_ARCHIVE: damaged or none; ERR_UNFINISHED: it has no plan yet; ERR_USAGE: another abba writes
 * it; ERR_CONFIG: a program, the input or abba itself is not what it was. What is found is the
 * arena's or the resumption's own, to be closed also after an error.
 */
int resume_open(struct resumption *r, const char *folder, struct arena *arena, struct err *err);
void resume_close(struct resumption *r);

/* ERR_CONFIG naming the first difference if `now` is not the machine that the archive was begun on.
 */
int resume_check_machine(const struct resumption *r, const struct machine *now, struct err *err);

#endif
