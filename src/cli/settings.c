#include "cli/settings.h"

#include "base/clock.h"
#include "cli/options.h"

#include <stddef.h>
#include <string.h>

#define AT(member) offsetof(struct settings, member)
#define GROUP(name, heading, list)                                                                 \
    const struct option_group name = {heading, list, sizeof(list) / sizeof(list[0])}

void settings_init(struct settings *s)
{
    memset(s, 0, sizeof(*s));
    arena_init(&s->arena);
    s->pairs = s->confirm = s->warmup = -1;
    s->pause_ns = s->timeout_ns = -1;
}

void settings_release(struct settings *s)
{
    arena_release(&s->arena);
}

static const char *const color_choices[] = {"auto", "always", "never", "ansi", NULL};
static const char *const format_choices[] = {"text", "markdown", "json", "junit", "csv", NULL};

/* What a plan takes: model/profile.c. */
#define MAX_PAIRS 10000
#define MIN_TIMEOUT_NS 1000000
#define HOUR_NS (3600 * 1000000000LL)

static const struct option_def pairs[] = {
    {.letter = 'd',
     .name = "duration",
     .arg = "MS",
     .kind = OPTION_INTEGER,
     .offset = AT(duration_ms),
     .preset = "5000",
     .min = 1,
     .max = 86400000,
     .help = "how long each command is run in total, in milliseconds; a warm-up run of each "
             "command tells how many pairs fit"},
    {.letter = 'n',
     .name = "pairs",
     .arg = "N",
     .kind = OPTION_INTEGER,
     .offset = AT(pairs),
     .min = 1,
     .max = MAX_PAIRS,
     .absent = "an even number from 6 to 5000 that fits the duration",
     .help = "number of pairs; a pair is one run of the baseline and one of the candidate"},
    {.letter = 'w',
     .name = "warmup",
     .arg = "N",
     .kind = OPTION_INTEGER,
     .offset = AT(warmup),
     .max = 1000,
     .absent = "1 if the duration decides, else 0",
     .help = "runs of each command beforehand that are left out of the figures"},
    {.name = "pause",
     .arg = "TIME",
     .kind = OPTION_TIME,
     .offset = AT(pause_ns),
     .max = HOUR_NS,
     .preset = "0s",
     .help = "pause before every run, such as 50ms or 1s"},
    {.name = "timeout",
     .arg = "TIME",
     .kind = OPTION_TIME,
     .offset = AT(timeout_ns),
     .preset = "60s",
     .min = MIN_TIMEOUT_NS,
     .max = 24 * HOUR_NS,
     .help = "end a run that takes longer; it counts as failed"},
    {.name = "seed",
     .arg = "N",
     .kind = OPTION_TEXT,
     .offset = AT(seed),
     .absent = "1",
     .help = "seed of everything random, the same for both runs of a pair"},
};
GROUP(group_pairs, "How often", pairs);

static const struct option_def run_pairs[] = {
    {.letter = 'n',
     .name = "pairs",
     .arg = "N",
     .kind = OPTION_INTEGER,
     .offset = AT(pairs),
     .min = 1,
     .max = MAX_PAIRS,
     .absent = "as profile or thresholds say",
     .help = "number of pairs; a pair is one run of the baseline and one of the candidate"},
    {.name = "confirm",
     .arg = "N",
     .kind = OPTION_INTEGER,
     .offset = AT(confirm),
     .max = MAX_PAIRS,
     .absent = "as profile or thresholds say",
     .help = "fresh pairs for a profile that does not pass, which alone decide; 0: none"},
    {.letter = 'w',
     .name = "warmup",
     .arg = "N",
     .kind = OPTION_INTEGER,
     .offset = AT(warmup),
     .max = 1000,
     .absent = "as the profile says",
     .help = "runs of each variant beforehand that are left out of the figures"},
    {.name = "pause",
     .arg = "TIME",
     .kind = OPTION_TIME,
     .offset = AT(pause_ns),
     .max = HOUR_NS,
     .absent = "as the profile says",
     .help = "pause before every run, such as 50ms or 1s"},
    {.name = "timeout",
     .arg = "TIME",
     .kind = OPTION_TIME,
     .offset = AT(timeout_ns),
     .min = MIN_TIMEOUT_NS,
     .max = 24 * HOUR_NS,
     .absent = "as the profile says",
     .help = "end a run that takes longer; it counts as failed"},
    {.name = "budget",
     .arg = "TIME",
     .kind = OPTION_TIME,
     .offset = AT(budget_ns),
     .min = NSEC_PER_SEC,
     .max = 1000 * HOUR_NS,
     .help = "run nothing if the series, all confirming pairs included, cannot end within this "
             "time, such as 10min"},
    {.name = "seed",
     .arg = "N",
     .kind = OPTION_TEXT,
     .offset = AT(seed),
     .absent = "1",
     .help = "seed of everything random, the same for both runs of a pair"},
};
GROUP(group_run_pairs, "How often", run_pairs);

