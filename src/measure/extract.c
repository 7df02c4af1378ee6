#include "measure/extract.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/pattern.h"
#include "base/text.h"
#include "measure/number.h"

#define FOUND_MAX 100000 /* matches of one metric in one run */

int extract_init(struct extract *e, const struct extraction *from, struct err *err)
{
    *e = (struct extract){.from = from};
    if (from->source == SOURCE_FILE && !output_file_ok(from->file)) {
        err_set(err, ERR_CONFIG, "file '%s' is not below the run's scratch folder", from->file);
        return err_hint(err, "write it as {scratch}/NAME");
    }
    if (!from->pattern)
        return 0;
    e->pattern = pattern_new(from->pattern, err);
    if (!e->pattern)
        return -1;
    int group = pattern_group(e->pattern, "value");
    e->group = group > 0 ? group : 0;
    if (e->group < PATTERN_GROUPS)
        return 0;
    extract_release(e);
    return err_set(err, ERR_CONFIG, "pattern '%s' has more than %d groups", from->pattern,
                   PATTERN_GROUPS - 1);
}

void extract_release(struct extract *e)
{
    pattern_free(e->pattern);
    *e = (struct extract){0};
}

/* ---- what was found ---- */

/* A match: a number (JSON), or a text that should be one, kept as an offset or an owned copy. */
struct found {
    bool is_number;
    double number;
    const char *text;
    size_t len;
};

struct found_list {
    struct found *items;
    size_t count, room;
    struct arena texts; /* of JSON strings, whose tree is gone */
};

static int add(struct found_list *list, const struct found *f, struct err *err)
{
    if (list->count == FOUND_MAX)
        return err_set(err, ERR_MEASURE, "more than %d matches", FOUND_MAX);
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 16;
        list->items = xreallocarray(list->items, list->room, sizeof *list->items);
    }
    list->items[list->count++] = *f;
    return 0;
}

static void found_release(struct found_list *list)
{
    free(list->items);
    arena_release(&list->texts);
}

/* ---- patterns ---- */

static int find_pattern(const struct extract *e, const struct output *o, bool first_only,
                        struct found_list *list, struct err *err)
{
    struct pattern_match m;
    size_t offset = 0;
    enum pattern_result r;

    while ((r = pattern_next(e->pattern, o->data, o->len, &offset, &m)) == PATTERN_MATCH) {
        const struct pattern_span *span = &m.group[e->group];
        struct found f = {.text = ""};

        if (span->start != SIZE_MAX)
            f = (struct found){.text = o->data + span->start, .len = span->end - span->start};
        if (add(list, &f, err) < 0)
            return -1;
        if (first_only)
            return 0;
    }
    return r == PATTERN_NONE ? 0 : pattern_gave_up(e->pattern, err);
}

/* ---- JSON ---- */

static int find_in_document(const struct extract *e, const struct json *root,
                            struct found_list *list, struct err *err)
{
    const struct json *at = json_pointer(root, e->from->json);
    struct found f = {0};

    if (!at || json_kind(at) == JSON_NULL)
        return 0;
    if (json_kind(at) == JSON_NUMBER) {
        f.is_number = true;
        f.number = json_number(at);
    } else if (json_kind(at) == JSON_STRING) {
        f.text = arena_strdup(&list->texts, json_string(at));
        f.len = strlen(f.text);
    } else {
        return err_set(err, ERR_MEASURE, "'%s' is no number but %s", e->from->json,
                       json_kind_name(json_kind(at)));
    }
    return add(list, &f, err);
}

/* The next line that is not blank, from *at on; false at the end. Counts lines. */
static bool next_line(const char **at, const char *end, size_t *number, const char **line,
                      size_t *len)
{
    while (*at < end) {
        const char *newline = memchr(*at, '\n', (size_t)(end - *at));

        *line = *at;
        *len = (size_t)((newline ? newline : end) - *at);
        *at = newline ? newline + 1 : end;
        ++*number;
        for (size_t i = 0; i < *len; i++)
            if ((*line)[i] != ' ' && (*line)[i] != '\t' && (*line)[i] != '\r')
                return true;
    }
    return false;
}

