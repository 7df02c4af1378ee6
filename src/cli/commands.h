/*
 * commands: the sub-commands, one file each.
 */
#ifndef ABBA_CLI_COMMANDS_H
#define ABBA_CLI_COMMANDS_H

#include "cli/options.h"

extern const struct command_def command_compare;
extern const struct command_def command_run;
extern const struct command_def command_bisect;
extern const struct command_def command_report;
extern const struct command_def command_verify;
extern const struct command_def command_resume;
extern const struct command_def command_rerun;
extern const struct command_def command_pack;
extern const struct command_def command_unpack;
extern const struct command_def command_push;
extern const struct command_def command_pull;
extern const struct command_def command_notify;
extern const struct command_def command_import;
extern const struct command_def command_prune;
extern const struct command_def command_pin;
extern const struct command_def command_list;
extern const struct command_def command_net;
extern const struct command_def command_doctor;
extern const struct command_def command_completion;
extern const struct command_def command_manual;
extern const struct command_def command_help;
extern const struct command_def command_version;

#endif
