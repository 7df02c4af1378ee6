#include "cli/commands.h"

#include "archive/reader.h"
#include "archive/signature.h"
#include "archive/verify.h"
#include "base/buf.h"
#include "cli/cli.h"
#include "cli/packs.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "judge/judge.h"
#include "judge/lab.h"

#include <string.h>

static const struct option_def outside[] = {
    {.name = "digest",
     .arg = "HEX",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, digest),
     .help = "the digest that the run printed; without it and without --signer, an archive that "
             "was rewritten as a whole looks whole"},
    {.name = "signer",
     .arg = "FILE",
     .kind = OPTION_LIST,
     .offset = offsetof(struct settings, signers),
     .names = NAMES_FILE,
     .help = "the archive must be signed by one whom this file allows, which is one of "
             "ssh-keygen's allowed signers; repeatable: by one of any of them"},
};
static const struct option_group group_outside = {"What is expected", outside, 2};

static const struct option_group *const groups[] = {&group_outside, &group_plain, &group_help,
                                                    NULL};

static const char *const examples[] = {
    "abba verify archive/20240506T070809Z-flow-pingpong-1a2b3c4d",
    "structure, checksums, plan, order of runs, and the report computed again",
    "abba verify ARCHIVE --digest 9f86d0...",
    "and that it is the archive that this digest names",
    "abba verify ARCHIVE --signer allowed_signers",
    "and that one of these people signed it",
    NULL};

/* Names the first line in which the two texts differ. */
static int differ(const struct buf *computed, const char *stored, size_t len, struct err *err)
{
    size_t i = 0, line = 1;
    while (i < len && i < computed->len && stored[i] == computed->data[i]) {
        line += stored[i] == '\n';
        i++;
    }
    const char *a = stored + i, *b = computed->data + i;
    while (a > stored && a[-1] != '\n') {
        a--;
        b--;
    }
    size_t a_len = (size_t)(stored + len - a), b_len = (size_t)(computed->data + computed->len - b);
    const char *a_end = memchr(a, '\n', a_len), *b_end = memchr(b, '\n', b_len);
    a_len = a_end ? (size_t)(a_end - a) : a_len;
    b_len = b_end ? (size_t)(b_end - b) : b_len;
    return err_set(err, ERR_ARCHIVE,
                   "report.json, line %zu: found '%.*s', computed from the samples is '%.*s'", line,
                   (int)(a_len > 200 ? 200 : a_len), a, (int)(b_len > 200 ? 200 : b_len), b);
}

/* Whether the stored report is what was computed, byte for byte. */
static int compare_report(const struct buf *computed, const char *stored, size_t len,
                          struct err *err)
{
    if (computed->len == len && memcmp(computed->data, stored, len) == 0)
        return 0;
    return differ(computed, stored, len, err);
}

static int check_report(const struct archive *a, struct settings *s, struct err *err)
{
    struct report r;
    struct buf computed = BUF_INIT;
    int rc = -1;

    if (!a->report) {
        err_set(err, ERR_ARCHIVE, "'%s' has no report.json", a->folder);
    } else if (judge_archive(a, &r, &s->arena, err) == 0) {
        report_encode(&r, &computed);
        rc = compare_report(&computed, a->report, a->report_len, err);
    }
    buf_release(&computed);
    return rc;
}

/* One of the files of allowed signers knows who signed. */
static int check_signers(const struct settings *s, const char *folder, const char **who,
                         struct arena *arena, struct err *err)
{
    int rc = -1;

    for (size_t i = 0; i < s->signers.count && rc != 0; i++) {
        rc = signature_check(folder, s->signers.items[i], who, arena, err);
        if (rc != 0 && err->code != ERR_ARCHIVE)
            return err_wrap(err, "option '--signer'");
    }
    return rc;
}

/* Adds a line on the signature; what is there must fit, also where nobody asked for it. */
static int check_signature(const char *folder, struct settings *s, struct buf *text,
                           struct err *err)
{
    const char *who = NULL;

    if (s->signers.count > 0) {
        if (check_signers(s, folder, &who, &s->arena, err) != 0)
            return -1;
        buf_printf(text, "signed by %s\n", who);
    } else if (signature_is_there(folder)) {
        if (signature_check(folder, NULL, &who, &s->arena, err) != 0)
            return -1;
        if (who)
            buf_printf(text, "signed by the key %s, whoever's that is: --signer tells\n", who);
        else
            buf_addstr(text, "signed; the signature is not checked: there is no ssh-keygen\n");
    }
    return 0;
}

