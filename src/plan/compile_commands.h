/*
 * compile_commands: what a build executed to compile, as far as it shows that.
 */
#ifndef ABBA_PLAN_COMPILE_COMMANDS_H
#define ABBA_PLAN_COMPILE_COMMANDS_H

#include "base/strings.h"

/*
 * Adds the commands of compile_commands.json, of the tree's top or its folder build/; without one
 * the lines of the log that begin with a compiler or linker. The tree's own path is written ".".
 * What is beyond the first 200 or 64 KiB is counted in *cut.
 */
void compile_commands_find(const char *tree, const char *log, struct strings *commands, size_t *cut,
                           struct arena *arena);

#endif
