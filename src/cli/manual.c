#include "cli/help.h"

#include "base/buf.h"
#include "cli/options.h"

#include <string.h>

/* Text with the characters that mean something to troff made plain. */
static void roff(struct buf *out, const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            buf_addstr(out, "\\&");
        if (*text == '-')
            buf_addstr(out, "\\-");
        else if (*text == '\\')
            buf_addstr(out, "\\e");
        else
            buf_addch(out, *text);
        line_start = *text == '\n';
    }
}

static void roff_option(const struct option_def *o, struct buf *out)
{
    struct buf text = BUF_INIT;
    buf_addstr(out, ".TP\n\\fB");
    if (o->letter)
        buf_printf(out, "\\-%c\\fR, \\fB", o->letter);
    buf_addstr(out, "\\-\\-");
    roff(out, o->name);
    buf_addstr(out, "\\fR");
    if (o->arg) {
        buf_addstr(out, " \\fI");
        roff(out, o->arg);
        buf_addstr(out, "\\fR");
    }
    buf_addch(out, '\n');
    help_option_text(o, &text);
    roff(out, text.data);
    buf_addch(out, '\n');
    buf_release(&text);
}

static void roff_paragraphs(const char *text, struct buf *out)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t len = end ? (size_t)(end - text) : strlen(text);
        struct buf one = BUF_INIT;
        buf_add(&one, text, len);
        roff(out, one.data);
        buf_addstr(out, "\n.PP\n");
        buf_release(&one);
        text += len;
        while (*text == '\n')
            text++;
    }
}

static void roff_command(const struct command_def *c, struct buf *out)
{
    buf_addstr(out, ".SS abba ");
    roff(out, c->name);
    buf_addstr(out, " [options] ");
    roff(out, c->operands);
    buf_addstr(out, "\n");
    roff_paragraphs(c->about, out);
    for (const struct option_group *const *g = c->groups; *g; g++) {
        for (size_t i = 0; i < (*g)->count; i++)
            roff_option(&(*g)->options[i], out);
    }
    if (!c->examples)
        return;
    buf_addstr(out, ".PP\nExamples:\n");
    for (const char *const *e = c->examples; *e; e += 2) {
        buf_addstr(out, ".TP\n\\fB");
        roff(out, e[0]);
        buf_addstr(out, "\\fR\n");
        roff(out, e[1]);
        buf_addch(out, '\n');
    }
}

/* What the words of a report mean, two strings each: word, meaning. */
static const char *const report_words[] = {
    "baseline, candidate, spread",
    "The median of the runs, and half the range of their middle 68 %: a standard deviation that "
    "single outliers do not move.",
    "change",
    "The median of the pairs' changes. The ratio of the two medians beside it can differ.",
    "[96.1% a bound]",
    "What that median can really be. Each end alone holds with this level, which is at least 95 % "
    "and depends on the number of pairs; both at once hold with less (here 92.2 %).",
    "lightning, poop (better, worse)",
    "Both bounds are beyond 1 %.",
    "confirmed, likely, unsure",
    "Regressed: the bound is beyond the limit; only beyond no change; not even that. Passed: "
    "the bound is within the limit (confirmed), or only the median is (unsure).",
    "accepted, new",
    "Beyond the limit, within what accepted/NAME.json allows until a day; only one side's revision "
    "has the profile, so that nothing was run.",
    "attempt",
    "The same plan with the same programs was run before, with the verdicts that a note lists.",
    "control",
    "A variant that is the baseline's own source in another layout (--control), never judged: what "
    "it changes is no matter of source. Also a metric that the change cannot affect.",
    "PROFILE,pass=memory",
    "Runs of their own with a library preloaded that counts what each variant asks its heap for "
    "(--memory-pass, or the profile asks). They give no times; fewer than five pairs have the "
    "range of their changes as bounds, at its own level, and no grade but unsure.",
    "ratio",
    "With several candidates each one's own medians stand side by side, and below or beside them "
    "its ratios to the baseline: the median of the pairs' changes, plus 1, with the same bounds.",
    "invalid (1), failed (2), ...",
    "What a variant has instead of a figure; the note of that number says in how many runs, and "
    "why. Behind a figure: it is of fewer runs than there were.",
    "CPUs, speed-up",
    "Profiles that a matrix made for several sets of CPUs. A speed-up is the ratio of a variant's "
    "own medians under two of them; their runs are no pairs, so it has no bounds.",
    "regimes, signs",
    "What was shown where: by what profiles say of themselves (\"regime\"), their place in a "
    "matrix, or their names. + better and - worse: both bounds beyond 1 %, or judged regressed; = "
    "neither was shown; ? incomplete, inconclusive or without bounds; +- better in one profile of "
    "the regime, worse in another.",
    "flips",
    "What wins in one regime and loses in another, by these signs.",
    "sees",
    "The smallest true change that such a series finds 8 times in 10, from the scatter of the "
    "pairs (sigma) and the resolution of the figure.",
    "alarms",
    "How many regressed verdicts are to be expected although nothing has changed, and the chance "
    "of at least one.",
    "noisy",
    "Other processes or the hypervisor took more than the profile allows. Such pairs count all "
    "the same.",
    "Hodges-Lehmann, p, Holm p (--verbose)",
    "Another estimate of the change with its 95 % interval; the exact signed-rank test, two-sided; "
    "the same, one-sided and adjusted for the number of verdicts. Shown, never judged.",
    "slot effect, balanced (--verbose)",
    "By how much the second run of a pair reads higher; the median without that.",
    "pairing (--verbose)",
    "Variance of the paired change over that of unpaired runs: below 1, pairing removed noise.",
    NULL};

