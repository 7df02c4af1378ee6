/*
 * cli: from words to an exit status.
 *
 * Nothing below exits: a sub-command returns its status, or -1 with an error, which is printed
 * here and mapped to a status.
 */
#ifndef ABBA_CLI_CLI_H
#define ABBA_CLI_CLI_H

#include "base/err.h"
#include "model/report.h"

/* Exit statuses; `exit_meanings` in help.h says the same in words. */
enum {
    STATUS_PASSED = 0,
    STATUS_REGRESSED = 1,
    STATUS_USAGE = 2,
    STATUS_INCOMPLETE = 3,
    STATUS_INCONCLUSIVE = 4,
    STATUS_ARCHIVE = 5,
};

/* What a process leaves behind. */
struct cli_end {
    int status;
    int signal; /* to be raised again; 0: none */
};

/* Does all that abba does. */
struct cli_end cli_main(int argc, char **argv);

/*
 * The status of a report. A failed or missing run is incomplete also where nothing is judged;
 * `must_judge`: so is a series that judged nothing.
 */
int status_of_report(const struct report *r, bool must_judge);

/* Asks for a signal to be raised again when all is closed. */
void cli_raise_later(int signal);

#endif
