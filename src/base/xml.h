/*
 * xml: the texts of a small XML document, by expat, whose only user this is.
 *
 * Elements are told by path, as "ListPartsResult/Part/ETag"; namespaces' prefixes are left out,
 * attributes are not looked at.
 */
#ifndef ABBA_BASE_XML_H
#define ABBA_BASE_XML_H

#include "base/err.h"

#include <stddef.h>

/*
 * Calls `element` at the end of each element with its path and its own text, outer white space left
 * out. ERR_SYSTEM: it is no XML, says line and column; deeper than 16, or a text of more than 64
 * KiB, or a DTD.
 */
int xml_walk(const char *text, size_t len,
             void (*element)(void *user, const char *path, const char *text), void *user,
             struct err *err);

#endif
