#include "cli/commands.h"

#include "base/buf.h"
#include "cli/again.h"
#include "cli/cli.h"
#include "cli/execute.h"
#include "cli/lab.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "report/report.h"

static const struct option_def options[] = {
    {.name = "archive",
     .arg = "DIR",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, archive),
     .names = NAMES_FOLDER,
     .absent = "archive/UTC-PROFILE-PLAN/",
     .help = "the new archive, which must not exist"},
    {.name = "allow-different",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, allow_different),
     .help = "run also where programs, libraries, input or isolation are not the archived ones; "
             "the report says which"},
    {.name = "identify",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, identify),
     .help = "keep host name, user and addresses in the new archive"},
    {.name = "keep-programs",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, keep_programs),
     .help = "put copies of what runs into the new archive, too"},
    {.name = "sign",
     .arg = "KEY",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, sign),
     .names = NAMES_FILE,
     .help = "sign the new archive with this key of ssh"},
    {.name = "no-lock",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, no_lock),
     .help = "do not wait for another series on this machine to end"},
    {.name = "plan",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, plan),
     .help = "check what is at hand and print the plan; run nothing"},
    {.letter = 'o',
     .name = "output",
     .arg = "FILE",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, output),
     .names = NAMES_FILE,
     .absent = "standard output",
     .help = "write what came of it to this file"},
};
static const struct option_group group_rerun = {"Running again", options,
                                                sizeof options / sizeof *options};

static const struct option_group *const groups[] = {&group_rerun, &group_plain, &group_help, NULL};

static const char *const examples[] = {
    "abba rerun archive/20240506T070809Z-flow-pingpong-1a2b3c4d",
    "the same plan, programs and seeds: do the verdicts come out again?",
    "abba rerun lab --archive lab-again",
    "every comparison of a lab, with one summary",
    "abba rerun ARCHIVE --allow-different",
    "with what is here now, whatever it is",
    NULL};

static int on_done(void *user, const struct report *now, const struct archive *a,
                   const char *folder, const char *digest, struct err *err)
{
    struct again *x = user;
    struct report_style style = terminal_style(x->s);
    struct reproduction r;
    struct buf text = BUF_INIT;

    again_compare(x, now, a, &r);
    style.archive = folder;
    style.digest = digest;
    reproduction_text(&r, &style, &text);
    int rc = terminal_result(x->s, &text, err);
    buf_release(&text);
    return rc < 0 ? -1 : again_status(r.outcome);
}

static int rerun(struct settings *s, struct err *err)
{
    const char *folder = s->operands.items[0];
    struct again x = {.s = s};
    struct planning planning;
    int status = -1;

    if (lab_is_one(folder))
        return lab_rerun(s, folder, err);
    if (planning_init(&planning, s, err) == 0 && again_open(&x, folder, &planning, err) == 0 &&
        again_check(&x, &planning, err) == 0)
        status = s->plan ? planning_show(s, &x.rerun.plan, err)
                         : execute_again(s, &x.rerun.plan, x.rerun.archive, on_done, &x, err);
    again_close(&x);
    return status;
}

const struct command_def command_rerun = {
    .name = "rerun",
    .operands = "ARCHIVE",
    .summary = "run an archive's plan again and say whether its verdicts are reproduced",
    .about =
        "Runs the archive's own plan, with its seeds, into a new archive, and compares. "
        "'reproduced': every metric that was judged gets the same verdict, and the bounds of its "
        "change have a point in common with those of before. 'cannot tell': one of both series is "
        "incomplete or invalid.\n"
        "\n"
        "Programs, libraries and input must be those of the archive, else the differing ones are "
        "named and nothing is run without --allow-different. Programs are looked for as the "
        "series was given them: give the command in the same folder. Of an archive made with "
        "--keep-programs the kept ones are taken where those at hand are missing or differ: "
        "libraries by LD_LIBRARY_PATH, or, where the dynamic loader differs as well, through the "
        "kept loader; the report says so. A network is made by the back end that it had; where "
        "that is not to be had, nothing is run. On another machine only changes are compared, "
        "never absolute figures.\n"
        "\n"
        "Of a lab (run --series) every comparison is run again, into a lab of its own, with one "
        "summary: reproduced where each comparison that judged something is. What differs of any "
        "of them is known before the first run. One that was interrupted is finished by resume.\n"
        "\n"
        "Exit 0: reproduced, or nothing was judged; 1: not reproduced; 2: something differs, or "
        "wrong usage; 3: cannot tell; 5: the archive is damaged, or is not one.",
    .groups = groups,
    .examples = examples,
    .min_operands = 1,
    .max_operands = 1,
    .names = NAMES_FOLDER,
    .run = rerun,
};
