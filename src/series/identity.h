/*
 * identity: what really ran, gathered run by run.
 *
 * The runs of a variant under a profile are looked at until one of them shows every role and
 * nothing new: the second run with most programs. Where runs are so short that they show little or
 * nothing, one more is traced beside the series. What cannot be seen has the reason in the record.
 * Files are read and hashed after the run, before the next one's pause, each once; from then on
 * they are watched (programs.h).
 */
#ifndef ABBA_SERIES_IDENTITY_H
#define ABBA_SERIES_IDENTITY_H

#include "model/loaded.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "series/programs.h"

struct archive;
struct identity;

/* Looks at abba itself. `plan` and `programs` are borrowed. */
struct identity *identity_new(const struct plan *plan, struct programs *programs);
void identity_free(struct identity *id); /* safe on NULL */

/*
 * Takes over what the archive that a series goes on with says; roles that ran and are not in it get
 * the reason. The archive must outlive the identity.
 */
void identity_go_on(struct identity *id, const struct archive *a);

/* Whether the next run of that variant (index) under that profile (index) is to be looked at. */
bool identity_wants(const struct identity *id, size_t profile, size_t variant);

/* Takes what a run that was looked at showed. True: the record has something new. */
bool identity_take(struct identity *id, size_t profile, size_t variant, uint64_t run,
                   const struct outcome *outcome);

/*
 * Whether a run of its own is due, traced: once, after a run that came to its end was either
 * shorter than 50 ms, or shorter than a second with a role that nobody saw.
 */
bool identity_wants_traced(const struct identity *id, size_t profile, size_t variant);

/* Takes what that one showed. */
void identity_take_traced(struct identity *id, size_t profile, size_t variant,
                          const struct outcome *outcome);

/* The record as it stands; valid until the next one that takes. */
const struct loaded *identity_record(const struct identity *id);

#endif
