#include "report/figures.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void none(char out[FIGURE_TEXT])
{
    memcpy(out, "-", 2);
}

const char *figure_unit(const char *unit)
{
    struct units_scaled scaled;
    units_scale(1.0, unit, &scaled);
    return scaled.suffix[0] == ' ' ? unit : "";
}

void figure_value(double value, const char *unit, char out[FIGURE_TEXT])
{
    if (!isfinite(value)) {
        none(out);
        return;
    }
    struct units_scaled scaled;
    char digits[UNITS_TEXT];
    units_scale(value, unit, &scaled);
    units_digits(&scaled, digits);
    snprintf(out, FIGURE_TEXT, "%.15s%s", digits, scaled.suffix[0] == ' ' ? "" : scaled.suffix);
}

/* Three significant digits of bytes in binary units. */
static void binary_bytes(double bytes, char out[FIGURE_TEXT])
{
    static const char *const suffixes[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t i = 0;

    while (bytes >= 1023.5 && i + 1 < sizeof(suffixes) / sizeof(suffixes[0])) {
        bytes /= 1024.0;
        i++;
    }
    int decimals = i == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
    snprintf(out, FIGURE_TEXT, "%.*f%s", decimals, bytes, suffixes[i]);
}

void figure_difference(double difference, const char *unit, char out[FIGURE_TEXT])
{
    char size[FIGURE_TEXT];
    const char *apart = figure_unit(unit);

    if (!isfinite(difference)) {
        none(out);
        return;
    }
    if (strcmp(unit, "B") == 0)
        binary_bytes(fabs(difference), size);
    else
        figure_value(fabs(difference), unit, size);
    snprintf(out, FIGURE_TEXT, "%s%.30s%s%.20s",
             difference > 0   ? "+"
             : difference < 0 ? "-"
                              : "",
             size, apart[0] ? " " : "", apart);
}

/* Decimals for a percentage: enough for small changes, none for large ones. */
static int percent_decimals(double percent)
{
    double size = fabs(percent);
    return size < 0.995 ? 2 : size < 99.95 ? 1 : 0;
}

void figure_change(double fraction, char out[FIGURE_TEXT])
{
    if (isnan(fraction)) {
        none(out);
        return;
    }
    if (isinf(fraction)) {
        snprintf(out, FIGURE_TEXT, "from 0");
        return;
    }
    double percent = fraction * 100.0;
    if (percent >= 999.5) {
        snprintf(out, FIGURE_TEXT, "x%.3g", fraction + 1.0);
        return;
    }
    if (fabs(percent) < 0.005) {
        snprintf(out, FIGURE_TEXT, "0.00%%");
        return;
    }
    snprintf(out, FIGURE_TEXT, "%+.*f%%", percent_decimals(percent), percent);
}

static void bound(double fraction, int decimals, char out[FIGURE_TEXT])
{
    double percent = fraction * 100.0;
    if (isinf(fraction))
        snprintf(out, FIGURE_TEXT, "from 0");
    else if (fabs(percent) >= 999999.5)
        snprintf(out, FIGURE_TEXT, "%+.1e", percent);
    else if (fabs(percent) < 0.5 * pow(10, -decimals))
        snprintf(out, FIGURE_TEXT, "%.*f", decimals, 0.0);
    else
        snprintf(out, FIGURE_TEXT, "%+.*f", decimals, percent);
}

void figure_interval(double low, double high, char out[FIGURE_TEXT])
{
    if (isnan(low) || isnan(high)) {
        none(out);
        return;
    }
    if (isinf(low) && low == high) { /* beyond every percentage */
        snprintf(out, FIGURE_TEXT, "from 0");
        return;
    }
    char a[FIGURE_TEXT], b[FIGURE_TEXT];
    double larger = fmax(isinf(low) ? 0 : fabs(low), isinf(high) ? 0 : fabs(high));
    int decimals = percent_decimals(larger * 100.0);
    bound(low, decimals, a);
    bound(high, decimals, b);
    snprintf(out, FIGURE_TEXT, "[%.28s, %.28s]", a, b);
}

void figure_percent(double fraction, char out[FIGURE_TEXT])
{
    if (!isfinite(fraction)) {
        none(out);
        return;
    }
    double percent = fraction * 100.0;
    if (percent > 0 && percent < 0.001)
        snprintf(out, FIGURE_TEXT, "<0.001%%");
    else
        snprintf(out, FIGURE_TEXT, percent >= 999.5 ? "%.0f%%" : "%.3g%%", percent);
}

void figure_limit(const struct report_metric *m, char out[FIGURE_TEXT])
{
    if (!metric_judged(m)) {
        out[0] = '\0';
        return;
    }
    const char *sign = m->control ? "+-" : m->better == BETTER_HIGHER ? "-" : "+";
    char size[FIGURE_TEXT];
    figure_percent(m->threshold, size);
    snprintf(out, FIGURE_TEXT, "%s%.32s", sign, size);
}

void figure_level(double level, char out[FIGURE_TEXT])
{
    if (!isfinite(level)) {
        none(out);
        return;
    }
    double percent = floor(level * 1000.0) / 10.0; /* never more than it is */
    snprintf(out, FIGURE_TEXT, "%.1f%%", percent);
}

void figure_p(double p, char out[FIGURE_TEXT])
{
    if (!isfinite(p))
        none(out);
    else if (p < 0.001)
        snprintf(out, FIGURE_TEXT, "<0.001");
    else
        snprintf(out, FIGURE_TEXT, "%.3f", p);
}

const char *figure_verdict(enum verdict v)
{
    return v == VERDICT_NOT_JUDGED ? "not judged" : verdict_name(v);
}

/* ---- metrics ---- */

bool metric_judged(const struct report_metric *m)
{
    return !isnan(m->threshold);
}

bool metric_absent(const struct report_metric *m)
{
    return isnan(m->baseline_median) && isnan(m->candidate_median);
}

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

/* The same value in all runs of both sides: nothing to be told. */
static bool is_constant(const struct report_metric *m)
{
    return m->baseline_min >= m->baseline_max && m->candidate_min >= m->candidate_max &&
           m->median_change >= 0 && m->median_change <= 0;
}

bool metric_prominent(const struct report_metric *m)
{
    static const char *const details[] = {
        "user_time",          "system_time",     "minor_faults",
        "major_faults",       "delivered_bytes", "cpu_migrations",
        "delivered_messages", "effective_cores", "context_switches"};
    if (metric_judged(m) || m->claim)
        return true;
    for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++) {
        if (strcmp(m->metric, details[i]) == 0)
            return false;
    }
    return !ends_with(m->metric, "_per_byte") && !is_constant(m);
}

