#include "base/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"

#define MATCH_LIMIT 200000   /* backtracks from one starting point */
#define HEAP_LIMIT_KIB 20000 /* of the interpreter, where there is no JIT */
#define JIT_STACK_BYTES (1 << 20)
#define FIRST_WINDOW 16
#define LAST_WINDOW ((size_t)1 << 20)
#define BUDGET_NS (1 * NSEC_PER_SEC) /* CPU time for one pass over a text */

/* One pass over a text, which may take several searches. */
struct pass {
    int64_t spent_ns; /* CPU time so far */
    size_t window;    /* starting points to try before the next look at the clock */
};

struct pattern {
    char *source;
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    struct pass *pass;
};

static int compile_failed(const char *source, int code, size_t offset, struct err *err)
{
    PCRE2_UCHAR reason[128];
    struct buf shown = BUF_INIT;
    size_t column = 1;

    pcre2_get_error_message(code, reason, sizeof reason);
    for (size_t i = 0; i < offset && source[i] != '\0'; i++)
        column += ((unsigned char)source[i] & 0xC0) != 0x80;
    text_neutral(&shown, source, strlen(source), 200);
    err_set(err, ERR_CONFIG, "pattern '%s' does not compile: %s at column %zu", shown.data,
            (const char *)reason, column);
    buf_release(&shown);
    return -1;
}

static int compile(struct pattern *p, struct err *err)
{
    const uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_MULTILINE |
                             PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    int code;
    PCRE2_SIZE offset;
    uint32_t groups;

    if (context == NULL)
        mem_exhausted(0);
    pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
    p->code = pcre2_compile((PCRE2_SPTR)p->source, PCRE2_ZERO_TERMINATED, options, &code, &offset,
                            context);
    pcre2_compile_context_free(context);
    if (p->code == NULL)
        return compile_failed(p->source, code, offset, err);
    pcre2_pattern_info(p->code, PCRE2_INFO_CAPTURECOUNT, &groups);
    if (groups < PATTERN_GROUPS)
        return 0;
    err_set(err, ERR_CONFIG, "pattern '%.200s' has %u groups, at most %d are allowed", p->source,
            groups, PATTERN_GROUPS - 1);
    return err_hint(err, "write (?:...) for a group that is not read");
}

static void set_limits(struct pattern *p)
{
    p->data = pcre2_match_data_create_from_pattern(p->code, NULL);
    p->context = pcre2_match_context_create(NULL);
    if (p->data == NULL || p->context == NULL)
        mem_exhausted(0);
    pcre2_set_match_limit(p->context, MATCH_LIMIT);
    pcre2_set_heap_limit(p->context, HEAP_LIMIT_KIB);
    /* Where code may not be made at run time (SELinux, some architectures) the interpreter
     * matches the same. */
    if (pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE) != 0)
        return;
    p->stack = pcre2_jit_stack_create(32768, JIT_STACK_BYTES, NULL);
    if (p->stack == NULL)
        mem_exhausted(JIT_STACK_BYTES);
    pcre2_jit_stack_assign(p->context, NULL, p->stack);
}

struct pattern *pattern_new(const char *source, struct err *err)
{
    struct pattern *p = xcalloc(1, sizeof *p);

    p->source = xstrdup(source);
    p->pass = xcalloc(1, sizeof *p->pass);
    p->pass->window = FIRST_WINDOW;
    if (compile(p, err) < 0) {
        pattern_free(p);
        return NULL;
    }
    set_limits(p);
    return p;
}

void pattern_free(struct pattern *p)
{
    if (p == NULL)
        return;
    pcre2_jit_stack_free(p->stack);
    pcre2_match_context_free(p->context);
    pcre2_match_data_free(p->data);
    pcre2_code_free(p->code);
    free(p->pass);
    free(p->source);
    free(p);
}

const char *pattern_source(const struct pattern *p)
{
    return p->source;
}

