/*
 * home: keeps the home folder out of a plan, which is archived and hashed as it is.
 *
 * A plan says ${HOME} where a person's arguments named the folder; what is executed or opened has
 * the folder again. A home that says nothing about its owner (/root, /) is left alone.
 */
#ifndef ABBA_PLAN_HOME_H
#define ABBA_PLAN_HOME_H

#include "base/strings.h"

struct arena;

/* The text with ${HOME} in place of the home folder; without that, `text` itself. NULL: NULL. */
const char *home_hide(const char *text, struct arena *arena);

/* The text with the home folder in place of ${HOME}. */
const char *home_show(const char *text, struct arena *arena);

#endif