/* The bound in the worse direction. */
static double worse_bound(const struct report_metric *m)
{
    return m->better == BETTER_HIGHER ? m->interval_low : m->interval_high;
}

/* The bound in the better direction: what the change is at least. */
static double least_bound(const struct report_metric *m)
{
    return m->better == BETTER_HIGHER ? m->interval_high : m->interval_low;
}

static void sentence_regressed(const struct report_metric *m, struct buf *out)
{
    char change[FIGURE_TEXT], limit[FIGURE_TEXT], least[FIGURE_TEXT];
    figure_change(m->median_change, change);
    figure_limit(m, limit);
    figure_change(least_bound(m), least);
    buf_printf(out, "median change %s is beyond the limit of %s", change, limit);
    if (m->grade == GRADE_CONFIRMED)
        buf_printf(out, ", and so is its bound (%s): confirmed", least);
    else if (m->grade == GRADE_LIKELY)
        buf_printf(out, "; its bound (%s) excludes no change, not the limit: likely", least);
    else
        buf_printf(out, "; the data do not exclude no change: unsure");
}

/* "; accepted up to +25% until 2027-01-31 by X: reason (accepted/NAME.json)" */
static void sentence_accepted(const struct report_metric *m, struct buf *out)
{
    const struct report_accepted *a = m->accepted;
    char up_to[FIGURE_TEXT];
    struct buf words = BUF_INIT;

    if (m->accepted_count == 0)
        return;
    figure_change(m->better == BETTER_HIGHER ? -a->up_to : a->up_to, up_to);
    buf_printf(&words, "until %s by %s: %s (accepted/%s.json)", a->until, a->who, a->reason,
               a->name);
    buf_printf(out, "; %s up to %s ",
               m->verdict == VERDICT_ACCEPTED ? "accepted" : "it is accepted only", up_to);
    safe_text(out, words.data, words.len);
    buf_release(&words);
}

