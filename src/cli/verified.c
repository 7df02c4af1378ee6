#include "cli/verified.h"

#include "archive/signature.h"
#include "archive/verify.h"
#include "base/buf.h"
#include "cli/options.h"
#include "cli/packs.h"
#include "cli/settings.h"
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
const struct option_group group_expected = {"What is expected", outside, 2};

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

static int check_report(const struct archive *a, struct report *r, struct settings *s,
                        struct err *err)
{
    struct buf computed = BUF_INIT;
    int rc = -1;

    if (!a->report) {
        err_set(err, ERR_ARCHIVE, "'%s' has no report.json", a->folder);
    } else if (judge_archive(a, r, &s->arena, err) == 0) {
        report_encode(r, &computed);
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

/* ---- labs ---- */

/* The reports of the archives, then that of them all. */
static int check_lab_reports(struct verified *v, struct settings *s, size_t *archives,
                             struct err *err)
{
    const struct lab_archive *l = v->l;
    struct report r;
    struct buf computed = BUF_INIT;
    int rc = -1;

    for (size_t i = 0; i < l->lab->comparison_count; i++) {
        if (!l->archives[i])
            continue;
        ++*archives;
        if (check_report(l->archives[i], &r, s, err) != 0)
            return err_wrap(err, "comparison '%s'", l->lab->comparisons[i].name);
    }
    if (!l->report) {
        err_set(err, ERR_ARCHIVE, "'%s' has no report.json", l->folder);
    } else if (judge_lab(l, &v->lab_report, &s->arena, err) == 0) {
        lab_report_encode(&v->lab_report, &computed);
        rc = compare_report(&computed, l->report, l->report_len, err);
    }
    buf_release(&computed);
    return rc;
}

static int open_lab(struct verified *v, struct settings *s, const char *folder,
                    const char *expected, struct buf *text, struct err *err)
{
    size_t archives = 0;

    if (lab_open(&v->l, folder, err) != 0 || lab_verify(v->l, expected, err) != 0 ||
        check_lab_reports(v, s, &archives, err) != 0)
        return -1;
    v->digest = v->l->digest;
    buf_printf(text,
               "whole: %zu of %zu comparisons, lab %.12s..., all reports computed again\n"
               "digest %s\n",
               archives, v->l->lab->comparison_count, v->l->lab->sha256, v->digest);
    return 0;
}

/* ---- both ---- */

static int open_archive(struct verified *v, struct settings *s, const char *folder,
                        const char *expected, struct buf *text, struct err *err)
{
    if (archive_open(&v->a, folder, err) != 0 || archive_verify(v->a, expected, err) != 0 ||
        check_report(v->a, &v->report, s, err) != 0)
        return -1;
    v->digest = v->a->digest;
    buf_printf(text, "whole: %zu runs, plan %.12s..., report computed again\ndigest %s\n",
               v->a->sample_count, v->a->plan->sha256, v->digest);
    return 0;
}

int verified_open(struct verified *v, struct settings *s, const char *folder, struct buf *text,
                  struct err *err)
{
    const char *expected = NULL;

    *v = (struct verified){0};
    if (s->digest && packs_digest(s->digest, &s->arena, &expected, err) != 0)
        return -1;
    int rc = lab_is_one(folder) ? open_lab(v, s, folder, expected, text, err)
                                : open_archive(v, s, folder, expected, text, err);
    return rc == 0 ? check_signature(folder, s, text, err) : -1;
}

void verified_close(struct verified *v)
{
    archive_close(v->a);
    lab_close(v->l);
    *v = (struct verified){0};
}