int pattern_group(const struct pattern *p, const char *name)
{
    int number = pcre2_substring_number_from_name(p->code, (PCRE2_SPTR)name);

    return number > 0 ? number : -1;
}

bool pattern_has_group(const struct pattern *p, const char *name)
{
    return pattern_group(p, name) > 0;
}

static int64_t cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return clock_timespec_ns(&ts);
}

/* Longer windows while they pass quickly, shorter ones when they do not. */
static void account(struct pass *pass, int64_t ns)
{
    pass->spent_ns += ns;
    if (ns < NSEC_PER_MSEC && pass->window < LAST_WINDOW)
        pass->window *= 4;
    else if (ns > 50 * NSEC_PER_MSEC && pass->window > FIRST_WINDOW)
        pass->window /= 4;
}

/*
 * The match limit counts anew at every starting point, so a pattern can still take time in the
 * square of the text. The starting points are therefore tried a window at a time, with a look at
 * the CPU time between.
 */
static int match_in_windows(const struct pattern *p, const char *text, size_t len, size_t offset)
{
    for (;;) {
        bool last = len - offset <= p->pass->window;
        size_t limit = last ? PCRE2_UNSET : offset + p->pass->window;
        int64_t before = cpu_ns();
        pcre2_set_offset_limit(p->context, limit);
        int rc = pcre2_match(p->code, (PCRE2_SPTR)text, len, offset, 0, p->data, p->context);
        account(p->pass, cpu_ns() - before);
        if (p->pass->spent_ns > BUDGET_NS)
            return PCRE2_ERROR_MATCHLIMIT;
        if (rc != PCRE2_ERROR_NOMATCH || last)
            return rc;
        offset = limit;
    }
}

/* Behind the match, or behind one character after an empty one. */
static size_t next_offset(const char *text, size_t len, size_t offset, size_t end)
{
    uint32_t code;

    if (end > offset)
        return end;
    if (offset >= len)
        return len + 1;
    size_t n = text_decode(text + offset, len - offset, &code);
    return offset + (n > 0 ? n : 1);
}

static void take_spans(const struct pattern *p, struct pattern_match *m)
{
    const PCRE2_SIZE *ovector = pcre2_get_ovector_pointer(p->data);
    uint32_t count = pcre2_get_ovector_count(p->data);

    for (uint32_t i = 0; i < PATTERN_GROUPS; i++) {
        m->group[i] = (struct pattern_span){SIZE_MAX, SIZE_MAX};
        if (i < count && ovector[2 * i] != PCRE2_UNSET)
            m->group[i] = (struct pattern_span){ovector[2 * i], ovector[2 * i + 1]};
    }
}

enum pattern_result pattern_next(const struct pattern *p, const char *text, size_t len,
                                 size_t *offset, struct pattern_match *m)
{
    if (*offset > len)
        return PATTERN_NONE;
    if (*offset == 0)
        *p->pass = (struct pass){0, FIRST_WINDOW};
    int rc = match_in_windows(p, text, len, *offset);
    if (rc == PCRE2_ERROR_NOMATCH)
        return PATTERN_NONE;
    if (rc < 0)
        return PATTERN_GAVE_UP;
    take_spans(p, m);
    size_t end = m->group[0].end;
    size_t from = m->group[0].start > *offset ? m->group[0].start : *offset;
    *offset = next_offset(text, len, from, end);
    return PATTERN_MATCH;
}

enum pattern_result pattern_search(const struct pattern *p, const char *text, size_t len)
{
    struct pattern_match m;
    size_t offset = 0;

    return pattern_next(p, text, len, &offset, &m);
}

int pattern_gave_up(const struct pattern *p, struct err *err)
{
    struct buf shown = BUF_INIT;

    text_neutral(&shown, p->source, strlen(p->source), 200);
    err_set(err, ERR_MEASURE, "pattern '%s' gave up: it backtracks too much", shown.data);
    buf_release(&shown);
    return err_hint(err, "avoid repeats inside repeats, and begin with a fixed word");
}
