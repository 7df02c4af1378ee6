#include "model/report.h"

#include <string.h>

static const char *const verdict_names[] = {
    [VERDICT_NOT_JUDGED] = "not_judged",
    [VERDICT_PASSED] = "passed",
    [VERDICT_INCONCLUSIVE] = "inconclusive",
    [VERDICT_INCOMPLETE] = "incomplete",
    [VERDICT_REGRESSED] = "regressed",
    [VERDICT_INVALID] = "invalid",
    [VERDICT_IDENTICAL] = "identical",
    [VERDICT_ACCEPTED] = "accepted",
    [VERDICT_NEW] = "new",
};
#define VERDICT_COUNT (sizeof verdict_names / sizeof *verdict_names)

const char *verdict_name(enum verdict v)
{
    ABBA_ASSERT((size_t)v < VERDICT_COUNT);
    return verdict_names[v];
}

bool verdict_parse(const char *text, enum verdict *v)
{
    for (size_t i = 0; i < VERDICT_COUNT; i++) {
        if (strcmp(text, verdict_names[i]) == 0) {
            *v = (enum verdict)i;
            return true;
        }
    }
    return false;
}

const char *grade_name(enum grade g)
{
    static const char *const names[] = {"none", "confirmed", "likely", "unsure"};

    ABBA_ASSERT((size_t)g < sizeof names / sizeof *names);
    return names[g];
}

/* Place in the order of precedence; `identical` and `not judged` give way to anything judged. */
static int precedence(enum verdict v)
{
    return v == VERDICT_IDENTICAL ? 0 : (int)v;
}

enum verdict verdict_worse(enum verdict a, enum verdict b)
{
    if (precedence(a) != precedence(b))
        return precedence(a) > precedence(b) ? a : b;
    return a == b ? a : VERDICT_NOT_JUDGED;
}

const struct report_failure *report_failure_of(const struct report_profile *p, const char *variant)
{
    for (size_t i = 0; i < p->failure_count; i++)
        if (strcmp(p->failures[i].variant, variant) == 0)
            return &p->failures[i];
    return NULL;
}

const struct report_metric *report_metric_of(const struct report_profile *p, const char *candidate,
                                             const char *metric)
{
    for (size_t i = 0; i < p->metric_count; i++)
        if (strcmp(p->metrics[i].metric, metric) == 0 &&
            strcmp(p->metrics[i].candidate, candidate) == 0)
            return &p->metrics[i];
    return NULL;
}

const struct report_profile *report_profile_of(const struct report *r, const char *name)
{
    for (size_t i = 0; i < r->profile_count; i++)
        if (strcmp(r->profiles[i].profile, name) == 0)
            return &r->profiles[i];
    return NULL;
}
