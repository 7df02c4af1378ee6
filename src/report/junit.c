#include "report/report.h"

#include "base/buf.h"
#include "base/text.h"
#include "report/figures.h"

#include <math.h>
#include <string.h>

/*
 * JUnit's XML as CI servers read it: a test suite a profile, a test case a judged metric, and one
 * for the profile as a whole. Regressed is a failure; incomplete and invalid are errors;
 * inconclusive and not judged are skipped, with the reason.
 */

enum result { RESULT_PASSED, RESULT_FAILURE, RESULT_ERROR, RESULT_SKIPPED };

static enum result result_of(enum verdict v)
{
    switch (v) {
    case VERDICT_PASSED:
    case VERDICT_ACCEPTED:
    case VERDICT_IDENTICAL:
        return RESULT_PASSED;
    case VERDICT_REGRESSED:
        return RESULT_FAILURE;
    case VERDICT_INCOMPLETE:
    case VERDICT_INVALID:
        return RESULT_ERROR;
    default:
        return RESULT_SKIPPED;
    }
}

static void attribute(const char *name, const char *value, struct buf *out)
{
    buf_printf(out, " %s=\"", name);
    text_xml(out, value);
    buf_addch(out, '"');
}

/* One test case; `text` says why it did not pass and is its message. */
static void test_case(const char *class_name, const char *name, enum verdict v, const char *text,
                      struct buf *out)
{
    static const char *const tags[] = {
        [RESULT_FAILURE] = "failure", [RESULT_ERROR] = "error", [RESULT_SKIPPED] = "skipped"};
    enum result result = result_of(v);
    buf_addstr(out, "    <testcase");
    attribute("classname", class_name, out);
    attribute("name", name, out);
    if (result == RESULT_PASSED) {
        buf_addstr(out, "/>\n");
        return;
    }
    buf_printf(out, ">\n      <%s", tags[result]);
    attribute("message", text, out);
    if (result != RESULT_SKIPPED)
        attribute("type", verdict_name(v), out);
    buf_addstr(out, "/>\n    </testcase>\n");
}

static void metric_case(const char *name, const struct report_metric *m, struct buf *out)
{
    struct buf class_name = BUF_INIT, text = BUF_INIT;
    char change[FIGURE_TEXT], interval[FIGURE_TEXT], limit[FIGURE_TEXT];
    buf_printf(&class_name, "%s.%s", name, m->candidate);
    figure_change(m->median_change, change);
    figure_interval(m->interval_low, m->interval_high, interval);
    figure_limit(m, limit);
    buf_printf(&text, "%s", figure_verdict(m->verdict));
    if (!metric_absent(m))
        buf_printf(&text, ": change %s %s, limit %s", change, interval, limit);
    if (m->note)
        buf_printf(&text, ": %s", m->note);
    test_case(class_name.data, m->metric, m->verdict, text.data, out);
    buf_release(&class_name);
    buf_release(&text);
}

static void profile_text(const struct report_profile *profile, struct buf *out)
{
    buf_printf(out, "%s: ", figure_verdict(profile->verdict));
    profile_summary(profile, out);
    for (size_t i = 0; i < profile->failure_count; i++) {
        const struct report_failure *f = &profile->failures[i];
        buf_printf(out, "; %s failed in %d run%s: %s", f->variant, f->count,
                   f->count == 1 ? "" : "s", f->error ? f->error : "no reason is known");
    }
    for (size_t i = 0; i < profile->outcome_count; i++) {
        buf_addstr(out, "; ");
        outcome_text(profile, &profile->outcomes[i], out);
    }
}

struct counts {
    int tests, failures, errors, skipped;
};

static void count(struct counts *c, enum verdict v)
{
    enum result result = result_of(v);
    c->tests++;
    c->failures += result == RESULT_FAILURE;
    c->errors += result == RESULT_ERROR;
    c->skipped += result == RESULT_SKIPPED;
}

static struct counts profile_counts(const struct report_profile *profile)
{
    struct counts c = {0};
    for (size_t i = 0; i < profile->metric_count; i++) {
        if (metric_judged(&profile->metrics[i]))
            count(&c, profile->metrics[i].verdict);
    }
    count(&c, profile->verdict);
    return c;
}

static void counts_attributes(const struct counts *c, struct buf *out)
{
    buf_printf(out, " tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\"", c->tests,
               c->failures, c->errors, c->skipped);
}

static void suite(const char *name, const struct report_profile *profile, struct buf *out)
{
    struct counts c = profile_counts(profile);
    struct buf text = BUF_INIT;
    buf_addstr(out, "  <testsuite");
    attribute("name", name, out);
    counts_attributes(&c, out);
    buf_addstr(out, ">\n");
    for (size_t i = 0; i < profile->metric_count; i++) {
        if (metric_judged(&profile->metrics[i]))
            metric_case(name, &profile->metrics[i], out);
    }
    profile_text(profile, &text);
    test_case(name, "verdict", profile->verdict, text.data, out);
    buf_addstr(out, "  </testsuite>\n");
    buf_release(&text);
}

static void add_counts(struct counts *all, const struct counts *c)
{
    all->tests += c->tests;
    all->failures += c->failures;
    all->errors += c->errors;
    all->skipped += c->skipped;
}

static void begin(const char *name, const struct counts *all, struct buf *out)
{
    buf_addstr(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    attribute("name", name, out);
    counts_attributes(all, out);
    buf_addstr(out, ">\n");
}

static void count_report(struct counts *all, const struct report *r)
{
    for (size_t i = 0; i < r->profile_count; i++) {
        struct counts c = profile_counts(&r->profiles[i]);
        add_counts(all, &c);
    }
}

void report_junit(const struct report *r, struct buf *out)
{
    struct counts all = {0};
    count_report(&all, r);
    begin(r->series ? r->series : "abba", &all, out);
    for (size_t i = 0; i < r->profile_count; i++)
        suite(r->profiles[i].profile, &r->profiles[i], out);
    buf_addstr(out, "</testsuites>\n");
}

/* ---- labs ---- */

/* A suite for the comparison as a whole, then one a profile. */
static void comparison(const struct lab_result *c, struct buf *out)
{
    struct counts one = {0};
    struct buf text = BUF_INIT, name = BUF_INIT;
    count(&one, c->verdict);
    buf_addstr(out, "  <testsuite");
    attribute("name", c->comparison, out);
    counts_attributes(&one, out);
    buf_addstr(out, ">\n");
    buf_printf(&text, "%s: %llu of %llu runs", figure_verdict(c->verdict),
               (unsigned long long)c->runs_done, (unsigned long long)c->runs_planned);
    test_case(c->comparison, "verdict", c->verdict, text.data, out);
    buf_addstr(out, "  </testsuite>\n");
    for (size_t i = 0; c->report && i < c->report->profile_count; i++) {
        buf_clear(&name);
        buf_printf(&name, "%s/%s", c->comparison, c->report->profiles[i].profile);
        suite(name.data, &c->report->profiles[i], out);
    }
    buf_release(&name);
    buf_release(&text);
}

void lab_junit(const struct lab_report *r, struct buf *out)
{
    struct counts all = {0};
    for (size_t i = 0; i < r->comparison_count; i++) {
        count(&all, r->comparisons[i].verdict);
        if (r->comparisons[i].report)
            count_report(&all, r->comparisons[i].report);
    }
    begin(r->series, &all, out);
    for (size_t i = 0; i < r->comparison_count; i++)
        comparison(&r->comparisons[i], out);
    buf_addstr(out, "</testsuites>\n");
}
