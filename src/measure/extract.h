/*
 * extract: figures out of a run's texts, by a pattern or a JSON pointer.
 *
 * JSON is one document, or JSON Lines: one document a line, each of which has the figure or not.
 * A metric's default is exactly one match; none and several are errors that name the count.
 */
#ifndef ABBA_MEASURE_EXTRACT_H
#define ABBA_MEASURE_EXTRACT_H

#include "base/err.h"
#include "measure/outputs.h"
#include "model/runner.h"

struct pattern;

/* An extraction with its pattern compiled. */
struct extract {
    const struct extraction *from; /* borrowed */
    struct pattern *pattern;       /* NULL: a JSON pointer */
    int group;                     /* number of the group `value`; 0: the whole match */
};

/* ERR_CONFIG for a pattern that does not compile or a file outside the scratch folder. */
int extract_init(struct extract *e, const struct extraction *from, struct err *err);
void extract_release(struct extract *e);

/* What kind of failure it was: nothing there, or something that must not be believed. */
enum extract_result { EXTRACT_OK, EXTRACT_MISSING, EXTRACT_INVALID };

/*
 * The metric's figure in the unit that the program prints: as many matches as `m` wants, read in
 * `numbers`, reduced. ERR_MEASURE says what was wrong.
 */
enum extract_result extract_number(const struct extract *e, const struct runner_metric *m,
                                   const struct number_format *numbers, struct outputs *outputs,
                                   double *out, struct err *err);

/*
 * The figures that extract_number would reduce, one a match, in an array that the caller frees:
 * their number; 0 if that is not possible.
 */
size_t extract_each(const struct extract *e, const struct runner_metric *m,
                    const struct number_format *numbers, struct outputs *outputs, double **values);

/*
 * The first match of a pattern, without regard to numbers: 1 and its text (borrowed from the
 * outputs), 0 if there is none, -1 (ERR_MEASURE) if that cannot be said.
 */
int extract_text(const struct extract *e, struct outputs *outputs, const char **text, size_t *len,
                 struct err *err);

#endif
