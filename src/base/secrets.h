/*
 * secrets: passwords and tokens in commands, addresses and settings, and texts without them.
 *
 * What counts as one: the value of a name that says so (PASSWORD=..., --api-token ..., "Cookie:
 * ..."), user and password of an address, a word after "Bearer" or "Basic", and tokens that are
 * known by their looks (GitHub, GitLab, Slack, AWS, JSON web tokens, private keys ...). It stands
 * as
 * *** afterwards. A secret that looks like none of these is not recognised.
 */
#ifndef ABBA_BASE_SECRETS_H
#define ABBA_BASE_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strings.h"

struct arena;

#define SECRETS_MASK "***"

/* Whether a variable or option of that name has a secret for its value. */
bool secrets_name(const char *name, size_t len);

/*
 * The text without its secrets, in the arena; `text` itself where it has none. `found` (may be
 * NULL) gets those that were there.
 */
const char *secrets_mask(const char *text, struct strings *found, struct arena *arena);

/* The same for item `at` of a command line: "--password" says what the next item is. */
const char *secrets_mask_item(const struct strings *items, size_t at, struct strings *found,
                              struct arena *arena);

/* The same for the value of a variable. */
const char *secrets_mask_setting(const char *name, const char *value, struct strings *found,
                                 struct arena *arena);

#endif
