/*
 * table: variants side by side under one profile, each with figures of its own.
 *
 * Which metrics have a column: those that the profile's runner names ("table"), else a few that
 * most runners have; then every other one that is judged. What a heap was asked for comes from the
 * profile's memory pass where there is one. A cell is over all runs of its variant that have the
 * figure, whatever became of the other variants, and says why runs lack it.
 */
#ifndef ABBA_JUDGE_TABLE_H
#define ABBA_JUDGE_TABLE_H

#include "judge/assess.h"

/* The metrics that have a column for the profile with that index of all. In the arena. */
void table_columns(struct report_column **out, size_t *count, const struct assessment *all,
                   size_t profile, const struct judging *j);

/* Lays the runs of the stage that decided out again, which are given back profile by profile: until
 * `tables` is released. */
void table_stage(struct stage *s, const struct assessment *all, size_t profile,
                 const struct judging *j, struct arena *tables);

/* One metric of one variant of a stage. */
void table_cell(struct report_cell *cell, const struct stage *s, const char *metric, size_t variant,
                struct arena *arena);

/* Fills r->profiles[profile].table where there is more than one candidate. */
void table_fill(struct report *r, const struct assessment *all, size_t profile,
                const struct judging *j);

#endif
