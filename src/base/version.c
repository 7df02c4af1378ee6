#include "base/version.h"

/* The build defines it for this file alone, so that a new commit rebuilds nothing else. */
#ifndef ABBA_VERSION
#define ABBA_VERSION "0.0.0"
#endif

const char *abba_version(void)
{
    return ABBA_VERSION;
}
