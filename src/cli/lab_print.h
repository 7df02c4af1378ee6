/*
 * lab_print: a lab's report and its plan, in the format and to the place that the settings ask for.
 */
#ifndef ABBA_CLI_LAB_PRINT_H
#define ABBA_CLI_LAB_PRINT_H

#include "base/err.h"
#include "model/lab.h"
#include "model/lab_report.h"

struct settings;

int lab_print(const struct settings *s, const struct lab_report *r, const char *folder,
              const char *digest, struct err *err);

/* ERR_USAGE for a format that a lab has not. */
int lab_check_format(const struct settings *s, struct err *err);

int lab_print_plan(const struct settings *s, const struct lab *lab, struct err *err);

#endif