static const struct option_def variants[] = {
    {.letter = 'b',
     .name = "baseline",
     .arg = "VARIANT",
     .kind = OPTION_LIST,
     .offset = AT(baselines),
     .max = 1,
     .names = NAMES_FILE,
     .help = "what is compared against: NAME=PROGRAM, a program, a variant's JSON file, or "
             "git:REVISION (its common ancestor with the candidate)"},
    {.letter = 'c',
     .name = "candidate",
     .arg = "VARIANT",
     .kind = OPTION_LIST,
     .offset = AT(candidates),
     .names = NAMES_FILE,
     .help = "what is compared with it; may be given several times; 'worktree' are the files as "
             "they stand"},
    {.name = "baseline-arg",
     .arg = "ARG",
     .kind = OPTION_LIST,
     .offset = AT(baseline_args),
     .help = "one more argument for the baseline's program"},
    {.name = "candidate-arg",
     .arg = "ARG",
     .kind = OPTION_LIST,
     .offset = AT(candidate_args),
     .help = "one more argument for every candidate's program"},
    {.name = "baseline-env",
     .arg = "K=V",
     .kind = OPTION_LIST,
     .offset = AT(baseline_env),
     .help = "environment variable of the baseline"},
    {.name = "candidate-env",
     .arg = "K=V",
     .kind = OPTION_LIST,
     .offset = AT(candidate_env),
     .help = "environment variable of every candidate"},
    {.name = "aa",
     .kind = OPTION_FLAG,
     .offset = AT(aa),
     .help = "compare the baseline with itself: shows how far this machine can be trusted"},
};
GROUP(group_variants, "What is compared", variants);

static const struct option_def git[] = {
    {.name = "build",
     .arg = "COMMAND",
     .kind = OPTION_TEXT,
     .offset = AT(build),
     .absent = "the files as they are",
     .help = "how a revision is built, at the top of a clean folder; split into words, no shell"},
    {.name = "product",
     .arg = "PATH",
     .kind = OPTION_TEXT,
     .offset = AT(product),
     .absent = "compare: the first word behind '--'; run: the runner's own program",
     .help = "the program, relative to the top of the repository"},
    {.name = "file",
     .arg = "NAME=PATH",
     .kind = OPTION_LIST,
     .offset = AT(files),
     .help = "a file of the build, such as a library, that is {NAME} in the runner's commands and "
             "environment and in the variant's"},
    {.name = "candidate-role",
     .arg = "ROLE",
     .kind = OPTION_LIST,
     .offset = AT(candidate_roles),
     .absent = "all roles",
     .help = "the candidate replaces this role only, the others stay the baseline's"},
    {.name = "no-merge-base",
     .kind = OPTION_FLAG,
     .offset = AT(no_merge_base),
     .help = "the baseline is the revision itself, not its common ancestor with the candidate"},
    {.name = "build-writes",
     .arg = "FOLDER",
     .kind = OPTION_LIST,
     .offset = AT(build_writes),
     .names = NAMES_FOLDER,
     .help = "a folder that a build may write to beside its own, such as a package cache"},
    {.name = "control",
     .arg = "COMMAND",
     .kind = OPTION_TEXT,
     .offset = AT(control),
     .help = "build the baseline a second time by this command, which should change its layout "
             "alone, and show what that does to each figure; it is never judged"},
};
GROUP(group_git, "Revisions of a git repository", git);

