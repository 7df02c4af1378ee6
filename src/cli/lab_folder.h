/*
 * lab_folder: where a lab's archives go, or are already.
 */
#ifndef ABBA_CLI_LAB_FOLDER_H
#define ABBA_CLI_LAB_FOLDER_H

#include "base/err.h"
#include "model/lab.h"

#include <stdbool.h>

struct settings;

/*
 * --archive's folder; else the newest below archive/ that holds this lab and is not complete; else
 * a new dated name there. *fresh: no lab is there yet. ERR_USAGE where the folder that was named
 * holds something else.
 */
int lab_folder_choose(struct settings *s, const struct lab *lab, const char **folder, bool *fresh,
                      struct err *err);

/* --archive's folder, which must not be there, or a new dated name. ERR_USAGE. */
int lab_folder_new(struct settings *s, const struct lab *lab, const char **folder, struct err *err);

#endif
