#include "cli/archives.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "model/metric.h"

#include <ctype.h>
#include <string.h>

const char *archives_dated(const char *what, const char *sha256, struct arena *arena)
{
    char *name = arena_strndup(arena, what, strnlen(what, 60));
    const char *folder;
    char time[CLOCK_TEXT];

    for (char *p = name; *p; p++)
        *p = isalnum((unsigned char)*p) || strchr("._=,+-", *p) ? *p : '-';
    clock_format_utc_name(clock_real_ns(), time);
    folder = arena_printf(arena, ARCHIVES "/%s-%s-%.8s", time, name, sha256);
    for (unsigned i = 2; files_exists(folder); i++)
        folder = arena_printf(arena, ARCHIVES "/%s-%s-%u-%.8s", time, name, i, sha256);
    return folder;
}

/* Whether a runner or the standard table knows the metric. */
static int check_metric(const struct plan *plan, const char *name, struct err *err)
{
    const char *unit, *names[128];
    enum metric_better better;
    size_t count, n = 0;
    if (plan_metric(plan, name, &unit, &better))
        return 0;
    const struct metric_def *table = metric_table(&count);
    for (size_t i = 0; i < count && n < 100; i++)
        names[n++] = table[i].name;
    err_set(err, ERR_USAGE, "option '--threshold': unknown metric '%s'", name);
    const char *near = text_nearest(name, names, n);
    return near ? err_hint(err, "did you mean '%s'?", near)
                : err_hint(err, "'abba list metrics' names them all");
}

/* Two limits of one metric would leave open which of them holds. */
static int check_once(const struct thresholds *t, const struct limit *limit, struct err *err)
{
    for (const struct limit *before = t->limits; before < limit; before++) {
        if (strcmp(before->metric, limit->metric) == 0)
            return err_set(err, ERR_USAGE, "option '--threshold': '%s' is given twice: %s and %s",
                           limit->metric, before->worse_text, limit->worse_text);
    }
    return 0;
}

int archives_thresholds(const struct archive *a, const struct strings *asked, struct arena *arena,
                        struct thresholds *t, struct err *err)
{
    *t = a->plan->thresholds;
    t->name = "given now";
    t->limits = arena_array(arena, asked->count, sizeof(*t->limits));
    t->limit_count = 0;
    t->override_count = 0;
    for (size_t i = 0; i < asked->count; i++) {
        const char *text = asked->items[i], *equals = strchr(text, '=');
        struct limit *limit = &t->limits[t->limit_count++];
        if (!equals || equals == text)
            return err_set(err, ERR_USAGE,
                           "option '--threshold': found '%s', allowed is METRIC=PERCENT", text);
        *limit = (struct limit){.metric = arena_strndup(arena, text, (size_t)(equals - text)),
                                .worse_text = equals + 1,
                                .asked = true};
        if (units_parse_percent(equals + 1, &limit->worse, err) != 0) {
            err->code = ERR_USAGE;
            return err_wrap(err, "option '--threshold': '%s'", text);
        }
        if (check_metric(a->plan, limit->metric, err) != 0 || check_once(t, limit, err) != 0)
            return -1;
    }
    return 0;
}
