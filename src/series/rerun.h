/*
 * rerun: the plan of an archive, made ready to be run again.
 */
#ifndef ABBA_SERIES_RERUN_H
#define ABBA_SERIES_RERUN_H

#include "archive/reader.h"
#include "base/err.h"
#include "model/plan.h"

struct rerun {
    struct archive *archive;
    char taken_out[64];     /* temporary folder of what the archive kept; "" if nothing is needed */
    struct strings kept;    /* what comes from there, and how it is used */
    struct plan plan;       /* the archive's, with what is at hand in the place of what differs */
    struct strings differs; /* what of programs, libraries and input is not the archived one */
    struct strings notes;   /* what else is not as it was: abba itself */
};

/*
 * Opens and verifies a finished archive, and finds programs, libraries and input here. `isolation`
 * is what this machine reaches. What differs is listed; the plan is then another one, with the
 * hashes of what is here. ERR_ARCHIVE: damaged or none; ERR_UNFINISHED: abba resume finishes it;
 * ERR_CONFIG: a program or the input is missing, or a profile's CPUs are. To be closed also after
 * an error.
 *
 * What the archive kept (--keep-programs) takes the place of programs, input and libraries that are
 * missing or differ. Libraries: all of the archive's, for all variants alike, through
 * LD_LIBRARY_PATH; where the loader differs too, programs are started through the archive's loader,
 * which reaches them and not what they start.
 */
int rerun_open(struct rerun *r, const char *folder, const char *isolation, struct arena *arena,
               struct err *err);
void rerun_close(struct rerun *r);

/* Adds a text for every file of `now` that bears the name of one of `then` and is none of them, in
 * the arena: a library that was found elsewhere than was meant. */
void rerun_strangers(const struct loaded *then, const struct loaded *now, struct strings *out,
                     struct arena *arena);

#endif
