/*
 * For clang-tidy alone, which sees one source at a time: what the functions of base/err.h return is
 * -1, always. Without knowing it, the analyzer follows paths where a failure passes for success.
 */
#ifndef ABBA_TESTS_ANALYZE_H
#define ABBA_TESTS_ANALYZE_H

#include "base/err.h"

static inline int err_result(void)
{
    return -1;
}

#define err_set(...) (err_set(__VA_ARGS__), err_result())
#define err_sys(...) (err_sys(__VA_ARGS__), err_result())
#define err_wrap(...) (err_wrap(__VA_ARGS__), err_result())
#define err_hint(...) (err_hint(__VA_ARGS__), err_result())

#endif