static void tell_outside(const struct settings *s, const char *digest)
{
    if (!digest && s->signers.count == 0)
        terminal_note(s, "an archive that was rewritten as a whole looks whole, too: --digest or "
                         "--signer compares with what is known outside of it");
}

/* ---- labs ---- */

/* The reports of the archives, then that of them all. */
static int check_lab_reports(const struct lab_archive *l, struct settings *s, size_t *archives,
                             struct err *err)
{
    struct lab_report r;
    struct buf computed = BUF_INIT;
    int rc = -1;

    for (size_t i = 0; i < l->lab->comparison_count; i++) {
        if (!l->archives[i])
            continue;
        ++*archives;
        if (check_report(l->archives[i], s, err) != 0)
            return err_wrap(err, "comparison '%s'", l->lab->comparisons[i].name);
    }
    if (!l->report) {
        err_set(err, ERR_ARCHIVE, "'%s' has no report.json", l->folder);
    } else if (judge_lab(l, &r, &s->arena, err) == 0) {
        lab_report_encode(&r, &computed);
        rc = compare_report(&computed, l->report, l->report_len, err);
    }
    buf_release(&computed);
    return rc;
}

static int verify_lab(struct settings *s, const char *digest, struct err *err)
{
    struct lab_archive *l = NULL;
    struct buf text = BUF_INIT;
    size_t archives = 0;
    int status = -1;

    if (lab_open(&l, s->operands.items[0], ROLES_OF_ALL, err) == 0 &&
        lab_verify(l, digest, err) == 0 && check_lab_reports(l, s, &archives, err) == 0) {
        buf_printf(&text,
                   "whole: %zu of %zu comparisons, lab %.12s..., all reports computed again\n"
                   "digest %s\n",
                   archives, l->lab->comparison_count, l->lab->sha256, l->digest);
        if (check_signature(l->folder, s, &text, err) == 0) {
            tell_outside(s, digest);
            status = terminal_print(text.data, s->quiet ? 0 : text.len, err);
        }
    }
    lab_close(l);
    buf_release(&text);
    return status;
}

static int verify(struct settings *s, struct err *err)
{
    struct archive *a = NULL;
    struct buf text = BUF_INIT;
    const char *digest = NULL;
    int status = -1;

    if (s->digest && packs_digest(s->digest, &s->arena, &digest, err) != 0)
        return -1;
    if (lab_is_one(s->operands.items[0]))
        return verify_lab(s, digest, err);
    if (archive_open(&a, s->operands.items[0], ROLES_OF_ALL, err) != 0)
        return -1;
    if (archive_verify(a, digest, err) != 0 || check_report(a, s, err) != 0)
        goto out;
    buf_printf(&text, "whole: %zu runs, plan %.12s..., report computed again\ndigest %s\n",
               a->sample_count, a->plan->sha256, a->digest);
    if (check_signature(a->folder, s, &text, err) != 0)
        goto out;
    tell_outside(s, digest);
    if (terminal_print(text.data, s->quiet ? 0 : text.len, err) == 0)
        status = STATUS_PASSED;
out:
    archive_close(a);
    buf_release(&text);
    return status;
}

const struct command_def command_verify = {
    .name = "verify",
    .operands = "ARCHIVE",
    .summary = "check that an archive is whole and that its report follows from it",
    .about =
        "Checks an archive's structure, its checksums, the plan's hash, that every planned run "
        "is there once and in order, and that report.json comes out of the samples again, "
        "byte for byte. The first difference is named. The folder of 'abba run --series' is "
        "checked with all its archives.\n\nWhat follows from an archive alone "
        "cannot "
        "show that somebody rewrote all of it consistently: --digest compares with what the run "
        "printed, --signer with who signed it (run --sign). Exit 0: whole; 3: unfinished; 5: "
        "damaged, or not an archive.",
    .groups = groups,
    .examples = examples,
    .min_operands = 1,
    .max_operands = 1,
    .names = NAMES_FOLDER,
    .run = verify,
};
