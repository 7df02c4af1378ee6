/*
 * version: which abba this is.
 */
#ifndef ABBA_BASE_VERSION_H
#define ABBA_BASE_VERSION_H

/* The version as text, such as "0.2.0", "0.2.0-14-gabc1234" or "...-dirty"; never NULL. */
const char *abba_version(void);

#endif
