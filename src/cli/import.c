#include "cli/commands.h"

#include "archive/reader.h"
#include "base/buf.h"
#include "base/files.h"
#include "cli/archives.h"
#include "cli/cli.h"
#include "cli/execute.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "judge/judge.h"
#include "report/figures.h"
#include "series/import.h"

#include <string.h>

#define AT(field) offsetof(struct settings, field)

static const struct option_def logs[] = {
    {.name = "runner",
     .arg = "NAME|FILE",
     .kind = OPTION_TEXT,
     .offset = AT(runner),
     .names = NAMES_FILE,
     .help = "the runner that says where figures stand in the logs; must be given"},
    {.letter = 'b',
     .name = "baseline",
     .arg = "LOG",
     .kind = OPTION_LIST,
     .offset = AT(baselines),
     .names = NAMES_FILE,
     .help = "what a run of the baseline printed: FILE, or ROLE=FILE,ROLE.stderr=FILE,... for a "
             "runner with several roles; may be given several times"},
    {.letter = 'c',
     .name = "candidate",
     .arg = "LOG",
     .kind = OPTION_LIST,
     .offset = AT(candidates),
     .names = NAMES_FILE,
     .help = "the same of the candidate"},
    {.name = "paired",
     .kind = OPTION_FLAG,
     .offset = AT(paired),
     .help =
         "the first runs of both were made back to back, and the second ones, ...: only then is "
         "there a change to be judged"},
    {.name = "split",
     .arg = "PATTERN",
     .kind = OPTION_TEXT,
     .offset = AT(split),
     .absent = "a log is one run",
     .help =
         "a log holds several runs, each of which ends with the line where this matches; a group "
         "(?<profile>...) names the profile; what the runner calls sacrificial are warm-ups"},
};
static const struct option_group group_logs = {"The logs", logs, 5};

static const struct option_def judging[] = {
    {.name = "threshold",
     .arg = "METRIC=PERCENT",
     .kind = OPTION_LIST,
     .offset = AT(thresholds),
     .names = NAMES_METRIC,
     .help = "with --paired: how far the metric may go in its worse direction"},
    {.name = "thresholds",
     .arg = "NAME|FILE",
     .kind = OPTION_TEXT,
     .offset = AT(thresholds_file),
     .names = NAMES_FILE,
     .absent = "nothing is judged",
     .help = "with --paired: a set of thresholds and the rule that judges"},
    {.name = "archive",
     .arg = "DIR",
     .kind = OPTION_TEXT,
     .offset = AT(archive),
     .names = NAMES_FOLDER,
     .absent = "archive/UTC-RUNNER-imported-PLAN/",
     .help = "the archive's folder, which must not exist"},
    {.name = "identify",
     .kind = OPTION_FLAG,
     .offset = AT(identify),
     .help = "keep host name, user and addresses in the archive instead of placeholders"},
};
static const struct option_group group_judging_logs = {"Judging and keeping", judging, 4};

static const struct option_group *const groups[] = {&group_logs, &group_judging_logs, &group_output,
                                                    &group_help, NULL};

static const char *const examples[] = {
    "abba import --runner rtc-message run1.log run2.log",
    "an archive of two runs, and what their figures are",
    "abba import --runner rtc-message --paired -b a1.log -c b1.log",
    "a pair, and the change within it; further -b and -c are further pairs",
    "abba import --runner rtc-message --split '^.Scenario (?<profile>.+) run' LOG",
    "a log of many runs, a profile for each scenario",
    NULL};

