#include "model/accepted.h"

#include "base/json_writer.h"
#include "model/decode.h"
#include "model/metric.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 1000

/* Whether it is a day of the calendar, written YYYY-MM-DD. */
static bool is_day(const char *text)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day;

    if (strlen(text) != 10 || strspn(text, "0123456789") != 4 || text[4] != '-' ||
        strspn(text + 5, "0123456789") != 2 || text[7] != '-' ||
        strspn(text + 8, "0123456789") != 2)
        return false;
    year = (int)strtol(text, NULL, 10);
    month = (int)strtol(text + 5, NULL, 10);
    day = (int)strtol(text + 8, NULL, 10);
    if (month < 1 || month > 12 || day < 1 || day > days[month - 1])
        return false;
    return month != 2 || day < 29 || (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
}

/* Words for people, which may not be left empty. */
static int decode_words(const struct fields *f, const char *key, struct arena *arena,
                        const char **out, struct err *err)
{
    struct fields at;

    if (decode_text(f, key, FIELDS_REQUIRED, arena, out, err) < 0 ||
        fields_child(f, key, FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    if ((*out)[0] == '\0' || strlen(*out) > WORDS_MAX)
        return fields_error(&at, err, "must be said in 1 to %d bytes", WORDS_MAX);
    return 0;
}

static int decode_until(const struct fields *f, struct accepted *a, struct arena *arena,
                        struct err *err)
{
    struct fields at;

    if (decode_words(f, "until", arena, &a->until, err) < 0 ||
        fields_child(f, "until", FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    return is_day(a->until) ? 0 : fields_error(&at, err, "'%s' is no day: YYYY-MM-DD", a->until);
}

int accepted_decode(struct accepted *a, const struct json *root, const char *file,
                    struct arena *arena, struct err *err)
{
    static const char *const keys[] = {"accepted", "profile", "metric", "up_to",
                                       "reason",   "who",     "until",  NULL};
    const struct metric_def *def;
    struct fields f, at;

    *a = (struct accepted){0};
    if (fields_init(&f, file, root, err) < 0 || fields_known(&f, keys, err) < 0 ||
        decode_words(&f, "accepted", arena, &a->name, err) < 0 ||
        fields_child(&f, "accepted", FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    if (!decode_is_name(a->name))
        return fields_error(&at, err, "'%s' cannot name an accepted change", a->name);
    if (decode_words(&f, "profile", arena, &a->profile, err) < 0 ||
        decode_words(&f, "metric", arena, &a->metric, err) < 0 ||
        decode_percent(&f, "up_to", FIELDS_REQUIRED, arena, &a->up_to_text, &a->up_to, err) < 0 ||
        decode_words(&f, "reason", arena, &a->reason, err) < 0 ||
        decode_words(&f, "who", arena, &a->who, err) < 0 || decode_until(&f, a, arena, err) < 0 ||
        fields_child(&f, "metric", FIELDS_REQUIRED, &at, err) < 0)
        return -1;
    def = metric_find(a->metric);
    if (!decode_is_name(a->metric) || (def && !def->judgeable))
        return fields_error(&at, err, "'%s' is no metric that is judged", a->metric);
    return 0;
}

void accepted_encode(const struct accepted *a, struct json_writer *w)
{
    jw_object_begin(w);
    jw_key(w, "accepted"), jw_string(w, a->name);
    jw_key(w, "profile"), jw_string(w, a->profile);
    jw_key(w, "metric"), jw_string(w, a->metric);
    jw_key(w, "up_to"), jw_string(w, a->up_to_text);
    jw_key(w, "reason"), jw_string(w, a->reason);
    jw_key(w, "who"), jw_string(w, a->who);
    jw_key(w, "until"), jw_string(w, a->until);
    jw_object_end(w);
}
