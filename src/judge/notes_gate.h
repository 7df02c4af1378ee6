/*
 * notes_gate: what a report says of changes that were agreed to, of earlier attempts, and of the
 * control.
 */
#ifndef ABBA_JUDGE_NOTES_GATE_H
#define ABBA_JUDGE_NOTES_GATE_H

#include "judge/assess.h"

/* Adds what the control, another layout of the baseline's source, did to the judged figures. */
void notes_controls(struct report_profile *out, const struct judging *j);

/* Adds warnings of agreements that have expired, or that nothing needs. */
void notes_accepted(struct report *r, const struct judging *j);

/* Adds the verdicts of earlier series of the same plan. */
void notes_attempts(struct report *r, const struct judging *j);

#endif