static int check_settings(const struct settings *s, struct err *err)
{
    bool sides = s->baselines.count > 0 || s->candidates.count > 0;

    if (!s->runner) {
        err_set(err, ERR_USAGE, "no runner is given");
        return err_hint(err, "--runner NAME; 'abba list runners' shows what there is");
    }
    if (sides && s->operands.count > 0)
        return err_set(err, ERR_USAGE, "'%s' is neither a --baseline nor a --candidate",
                       s->operands.items[0]);
    if (!sides && s->operands.count == 0)
        return err_set(err, ERR_USAGE, "no logs are given");
    if (sides && (s->baselines.count == 0 || s->candidates.count == 0))
        return err_set(err, ERR_USAGE, "no --%s is given",
                       s->baselines.count ? "candidate" : "baseline");
    if (s->paired && !sides)
        return err_set(err, ERR_USAGE, "option '--paired' needs --baseline and --candidate");
    if (!s->paired && (s->thresholds.count > 0 || s->thresholds_file)) {
        err_set(err, ERR_USAGE, "runs that are no pairs are not judged");
        return err_hint(err, "--paired says that the n-th logs of both sides belong together");
    }
    return 0;
}

static int choose_folder(struct settings *s, const struct plan *plan, const char **folder,
                         struct err *err)
{
    *folder = s->archive;
    if (s->archive)
        return files_mkdirs(files_dirname(&s->arena, s->archive), err);
    *folder = archives_dated(arena_printf(&s->arena, "%.51s-imported", plan->runners[0].name),
                             plan->sha256, &s->arena);
    return files_mkdirs(ARCHIVES, err);
}

static int on_report(void *user, const char *folder, struct buf *out, struct err *err)
{
    struct archive *a = NULL;
    struct report r;
    struct settings *s = user;

    if (archive_open(&a, folder, err) < 0)
        return -1;
    int rc = judge_archive(a, &r, &s->arena, err);
    if (rc == 0)
        report_encode(&r, out);
    archive_close(a);
    return rc;
}

static int show(struct settings *s, const char *folder, struct err *err)
{
    struct archive *a = NULL;
    struct report r;
    int status = -1;

    if (archive_open(&a, folder, err) < 0)
        return -1;
    if (judge_archive(a, &r, &s->arena, err) == 0 &&
        execute_print(s, &r, a, folder, a->digest, err) == 0)
        status = status_of_report(&r, false);
    archive_close(a);
    return status;
}

static int read_logs(struct settings *s, struct import **im, struct err *err)
{
    struct import_variant sides[] = {{"baseline", s->baselines}, {"candidate", s->candidates}};
    struct import_variant one = {"imported", s->operands};
    const struct import_request request = {
        .runner = s->runner,
        .variants = s->operands.count ? &one : sides,
        .variant_count = s->operands.count ? 1 : 2,
        .paired = s->paired,
        .split = s->split,
        .thresholds = s->thresholds,
        .thresholds_file = s->thresholds_file,
    };

    return import_new(im, &request, err);
}

static int import(struct settings *s, struct err *err)
{
    struct import_options options = {.identify = s->identify, .report = on_report, .user = s};
    struct import *im = NULL;
    char digest[65];
    int status = -1;

    if (check_settings(s, err) < 0 || read_logs(s, &im, err) < 0)
        return -1;
    for (size_t i = 0; i < import_notes(im)->count; i++)
        terminal_note(s, import_notes(im)->items[i]);
    if (choose_folder(s, import_plan(im), &options.folder, err) == 0 &&
        import_write(im, &options, digest, err) == 0)
        status = show(s, options.folder, err);
    import_free(im);
    return status;
}

const struct command_def command_import = {
    .name = "import",
    .operands = "[LOG...]",
    .summary = "make an archive of output that earlier runs left",
    .about =
        "Reads figures out of logs as a runner says, and makes an archive of them that is marked "
        "as imported. What only abba could have measured (CPU time, memory, noise) is absent. "
        "Logs of one program, or of two whose runs were not made in pairs, are summed up and not "
        "judged; with --paired they are judged like a series of abba's own.",
    .groups = groups,
    .examples = examples,
    .min_operands = 0,
    .max_operands = -1,
    .names = NAMES_FILE,
    .run = import,
};
