/*
 * check: what every unit test includes. cmocka, and comparisons of doubles as doubles (cmocka's
 * assert_float_equal casts to float).
 */
#ifndef ABBA_TESTS_CHECK_H
#define ABBA_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

static inline void check_near_at(double got, double want, double tolerance, const char *text,
                                 const char *file, int line)
{
    bool same = got >= want && got <= want; /* infinities too */

    if (same || fabs(got - want) <= tolerance)
        return;
    print_error("%s is %.17g, not %.17g (within %g)\n", text, got, want, tolerance);
    _fail(file, line);
}

/* |got - want| <= tolerance; a nan is never near, an infinity only to itself. */
#define check_near(got, want, tolerance)                                                           \
    check_near_at((got), (want), (tolerance), #got, __FILE__, __LINE__)

/* Within `relative` of `want`. */
#define check_relative(got, want, relative)                                                        \
    check_near_at((got), (want), fabs(want) * (relative), #got, __FILE__, __LINE__)

/* Equal as numbers, to the last bit. */
#define check_same(got, want) check_near_at((got), (want), 0.0, #got, __FILE__, __LINE__)

/* To nine decimals, as printed tables have it. */
#define check_nine(got, want) check_near((got), (want), 0.5000001e-9)

#endif
