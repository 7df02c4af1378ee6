/* Whether the figures of a run are to be believed. */
#include "measure/measure_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- what the runner takes back ---- */

/* Why pattern `i` of `invalid` matched, or NULL if it did not. */
static const char *invalid_reason(struct draft *d, size_t i)
{
    const char *text;
    size_t len;
    struct err err = {0};
    int found = extract_text(&d->meter->invalid[i], &d->meter->outputs, &text, &len, &err);

    if (found == 0)
        return NULL;
    if (found < 0)
        return arena_printf(d->arena, "cannot tell whether it is valid: %s", err.msg);
    return arena_printf(d->arena, "the runner says '%s'", draft_quoted(d, text, len));
}

void draft_take_back(struct draft *d)
{
    const struct runner *r = d->meter->runner;

    for (size_t i = 0; i < r->invalid_count; i++) {
        const struct strings *names = &r->invalid[i].metrics;
        const char *reason = names->count > 0 ? invalid_reason(d, i) : NULL;

        for (size_t k = 0; reason && k < names->count; k++) {
            struct sample_metric *m = metric_list_find(&d->metrics, names->items[k]);
            if (m)
                m->value = value_none(VALUE_INVALID, reason);
        }
    }
}

void draft_check_whole(struct draft *d)
{
    const struct runner *r = d->meter->runner;

    for (size_t i = 0; i < r->invalid_count; i++) {
        const char *reason = r->invalid[i].metrics.count == 0 ? invalid_reason(d, i) : NULL;
        if (reason)
            draft_blame(d, SAMPLE_INVALID, "%s", reason);
    }
}

/* ---- integrity and cross-checks ---- */

void draft_check_integrity(struct draft *d)
{
    const struct runner *r = d->meter->runner;

    for (size_t i = 0; i < r->integrity_count; i++) {
        const char *text;
        size_t len;
        char name[128];
        struct err err = {0};
        int found = extract_text(&d->meter->integrity[i], &d->meter->outputs, &text, &len, &err);

        output_name(&r->integrity[i], name);
        if (found == 0)
            draft_blame(d, SAMPLE_FAILED, "integrity: no match for '%s' in %s",
                        r->integrity[i].pattern, name);
        else if (found < 0)
            draft_blame(d, SAMPLE_FAILED, "integrity: %s", err.msg);
    }
}

static const struct sample_metric *usable(const struct draft *d, const char *name)
{
    const struct sample_metric *m = metric_list_find(&d->metrics, name);

    return m && m->value.status == VALUE_OK ? m : NULL;
}

/* A metric's figures before they are reduced, in its base unit: their number, 0 if there are none.
 */
static size_t each_of(struct draft *d, const char *name, double **values)
{
    const struct runner *r = d->meter->runner;
    const struct runner_metric *m = runner_find_metric(r, name);
    const struct metric_def *def = metric_find(name);

    *values = NULL;
    if (!m || m->match != MATCH_ALL)
        return 0;
    size_t n = extract_each(&d->meter->metrics[m - r->metrics], m,
                            m->numbers ? m->numbers : &r->numbers, &d->meter->outputs, values);
    for (size_t i = 0; i < n; i++)
        if (!metric_convert((*values)[i], m->unit, def ? def->unit : m->unit, &(*values)[i]))
            return 0;
    return n;
}

static void check_figures(struct draft *d, const struct runner_check *c, double above, double below,
                          double stated)
{
    double ratio = above / below;

    if (fabs(ratio - stated) <= c->within * fabs(stated)) /* false for nan */
        return;
    draft_blame(d, SAMPLE_INVALID, "check: %s / %s is %.6g, but %s is %.6g (within %s is allowed)",
                c->numerator, c->denominator, ratio, c->equals, stated, c->within_text);
}

/* Repeats are checked one by one: a mean of ratios is not the ratio of means. */
static bool check_each(struct draft *d, const struct runner_check *c)
{
    double *above, *below, *stated;
    size_t n = each_of(d, c->numerator, &above), k = each_of(d, c->denominator, &below);
    size_t l = each_of(d, c->equals, &stated);
    bool all = n > 0 && n == k && n == l;

    for (size_t i = 0; all && i < n; i++)
        check_figures(d, c, above[i], below[i], stated[i]);
    free(above);
    free(below);
    free(stated);
    return all;
}

/* A figure that is missing is reported on its own account, not by the check that needs it. */
static void check_ratio(struct draft *d, const struct runner_check *c)
{
    const struct sample_metric *above = usable(d, c->numerator), *below = usable(d, c->denominator);
    const struct sample_metric *stated = usable(d, c->equals);

    if (!above || !below || !stated)
        return;
    if (!check_each(d, c))
        check_figures(d, c, above->value.number, below->value.number, stated->value.number);
}

void draft_check_ratios(struct draft *d)
{
    const struct runner *r = d->meter->runner;

    for (size_t i = 0; i < r->check_count; i++)
        check_ratio(d, &r->checks[i]);
}