static bool metric_own_sentence(const struct report_metric *m, struct buf *out);

bool metric_sentence(const struct report_metric *m, struct buf *out)
{
    bool told = metric_own_sentence(m, out);

    sentence_accepted(m, out);
    return told || m->accepted_count;
}

static bool metric_own_sentence(const struct report_metric *m, struct buf *out)
{
    char change[FIGURE_TEXT], limit[FIGURE_TEXT], worse[FIGURE_TEXT];
    if (!metric_judged(m))
        return false;
    if (m->median_change == 0 && m->interval_low == 0 && m->interval_high == 0 &&
        fabs(m->median_difference) > 0) {
        buf_addstr(out, "the difference is within the resolution of the figure and counts as none");
        return true;
    }
    figure_change(m->median_change, change);
    figure_limit(m, limit);
    figure_change(worse_bound(m), worse);
    if (m->control) {
        if (m->verdict == VERDICT_PASSED || m->verdict == VERDICT_NOT_JUDGED)
            return false;
        buf_printf(out, "negative control: changed by %s where the change cannot act (limit %s)",
                   change, limit);
        return true;
    }
    if (m->verdict == VERDICT_REGRESSED) {
        sentence_regressed(m, out);
    } else if (m->verdict == VERDICT_INCONCLUSIVE) {
        if (isnan(m->interval_low))
            buf_printf(out, "too few complete pairs (%d) for a bound", m->complete_pairs);
        else
            buf_printf(out,
                       "median change %s; the data do not exclude %s%s, beyond the limit of %s",
                       change, isinf(worse_bound(m)) ? "a change " : "", worse, limit);
    } else if (m->verdict == VERDICT_ACCEPTED) {
        buf_printf(out, "median change %s (bound %s) against the limit of %s", change, worse,
                   limit);
    } else if (m->verdict == VERDICT_PASSED && m->grade == GRADE_UNSURE) {
        buf_printf(out, "not seen to exceed the limit of %s; the data do not exclude it (%s)",
                   limit, isnan(worse_bound(m)) ? "too few pairs for a bound" : worse);
    } else {
        return false;
    }
    return true;
}

void safe_text(struct buf *out, const char *text, size_t len)
{
    const char *end = text + len;
    while (text < end) {
        const char *slash = memchr(text, '\\', (size_t)(end - text));
        size_t plain = (size_t)((slash ? slash : end) - text);
        if (plain > 0)
            text_neutral(out, text, plain, 0);
        if (slash)
            buf_addch(out, '\\');
        text += plain + (slash != NULL);
    }
}

/* ---- profiles ---- */

size_t profile_failures(const struct report *r, const struct report_profile *p,
                        struct strings *lines, struct arena *arena)
{
    size_t before = lines->count;
    if (r->variants.count == 0)
        return 0;
    const struct report_failure *base = report_failure_of(p, r->variants.items[0]);
    int base_count = base ? base->count : 0;
    for (size_t v = 1; v < r->variants.count; v++) {
        const struct report_failure *f = report_failure_of(p, r->variants.items[v]);
        if (!f || f->count <= base_count)
            continue;
        strings_add(
            lines, arena,
            arena_printf(arena, "%s failed in %d run%s of '%s', %s %s", f->variant, f->count,
                         f->count == 1 ? "" : "s", p->profile, r->variants.items[0],
                         base_count == 0 ? "in none" : arena_printf(arena, "in %d", base_count)));
    }
    return lines->count - before;
}

bool note_is_repeated(const struct report *r, const struct report_profile *p, const char *note)
{
    for (size_t i = 0; i < r->profile_count && &r->profiles[i] != p; i++) {
        if (strings_has(&r->profiles[i].unmeasured, note))
            return true;
    }
    return false;
}

void figure_plain(double value, char out[FIGURE_TEXT])
{
    if (isfinite(value))
        snprintf(out, FIGURE_TEXT, "%.7g", value);
    else
        snprintf(out, FIGURE_TEXT, "-");
}

/* ---- outcomes ---- */