/* Pairs of a term and what it means. */
static void terms(const char *const *words, struct buf *out)
{
    for (const char *const *w = words; *w; w += 2) {
        buf_addstr(out, ".TP\n.B ");
        roff(out, w[0]);
        buf_addch(out, '\n');
        roff(out, w[1]);
        buf_addch(out, '\n');
    }
}

static void environment(struct buf *out)
{
    buf_addstr(out,
               ".SH ENVIRONMENT\n"
               ".TP\n"
               ".B ABBA_PATH\n"
               "Folders, separated by colons, in which runners, profiles and thresholds are "
               "looked up after the current folder.\n"
               ".TP\n"
               ".B NO_COLOR\n"
               "If set to anything, no colours unless \\fB\\-\\-color\\fR asks for them.\n"
               ".TP\n"
               ".B COLUMNS\n"
               "Width of reports that do not go to a terminal.\n"
               ".TP\n"
               ".B XDG_CACHE_HOME\n"
               "Where fetched programs are kept, below abba/programs; ~/.cache without it.\n"
               ".TP\n"
               ".B CURL_CA_BUNDLE\\fR, \\fBSSL_CERT_FILE\n"
               "The authorities that may vouch for a server of https, in PEM.\n"
               ".TP\n"
               ".B NETRC\n"
               "The file with passwords for servers; ~/.netrc without it.\n"
               ".TP\n"
               ".B ABBA_TOKEN\n"
               "A bearer token for push and pull over https.\n"
               ".TP\n"
               ".B GITHUB_TOKEN\\fR, \\fBGH_TOKEN\\fR, \\fBGITLAB_TOKEN\\fR, "
               "\\fBABBA_WEBHOOK_TOKEN\n"
               "Tokens of notify, for the service that it tells.\n"
               ".TP\n"
               ".B AWS_ACCESS_KEY_ID\\fR, \\fBAWS_SECRET_ACCESS_KEY\\fR, "
               "\\fBAWS_SESSION_TOKEN\\fR, \\fBAWS_REGION\\fR, \\fBAWS_ENDPOINT_URL\n"
               "Keys, region and address of the store that s3: addresses mean.\n"
               ".TP\n"
               ".B https_proxy\\fR, \\fBhttp_proxy\\fR, \\fBno_proxy\n"
               "As curl has them.\n"
               ".TP\n"
               ".B TMPDIR\n"
               "Where push makes the pack before it sends it, and where the runs of an archive "
               "of a hundred thousand runs and more lie while it is judged; /var/tmp without "
               "it.\n");
}

void help_manual(struct buf *out)
{
    buf_addstr(out, ".TH ABBA 1\n.SH NAME\nabba \\- paired performance comparison of programs\n"
                    ".SH SYNOPSIS\n.B abba\n[options] \\fIBASELINE\\fR \\fICANDIDATE\\fR...\n.br\n"
                    ".B abba\n\\fICOMMAND\\fR [options] ...\n.SH DESCRIPTION\n");
    roff(out, "abba runs a baseline and a candidate in turn, in pairs, with the order alternating "
              "from pair to pair. It reads time, memory, CPU and performance counters of every "
              "run, archives them, and judges the median of the paired changes against thresholds "
              "that were fixed before the first run. The first form is short for abba compare.");
    buf_addstr(out, "\n.SH COMMANDS\n");
    for (const struct command_def *const *c = cli_commands; *c; c++)
        roff_command(*c, out);
    buf_addstr(out, ".SH READING A REPORT\n");
    terms(report_words, out);
    buf_addstr(out, ".SH EXIT STATUS\n");
    terms(exit_meanings, out);
    buf_addstr(out, ".PP\n"
                    "Ended by SIGINT or SIGTERM, abba closes the archive and raises the signal "
                    "again.\n");
    environment(out);
}
