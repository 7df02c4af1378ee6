#include "cli/commands.h"

#include "base/buf.h"
#include "cli/execute.h"
#include "cli/lab.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "judge/judge.h"
#include "series/resume.h"

static const struct option_def keeping[] = {
    {.name = "no-lock",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, no_lock),
     .help = "do not wait for another series on this machine to end"},
    {.name = "sign",
     .arg = "KEY",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, sign),
     .names = NAMES_FILE,
     .help = "sign the archive when it is whole with this key of ssh"},
    {.name = "plan",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct settings, plan),
     .help = "print where the series goes on, and its plan; run and change nothing"},
};
static const struct option_group group_resume = {"Going on", keeping, 3};

static const struct option_group *const groups[] = {&group_resume, &group_output, &group_help,
                                                    NULL};

static const char *const examples[] = {
    "abba resume archive/20240506T070809Z-flow-pingpong-1a2b3c4d",
    "the runs that are left, and the report of the whole series", "abba resume ARCHIVE --plan",
    "where it would go on, and how many runs that are", NULL};

/* Whether the confirming stage of the profile where the archive ends is still to come. */
static bool lacks_confirm(const struct resumption *r)
{
    const struct profile *p = &r->plan.profiles[r->next.profile];

    return r->next.stage == STAGE_MAIN && plan_confirm(&r->plan, p) > 0 &&
           judge_needs_confirm(r->archive, p->name);
}

/* Whether nothing is left: neither runs nor the closing. */
static bool is_whole(const struct resumption *r)
{
    return r->archive->finished && ((r->left == 0 && !lacks_confirm(r)) ||
                                    (r->archive->sample_count == 0 && plan_identical(&r->plan)));
}

static void tell_place(const struct settings *s, const struct resumption *r)
{
    const struct profile *p = &r->plan.profiles[r->next.profile];
    struct buf text = BUF_INIT;

    if (r->lost > 0) {
        buf_printf(&text,
                   "raw files of the last %zu runs did not reach the disk: these are moved "
                   "to raw/torn-N and made again",
                   r->lost);
        terminal_note(s, text.data);
        buf_clear(&text);
    }
    buf_printf(&text, "goes on after %zu runs in '%s', stage %s, with %llu runs to make",
               r->archive->sample_count, p->name, sample_stage_name(r->next.stage),
               (unsigned long long)r->left);
    if (r->next.attempt > 1)
        buf_printf(&text, "; the pair that was interrupted is run again as attempt %u",
                   r->next.attempt);
    terminal_note(s, text.data);
    buf_release(&text);
}

static int go_on(struct settings *s, struct resumption *r, struct err *err)
{
    const char *folder = s->operands.items[0];

    if (resume_open(r, folder, &s->arena, err) != 0)
        return -1;
    if (is_whole(r)) {
        err_set(err, ERR_USAGE, "archive '%s' is finished: all of its %zu runs are there", folder,
                r->archive->sample_count);
        return err_hint(err, "abba report shows what came of it, abba rerun runs it anew");
    }
    tell_place(s, r);
    return execute_resume(s, r, err);
}

static int resume(struct settings *s, struct err *err)
{
    struct resumption r;
    int status;

    if (lab_is_one(s->operands.items[0]))
        return lab_go_on(s, s->operands.items[0], err);
    status = go_on(s, &r, err);

    resume_close(&r);
    return status;
}

const struct command_def command_resume = {
    .name = "resume",
    .operands = "ARCHIVE",
    .summary = "go on with a series that a crash, Ctrl-C, a reboot or a full disk ended",
    .about =
        "Makes the runs of the archive's plan that are not there yet, adds them to the archive, "
        "and reports on the whole. A pair that abba itself interrupted is run again, both of its "
        "runs, as attempt 2, which then counts; the report says how many were. A run that failed "
        "by itself is never run again. What a crash left half written is kept as raw/torn-N.\n"
        "\n"
        "Nothing goes on unless programs, input, machine and abba are those that it was begun "
        "with (exit 2). Of a folder that --series made, the comparison that ended early and those "
        "after it are run. Give the command where the series was started: programs are looked for "
        "as they were given. The exit status is that of the verdict; 2 also says that nothing is "
        "left to run or that another abba writes the archive, 5 that it is damaged.",
    .groups = groups,
    .examples = examples,
    .min_operands = 1,
    .max_operands = 1,
    .names = NAMES_FOLDER,
    .run = resume,
};