static bool is_judged_metric(const struct report_profile *p, const char *metric)
{
    for (size_t i = 0; i < p->metric_count; i++) {
        if (metric_judged(&p->metrics[i]) && strcmp(p->metrics[i].metric, metric) == 0)
            return true;
    }
    return false;
}

/* Throughput says most of a stream; beside it what was to be judged. */
static bool figure_shown(const struct report_profile *p, const struct report_figure *f)
{
    return strcmp(f->metric, "throughput") == 0 || is_judged_metric(p, f->metric);
}

void outcome_text(const struct report_profile *p, const struct report_outcome *o, struct buf *out)
{
    char text[FIGURE_TEXT];
    bool any = false;
    buf_printf(out, "%s: %s, %d of %d runs ended well", o->variant, o->failed ? "fail" : "pass",
               o->ended_well, o->runs);
    for (size_t i = 0; i < o->figure_count; i++) {
        const struct report_figure *f = &o->figures[i];
        const char *unit = figure_unit(f->unit);
        if (!figure_shown(p, f))
            continue;
        figure_value(f->median, f->unit, text);
        buf_printf(out, "%s%s %s%s%s", any ? ", " : "; ", f->metric, text, unit[0] ? " " : "",
                   unit);
        any = true;
    }
    if (any && o->failed)
        buf_addstr(out, " (measured in runs that failed, too)");
}

void profile_summary(const struct report_profile *p, struct buf *out)
{
    if (p->verdict == VERDICT_NEW) {
        buf_addstr(out, "nothing was run: one side only has this profile");
        return;
    }
    if (p->verdict == VERDICT_IDENTICAL) {
        buf_addstr(out, "nothing was run: the same files, arguments and environment on all sides");
        return;
    }
    if (p->summary_count > 0) {
        buf_addstr(out, "runs that are no pairs");
        return;
    }
    if (p->complete_pairs == p->pairs)
        buf_printf(out, "%d pair%s", p->pairs, p->pairs == 1 ? "" : "s");
    else
        buf_printf(out, "%d of %d pairs complete", p->complete_pairs, p->pairs);
    if (p->order && p->order[0])
        buf_printf(out, " (%s)", p->order);
    if (p->main_verdict)
        buf_printf(out, ", fresh, after the first stage was %s", p->main_verdict);
    if (p->noisy_pairs > 0)
        buf_printf(out, ", %d noisy", p->noisy_pairs);
}

void report_summary(const struct report *r, struct buf *out)
{
    size_t same = 0;
    for (size_t i = 0; i < r->profile_count; i++)
        same += r->profiles[i].verdict == r->verdict;
    if (r->profile_count != 1)
        buf_printf(out, "%zu of %zu profiles", same, r->profile_count);
    bool named = r->thresholds && strcmp(r->thresholds, "none") != 0;
    if (r->rule && r->gating_verdicts > 0)
        buf_printf(out, "%s%s%s%srule %s", out->len ? "; " : "", named ? "thresholds " : "",
                   named ? r->thresholds : "", named ? ", " : "", r->rule);
    if (r->exploratory)
        buf_printf(out, "%sexploratory: these thresholds were not in the plan",
                   out->len ? "; " : "");
    if (r->earlier_count)
        buf_printf(out, "%sattempt %zu", out->len ? "; " : "", r->earlier_count + 1);
    if (!r->finished)
        buf_printf(out, "%sunfinished: %llu of %llu runs", out->len ? "; " : "",
                   (unsigned long long)r->runs_done, (unsigned long long)r->runs_planned);
}

void report_alarms(const struct report *r, struct buf *out)
{
    if (r->gating_verdicts <= 0)
        return;
    buf_printf(out, "%d verdict%s", r->gating_verdicts, r->gating_verdicts == 1 ? "" : "s");
    if (!isfinite(r->expected_false_alarms))
        return;
    char any[FIGURE_TEXT];
    figure_percent(r->any_false_alarm, any);
    buf_addstr(out, "; expected false alarms ");
    if (r->expected_false_alarms > 0 && r->expected_false_alarms < 0.001)
        buf_addstr(out, "<0.001");
    else
        buf_printf(out, "%.2g", r->expected_false_alarms);
    buf_printf(out, "; at least one: %s", any);
}
