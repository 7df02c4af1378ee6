#include "cli/commands.h"

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "cli/verified.h"

static const struct option_group *const groups[] = {&group_expected, &group_plain, &group_help,
                                                    NULL};

static const char *const examples[] = {
    "abba verify archive/20240506T070809Z-flow-pingpong-1a2b3c4d",
    "structure, checksums, plan, order of runs, and the report computed again",
    "abba verify ARCHIVE --digest 9f86d0...",
    "and that it is the archive that this digest names",
    "abba verify ARCHIVE --signer allowed_signers",
    "and that one of these people signed it",
    NULL};

static int verify(struct settings *s, struct err *err)
{
    struct verified v;
    struct buf text = BUF_INIT;
    int status = -1;

    if (verified_open(&v, s, s->operands.items[0], &text, err) == 0) {
        if (!s->digest && s->signers.count == 0)
            terminal_note(s, "an archive that was rewritten as a whole looks whole, too: --digest "
                             "or --signer compares with what is known outside of it");
        if (terminal_print(text.data, s->quiet ? 0 : text.len, err) == 0)
            status = STATUS_PASSED;
    }
    verified_close(&v);
    buf_release(&text);
    return status;
}

const struct command_def command_verify = {
    .name = "verify",
    .operands = "ARCHIVE",
    .summary = "check that an archive is whole and that its report follows from it",
    .about =
        "Checks an archive's structure, its checksums, the plan's hash, that every planned run is "
        "there once and in order, and that report.json comes out of the samples again, byte for "
        "byte. The first difference is named. The folder of 'abba run --series' is checked with "
        "all its archives.\n"
        "\n"
        "What follows from an archive alone cannot show that somebody rewrote all of it "
        "consistently: --digest compares with what the run printed, --signer with who signed it "
        "(run --sign). Exit 0: whole; 3: unfinished; 5: damaged, or not an archive.",
    .groups = groups,
    .examples = examples,
    .min_operands = 1,
    .max_operands = 1,
    .names = NAMES_FOLDER,
    .run = verify,
};
