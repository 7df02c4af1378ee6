#include "archive/keep.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

#define DAY_S INT64_C(86400)

/* ---- the rule ---- */

static const char *const words[] = {"full", "daily", "weekly", "monthly", "verdicts"};

static int complain(const char *text, struct err *err)
{
    err_set(err, ERR_USAGE, "option '--keep': found '%.100s'", text);
    return err_hint(err, "AGE:WORD,...,WORD such as 30d:full,1y:weekly,verdicts; words are full, "
                         "daily, weekly, monthly, verdicts; ages have h, d, w, m or y and grow");
}

static bool parse_age(const char *text, size_t len, int64_t *age_s)
{
    static const struct {
        char letter;
        int64_t s;
    } units[] = {
        {'h', 3600}, {'d', DAY_S}, {'w', 7 * DAY_S}, {'m', 30 * DAY_S}, {'y', 365 * DAY_S}};
    int64_t n = 0;

    if (len < 2 || len > 6)
        return false;
    for (size_t i = 0; i + 1 < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        n = 10 * n + text[i] - '0';
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (units[i].letter == text[len - 1]) {
            *age_s = n * units[i].s;
            return n > 0;
        }
    }
    return false;
}

static bool parse_word(const char *text, size_t len, enum keep_what *what)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) == len && strncmp(words[i], text, len) == 0) {
            *what = (enum keep_what)i;
            return true;
        }
    }
    return false;
}

/* One step of `len` bytes; `last` must have no age, the others one above the step before. */
static bool parse_step(const char *text, size_t len, bool last, struct keep_rule *rule)
{
    struct keep_step *step = &rule->steps[rule->count];
    const char *colon = memchr(text, ':', len);
    size_t age = colon ? (size_t)(colon - text) : 0;

    if (rule->count == KEEP_STEPS || last != (colon == NULL))
        return false;
    step->age_s = INT64_MAX;
    if (colon && !parse_age(text, age, &step->age_s))
        return false;
    if (rule->count > 0 && step->age_s <= step[-1].age_s)
        return false;
    rule->count++;
    return colon ? parse_word(colon + 1, len - age - 1, &step->what)
                 : parse_word(text, len, &step->what);
}

int keep_parse(const char *text, struct keep_rule *rule, struct err *err)
{
    *rule = (struct keep_rule){.count = 0};
    for (const char *at = text;;) {
        size_t len = strcspn(at, ",");

        if (!parse_step(at, len, at[len] == '\0', rule))
            return complain(text, err);
        if (!at[len])
            return 0;
        at += len + 1;
    }
}

/* ---- deciding ---- */

static const struct keep_step *step_of(const struct keep_rule *rule, int64_t age_s)
{
    size_t i = 0;

    while (i + 1 < rule->count && age_s >= rule->steps[i].age_s)
        i++;
    return &rule->steps[i];
}

/* The day, week or month, in UTC. */
static int64_t span_of(int64_t started_s, enum keep_what what)
{
    int64_t day = started_s / DAY_S;
    time_t at = (time_t)started_s;
    struct tm tm;

    if (what == KEEP_DAILY)
        return day;
    if (what == KEEP_WEEKLY)
        return (day + 3) / 7; /* 1970-01-01 was a Thursday */
    gmtime_r(&at, &tm);
    return (int64_t)tm.tm_year * 12 + tm.tm_mon;
}

/* Whether another one, newer or as new and listed before, stands for the same span of its series.
 */
static bool has_newer(const struct keep_item *items, size_t count, size_t i,
                      const struct keep_rule *rule, const struct keep_step *step, int64_t now_s)
{
    int64_t span = span_of(items[i].started_s, step->what);

    for (size_t k = 0; k < count; k++) {
        const struct keep_item *x = &items[k];

        if (k == i || strcmp(x->series, items[i].series) != 0 ||
            step_of(rule, now_s - x->started_s) != step ||
            span_of(x->started_s, step->what) != span)
            continue;
        if (x->started_s > items[i].started_s || (x->started_s == items[i].started_s && k < i))
            return true;
    }
    return false;
}

static const char *why_not(const struct keep_item *items, size_t count, size_t i,
                           const struct keep_rule *rule, int64_t now_s)
{
    static const char *const why[] = {
        [KEEP_DAILY] = "a newer one stands for its day",
        [KEEP_WEEKLY] = "a newer one stands for its week",
        [KEEP_MONTHLY] = "a newer one stands for its month",
    };
    const struct keep_step *step = step_of(rule, now_s - items[i].started_s);

    if (step->what == KEEP_FULL)
        return NULL;
    if (step->what == KEEP_VERDICTS)
        return "older than what is kept";
    return has_newer(items, count, i, rule, step, now_s) ? why[step->what] : NULL;
}

/* The oldest that may go, or `count`. */
static size_t oldest(const struct keep_item *items, size_t count)
{
    size_t found = count;

    for (size_t i = 0; i < count; i++)
        if (!items[i].pinned && !items[i].drop &&
            (found == count || items[i].started_s < items[found].started_s))
            found = i;
    return found;
}

uint64_t keep_decide(struct keep_item *items, size_t count, const struct keep_rule *rule,
                     uint64_t max_bytes, int64_t now_s)
{
    uint64_t stay = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        items[i].drop = !rule || items[i].pinned ? NULL : why_not(items, count, i, rule, now_s);
        stay += items[i].drop ? 0 : items[i].bytes;
    }
    while (max_bytes > 0 && stay > max_bytes && (i = oldest(items, count)) < count) {
        items[i].drop = "the oldest, and all were larger than allowed";
        stay -= items[i].bytes;
    }
    return stay;
}
