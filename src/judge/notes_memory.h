/*
 * notes_memory: what a reader of a memory pass has to know: what each variant's figures count, and
 * what bounds of few pairs are.
 */
#ifndef ABBA_JUDGE_NOTES_MEMORY_H
#define ABBA_JUDGE_NOTES_MEMORY_H

#include "judge/assess.h"

/* Adds to the notes of a profile; nothing for one that is no memory pass. */
void notes_memory(struct report_profile *out, const struct assessment *x, const struct judging *j);

/* Takes the mark off a figure whose two columns count heaps of different kinds, and says so. */
void memory_mark(struct report_metric *m, const struct profile *of, const struct judging *j);

/* Whether a reason ("status: reason") is that a memory pass gives no such figure. */
bool notes_memory_withheld(const char *reason);

#endif
