/*
 * number: reads a number as a program printed it, in a format that was declared, never guessed.
 *
 * Blanks around it are ignored. Then an optional sign (-, + or U+2212), digits, an optional
 * fraction behind the declared decimal mark, and, where no group separator was used, an optional
 * exponent. Groups, where used, are in threes from the right and all separated by the declared
 * character; a number without any group is fine. Everything else is an error.
 */
#ifndef ABBA_MEASURE_NUMBER_H
#define ABBA_MEASURE_NUMBER_H

#include <stddef.h>

#include "base/err.h"
#include "model/runner.h"

/* ERR_MEASURE quotes the text and names the format. */
int number_parse(const char *text, size_t len, const struct number_format *format, double *out,
                 struct err *err);

#endif
