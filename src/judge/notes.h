/*
 * notes: what a report says in words, from figures that are already in it.
 */
#ifndef ABBA_JUDGE_NOTES_H
#define ABBA_JUDGE_NOTES_H

#include "judge/assess.h"

/* Fills out->notes: the weightiest first. */
void notes_profile(struct report_profile *out, const struct assessment *x, const struct judging *j);

/* Fills r->notes and r->host_note; profiles and assessments go together. */
void notes_series(struct report *r, const struct assessment *x, const struct judging *j);

#endif
