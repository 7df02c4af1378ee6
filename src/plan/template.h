/*
 * template: fills {NAME} inside one item of a command.
 *
 * Names: program, port, scratch, run, seed, ROLE.address, shipped.NAME (the program of the runner
 * NAME, where a workload needs a second one), every load parameter, and the
 * variant's files: {lib} is the path of its file "lib", {lib.folder} its folder. A load value is
 * written in its base unit (time in seconds, rate in bit/s, size in bytes, percent as a number);
 * {NAME:UNIT} writes it in another ({duration:ms}, {rate:Mbit/s}). "{{" is a brace. An unknown name
 * is an error that lists the known ones.
 */
#ifndef ABBA_PLAN_TEMPLATE_H
#define ABBA_PLAN_TEMPLATE_H

#include "base/err.h"
#include "model/plan.h"

struct arena;

/* What differs from run to run; everything else comes from plan, profile and variant. */
struct template_values {
    uint16_t port;
    const char *scratch;
    uint64_t run, seed;
};

int template_fill(const char *text, const struct plan *plan, const struct profile *profile,
                  const struct variant *variant, const struct template_values *values,
                  const char **out, struct arena *arena, struct err *err);

/* A variant's own arguments and environment are plain text but for its files, filled in here. */
const char *template_fill_files(const char *text, const struct variant *v, struct arena *arena);

/* Whether the text holds something that differs from run to run: port, scratch, run or seed. */
bool template_varies(const char *text);

#endif