static const struct option_def runs[] = {
    {.letter = 'f',
     .name = "allow-failures",
     .kind = OPTION_FLAG,
     .offset = AT(allow_failures),
     .help = "a command that exits with a status other than 0 is measured like any other"},
    {.name = "input",
     .arg = "FILE",
     .kind = OPTION_TEXT,
     .offset = AT(input),
     .names = NAMES_FILE,
     .absent = "/dev/null",
     .help = "standard input of every run"},
    {.name = "env",
     .arg = "K=V",
     .kind = OPTION_LIST,
     .offset = AT(env),
     .help = "environment variable of every run"},
    {.name = "cpus",
     .arg = "LIST",
     .kind = OPTION_TEXT,
     .offset = AT(cpus),
     .absent = "any",
     .help = "CPUs that runs may use, such as 0-3,8"},
    {.name = "impair",
     .arg = "WORDS",
     .kind = OPTION_TEXT,
     .offset = AT(impair),
     .absent = "the profile's network, or the host's loopback",
     .help = "run on a private loopback network that does this to packets, in tc's netem words, "
             "such as \"delay 20ms 5ms loss 0.1%\"; one-way figures, and both directions of a "
             "loopback pass them"},
    {.name = "event",
     .arg = "NAME",
     .kind = OPTION_LIST,
     .offset = AT(events),
     .names = NAMES_EVENT,
     .help = "one more performance counter, by its libpfm4 name (see 'abba list events')"},
    {.name = "memory-pass",
     .kind = OPTION_FLAG,
     .offset = AT(memory_pass),
     .help = "afterwards, runs of their own that count what each variant asks its heap for, with a "
             "library preloaded, and that give no times; profiles may ask for it themselves"},
    {.name = "memory-pairs",
     .arg = "N",
     .kind = OPTION_INTEGER,
     .offset = AT(memory_pairs),
     .min = 1,
     .max = MAX_PAIRS,
     .absent = "as the profile says, else 4",
     .help = "pairs of the memory pass, which is asked for by this, too"},
};
GROUP(group_runs, "How a run is made", runs);

static const struct option_def fetching[] = {
    {.name = "ca-file",
     .arg = "FILE",
     .kind = OPTION_TEXT,
     .offset = AT(ca_file),
     .names = NAMES_FILE,
     .absent = "CURL_CA_BUNDLE, SSL_CERT_FILE, or the system's",
     .help = "the authorities that may vouch for a server of https, in PEM"},
    {.name = "fetch-timeout",
     .arg = "TIME",
     .kind = OPTION_TIME,
     .offset = AT(fetch_timeout_ns),
     .min = 1000000000,
     .max = 24 * HOUR_NS,
     .preset = "10min",
     .help = "how long fetching a program (https://HOST/PROGRAM#sha256=HEX) may take"},
    {.name = "fetch-size",
     .arg = "SIZE",
     .kind = OPTION_TEXT,
     .offset = AT(fetch_size),
     .absent = "1GiB",
     .help = "how large such a program may be"},
};
GROUP(group_fetching, "Programs from elsewhere", fetching);

static const struct option_def judging[] = {
    {.name = "threshold",
     .arg = "METRIC=PERCENT",
     .kind = OPTION_LIST,
     .offset = AT(thresholds),
     .names = NAMES_METRIC,
     .help = "how far the metric may go in its worse direction, such as wall_time=5%"},
    {.name = "thresholds",
     .arg = "NAME|FILE",
     .kind = OPTION_TEXT,
     .offset = AT(thresholds_file),
     .names = NAMES_FILE,
     .absent = "compare: nothing is judged; run: the profiles' own, or 'default'",
     .help = "a set of thresholds and the rule that judges (see 'abba list thresholds')"},
    {.name = "accepted",
     .arg = "NAME|FILE",
     .kind = OPTION_LIST,
     .offset = AT(accepted),
     .names = NAMES_FILE,
     .absent = "run: all of accepted/ in this folder; compare: none",
     .help = "a change for the worse that was agreed to"},
    {.name = "no-accepted",
     .kind = OPTION_FLAG,
     .offset = AT(no_accepted),
     .help = "judge by the thresholds alone"},
    {.name = "claim",
     .arg = "METRIC",
     .kind = OPTION_LIST,
     .offset = AT(claims),
     .names = NAMES_METRIC,
     .help = "say beforehand that this metric gets better; the report tells "
             "whether it was shown"},
    {.name = "bisect",
     .kind = OPTION_FLAG,
     .offset = AT(bisect),
     .help = "exit as 'git bisect run' wants it: 0 good, 1 bad, 125 cannot tell, 255 stop"},
};
GROUP(group_judging, "Judging", judging);

