/*
 * bench_json: what a line of samples.jsonl costs to write, scan, walk and parse into a tree.
 * Prints CPU time: ns a line and MB/s.  usage: bench_json [MEGABYTES]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_cursor.h"
#include "base/json_writer.h"

#define METRICS 40

static void write_metric(struct json_writer *w, int run, int metric)
{
    static const char *const names[] = {"throughput", "cpu_per_gbit", "peak_rss", "wall_time"};
    char name[32];

    snprintf(name, sizeof name, "%s_%d", names[metric % 4], metric);
    jw_key(w, name);
    jw_object_begin(w);
    jw_key(w, "value");
    if (metric % 4 == 2)
        jw_uint(w, (uint64_t)(run * 4096 + metric));
    else if (metric % 4 == 3)
        jw_double(w, (1000000000 + run * 137 + metric) / 1e9);
    else
        jw_double(w, 320.0 / (1 + run * 1e-7 + metric));
    jw_key(w, "unit");
    jw_string(w, "Mbit/s");
    jw_key(w, "status");
    jw_string(w, "ok");
    jw_object_end(w);
}

static void write_line(struct buf *out, int run)
{
    struct json_writer w;

    jw_init(&w, out, false);
    jw_object_begin(&w);
    jw_key(&w, "run");
    jw_int(&w, run);
    jw_key(&w, "variant");
    jw_string(&w, "baseline");
    jw_key(&w, "profile");
    jw_string(&w, "flow/10-streams");
    jw_key(&w, "error");
    jw_null(&w);
    jw_key(&w, "metrics");
    jw_object_begin(&w);
    for (int m = 0; m < METRICS; m++)
        write_metric(&w, run, m);
    jw_object_end(&w);
    jw_object_end(&w);
    buf_addch(out, '\n');
}

static double walk(const char *line, size_t len)
{
    struct json_cursor c;
    struct json_text key;
    struct json_text status;
    double sum = 0;
    double value = 0;

    jc_init(&c, line, len);
    jc_enter_object(&c);
    while (jc_next_key(&c, &key)) {
        if (!json_text_is(&key, "metrics")) {
            jc_skip(&c, NULL);
            continue;
        }
        jc_enter_object(&c);
        while (jc_next_key(&c, &key)) {
            jc_enter_object(&c);
            while (jc_next_key(&c, &key)) {
                if (json_text_is(&key, "value"))
                    jc_double(&c, &value);
                else if (json_text_is(&key, "status"))
                    jc_string(&c, &status);
                else
                    jc_skip(&c, NULL);
            }
            sum += value;
        }
    }
    return sum;
}

static int64_t cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return clock_timespec_ns(&ts);
}

enum { SCAN, SCAN_WALK, SCAN_TREE };

static void over_lines(const struct buf *text, int what)
{
    struct err err;
    const char *p = text->data;
    const char *end = text->data + text->len;

    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t len = (size_t)(newline - p);
        if (what == SCAN_TREE) {
            json_free(json_parse(p, len, "bench", &err));
        } else {
            if (json_scan(p, len, "bench", NULL, &err) < 0)
                exit(1);
            if (what == SCAN_WALK && walk(p, len) < 0)
                exit(1);
        }
        p = newline + 1;
    }
}

static void report(const char *what, int64_t ns, const struct buf *text, int lines)
{
    printf("%-12s %8.0f ns/line %8.0f MB/s\n", what, (double)ns / lines,
           (double)text->len / ((double)ns / 1e3));
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"scan", "scan, walk", "scan, tree"};
    size_t bytes = (size_t)(argc > 1 ? strtoul(argv[1], NULL, 10) : 40) * 1000000;
    struct buf text = BUF_INIT;
    int lines = 0;

    buf_reserve(&text, bytes + 100000);
    int64_t start = cpu_ns();
    while (text.len < bytes)
        write_line(&text, ++lines);
    report("write", cpu_ns() - start, &text, lines);
    for (int what = SCAN; what <= SCAN_TREE; what++) {
        start = cpu_ns();
        over_lines(&text, what);
        report(names[what], cpu_ns() - start, &text, lines);
    }
    buf_release(&text);
    return 0;
}