/*
 * JSON Lines. `whole` says why the text is not one document; that is the better complaint if not
 * even its first line is one.
 */
static int find_in_lines(const struct extract *e, const struct output *o, const struct err *whole,
                         struct found_list *list, struct err *err)
{
    const char *at = o->data, *line;
    size_t number = 0, len, documents = 0;

    while (next_line(&at, o->data + o->len, &number, &line, &len)) {
        const struct json_rules foreign = {
            .big_integers = true, .code = ERR_MEASURE, .line = number};
        struct json *tree = json_parse_with(line, len, "output", &foreign, err);

        if (!tree && documents == 0)
            *err = *whole;
        if (!tree)
            return -1;
        documents++;
        int rc = find_in_document(e, tree, list, err);
        json_free(tree);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static bool all_blank(const struct output *o)
{
    for (size_t i = 0; i < o->len; i++)
        if (!strchr(" \t\r\n", o->data[i]))
            return false;
    return true;
}

static int find_json(const struct extract *e, struct output *o, struct found_list *list,
                     struct err *err)
{
    const struct json *root;
    struct err whole;

    if (all_blank(o))
        return 0;
    if (output_document(o, &root, &whole) == 0)
        return find_in_document(e, root, list, err);
    return find_in_lines(e, o, &whole, list, err);
}

/* ---- numbers ---- */

/* A pattern as it was written; one that is long or not printable, made harmless and cut. */
static void add_wanted(struct buf *out, const char *wanted)
{
    size_t len = strlen(wanted);
    bool plain = len <= 200;

    for (size_t i = 0; i < len; i++)
        plain = plain && (unsigned char)wanted[i] >= ' ' && wanted[i] != 0x7f;
    if (plain)
        buf_addstr(out, wanted);
    else
        text_neutral(out, wanted, len, 120);
}

/* "'PATTERN' in stdout of 'sender'" behind the message, and what was cut from there. */
static void name_place(const struct extract *e, const struct output *o, struct err *err)
{
    char name[128];
    struct buf what = BUF_INIT_MAX(400);

    output_name(e->from, name);
    buf_addstr(&what, "'");
    add_wanted(&what, e->pattern ? e->from->pattern : e->from->json);
    buf_printf(&what, "' in %s", name);
    if (o->cut > 0)
        buf_printf(&what, ", of which %llu bytes in the middle were not kept",
                   (unsigned long long)o->cut);
    struct err old = *err;
    err_set(err, ERR_MEASURE, "%s%s", old.msg, what.data);
    if (old.hint[0])
        err_hint(err, "%s", old.hint);
    buf_release(&what);
}

static enum extract_result check_count(const struct extract *e, const struct runner_metric *m,
                                       const struct output *o, size_t count, struct err *err)
{
    if (count == 0) {
        err_set(err, ERR_MEASURE, "no match for ");
        name_place(e, o, err);
        return EXTRACT_MISSING;
    }
    if (m->match == MATCH_ONE && count > 1) {
        err_set(err, ERR_MEASURE, "%zu matches where one is expected for ", count);
        name_place(e, o, err);
        return EXTRACT_INVALID;
    }
    if (m->match == MATCH_ALL && count <= (size_t)m->sacrifice) {
        err_set(err, ERR_MEASURE, "%zu matches, the first %d of which are sacrificial, for ", count,
                m->sacrifice);
        name_place(e, o, err);
        return EXTRACT_MISSING;
    }
    return EXTRACT_OK;
}

static int read_found(const struct found *f, const struct number_format *numbers, double *out,
                      struct err *err)
{
    if (!f->is_number)
        return number_parse(f->text, f->len, numbers, out, err);
    *out = f->number;
    return 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare);
    return n % 2 ? values[n / 2] : values[n / 2 - 1] / 2 + values[n / 2] / 2;
}

static double reduce(enum match_reduce how, double *values, size_t n)
{
    double sum = 0, low = values[0], high = values[0];

    for (size_t i = 0; i < n; i++) {
        sum += values[i];
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    switch (how) {
    case REDUCE_MEAN:
        return sum / (double)n;
    case REDUCE_MEDIAN:
        return median(values, n);
    case REDUCE_SUM:
        return sum;
    case REDUCE_MIN:
        return low;
    case REDUCE_MAX:
        return high;
    case REDUCE_LAST:
        return values[n - 1];
    }
    return sum;
}

/* The matches that count, from the first on. */
static size_t first_of(const struct runner_metric *m, const struct found_list *list)
{
    if (m->match == MATCH_LAST)
        return list->count - 1;
    return m->match == MATCH_ALL ? (size_t)m->sacrifice : 0;
}

static int read_all(const struct runner_metric *m, const struct number_format *numbers,
                    const struct found_list *list, double *out, struct err *err)
{
    size_t first = first_of(m, list);
    size_t n = m->match == MATCH_ALL ? list->count - first : 1;
    double *values = xreallocarray(NULL, n, sizeof *values);
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++)
        rc = read_found(&list->items[first + i], numbers, &values[i], err);
    if (rc == 0)
        *out = reduce(m->match == MATCH_ALL ? m->reduce : REDUCE_LAST, values, n);
    free(values);
    if (rc == 0 && !isfinite(*out))
        return err_set(err, ERR_MEASURE, "the matches add up to no finite number");
    return rc;
}

enum extract_result extract_number(const struct extract *e, const struct runner_metric *m,
                                   const struct number_format *numbers, struct outputs *outputs,
                                   double *out, struct err *err)
{
    struct found_list list = {0};
    struct output *o;
    enum extract_result result = EXTRACT_INVALID;

    arena_init(&list.texts);
    if (outputs_get(outputs, e->from, &o, err) < 0)
        return EXTRACT_MISSING;
    int rc = e->pattern ? find_pattern(e, o, m->match == MATCH_FIRST, &list, err)
                        : find_json(e, o, &list, err);
    if (rc == 0)
        result = check_count(e, m, o, list.count, err);
    if (result == EXTRACT_OK && read_all(m, numbers, &list, out, err) < 0)
        result = EXTRACT_INVALID;
    found_release(&list);
    return result;
}

size_t extract_each(const struct extract *e, const struct runner_metric *m,
                    const struct number_format *numbers, struct outputs *outputs, double **values)
{
    struct found_list list = {0};
    struct output *o;
    struct err ignored;
    size_t n = 0, first;

    *values = NULL;
    arena_init(&list.texts);
    if (outputs_get(outputs, e->from, &o, &ignored) < 0)
        return 0;
    int rc = e->pattern ? find_pattern(e, o, m->match == MATCH_FIRST, &list, &ignored)
                        : find_json(e, o, &list, &ignored);
    if (rc == 0 && check_count(e, m, o, list.count, &ignored) == EXTRACT_OK) {
        first = first_of(m, &list);
        n = m->match == MATCH_ALL ? list.count - first : 1;
        *values = xreallocarray(NULL, n, sizeof **values);
        for (size_t i = 0; i < n; i++) {
            if (read_found(&list.items[first + i], numbers, &(*values)[i], &ignored) < 0) {
                n = 0;
                break;
            }
        }
    }
    found_release(&list);
    return n;
}

int extract_text(const struct extract *e, struct outputs *outputs, const char **text, size_t *len,
                 struct err *err)
{
    struct pattern_match m;
    struct output *o;
    size_t offset = 0;

    if (outputs_get(outputs, e->from, &o, err) < 0)
        return -1;
    switch (pattern_next(e->pattern, o->data, o->len, &offset, &m)) {
    case PATTERN_MATCH:
        *text = o->data + m.group[0].start;
        *len = m.group[0].end - m.group[0].start;
        return 1;
    case PATTERN_NONE:
        return 0;
    case PATTERN_GAVE_UP:
        break;
    }
    return pattern_gave_up(e->pattern, err);
}