static const struct option_def keeping[] = {
    {.name = "archive",
     .arg = "DIR",
     .kind = OPTION_TEXT,
     .offset = AT(archive),
     .names = NAMES_FOLDER,
     .absent = "compare: none is kept; run: archive/UTC-PROFILE-PLAN/",
     .help = "keep all raw data in this folder, which must not exist"},
    {.name = "identify",
     .kind = OPTION_FLAG,
     .offset = AT(identify),
     .help = "keep host name, user and addresses in the archive instead of placeholders"},
    {.name = "sign",
     .arg = "KEY",
     .kind = OPTION_TEXT,
     .offset = AT(sign),
     .names = NAMES_FILE,
     .help =
         "sign the archive with this SSH key; a public key stands for one that an ssh-agent has"},
    {.name = "keep-programs",
     .kind = OPTION_FLAG,
     .offset = AT(keep_programs),
     .help = "put copies of the programs, of the libraries and other files that were seen to run, "
             "of the input and of abba into the archive, so that it can be run again elsewhere"},
    {.name = "no-lock",
     .kind = OPTION_FLAG,
     .offset = AT(no_lock),
     .help = "do not wait for another series on this machine to end"},
    {.name = "plan",
     .kind = OPTION_FLAG,
     .offset = AT(plan),
     .help = "print what would be run, its hash, and what it could see; run nothing"},
};
GROUP(group_keeping, "Archive and plan", keeping);

static const char *const unsupported_choices[] = {"skip", "fail", NULL};

static const struct option_def machine[] = {
    {.name = "unsupported",
     .arg = "skip|fail",
     .kind = OPTION_CHOICE,
     .offset = AT(unsupported),
     .choices = unsupported_choices,
     .preset = "skip",
     .help = "what to do with a profile that this machine cannot run, as one with CPUs that are "
             "not there: leave it out and say so, or run nothing"},
};
GROUP(group_machine, "What this machine cannot do", machine);

/* The same wherever something is printed. */
#define COLOR_OPTION                                                                               \
    {                                                                                              \
        .name = "color", .arg = "WHEN", .kind = OPTION_CHOICE, .offset = AT(color),                \
        .choices = color_choices, .preset = "auto",                                                \
        .help = "auto, always (or ansi) or never; NO_COLOR in the environment means never"         \
    }

static const struct option_def output[] = {
    {.name = "format",
     .arg = "FORMAT",
     .kind = OPTION_CHOICE,
     .offset = AT(format),
     .choices = format_choices,
     .preset = "text",
     .help =
         "text, markdown (for a pull request), json, junit, or csv (every figure of every run)"},
    {.letter = 'o',
     .name = "output",
     .arg = "FILE",
     .kind = OPTION_TEXT,
     .offset = AT(output),
     .names = NAMES_FILE,
     .absent = "standard output",
     .help = "write the report to this file"},
    COLOR_OPTION,
    {.letter = 'q',
     .name = "quiet",
     .kind = OPTION_FLAG,
     .offset = AT(quiet),
     .help = "nothing on standard error but faults; the report is the same"},
    {.letter = 'v',
     .name = "verbose",
     .kind = OPTION_FLAG,
     .offset = AT(verbose),
     .help = "more figures: a table of each candidate, ranges, Hodges-Lehmann estimate, p values, "
             "noise, slot effect"},
};
GROUP(group_output, "Output", output);

static const struct option_def plain[] = {
    COLOR_OPTION,
    {.letter = 'q',
     .name = "quiet",
     .kind = OPTION_FLAG,
     .offset = AT(quiet),
     .help = "no notes; verify and doctor print nothing, their exit status tells"},
};
GROUP(group_plain, "Output", plain);

static const struct option_def help[] = {
    {.letter = 'h',
     .name = "help",
     .kind = OPTION_FLAG,
     .offset = AT(help),
     .help = "show this help"},
};
GROUP(group_help, "Help", help);
