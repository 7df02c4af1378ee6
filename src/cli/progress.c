#include "cli/progress.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/terminal.h"

#include <string.h>
#include <unistd.h>

#define REDRAW_NS (100 * NSEC_PER_MSEC)
#define PLAIN_NS (15 * NSEC_PER_SEC)

void progress_init(struct progress *p, bool quiet)
{
    memset(p, 0, sizeof(*p));
    p->quiet = quiet;
    p->terminal = isatty(STDERR_FILENO);
    p->utf8 = terminal_utf8();
}

/* "1h02m", "3m05s", "12s" */
static void time_left(uint64_t ns, struct buf *out)
{
    unsigned long long s = (ns + NSEC_PER_SEC - 1) / NSEC_PER_SEC;
    if (s >= 3600)
        buf_printf(out, "%lluh%02llum", s / 3600, s / 60 % 60);
    else if (s >= 60)
        buf_printf(out, "%llum%02llus", s / 60, s % 60);
    else
        buf_printf(out, "%llus", s);
}

static void bar(const struct progress *p, uint64_t done, uint64_t all, size_t width,
                struct buf *out)
{
    size_t full = all ? (size_t)(done * width / all) : 0;
    full = full > width ? width : full;
    const char *full_cell = p->utf8 ? "█" : "#", *empty_cell = p->utf8 ? "·" : ".";
    buf_addch(out, '[');
    for (size_t i = 0; i < width; i++)
        buf_addstr(out, i < full ? full_cell : empty_cell);
    buf_addstr(out, "] ");
}

/* "pair 3/8  candidate  flow/pingpong" */
static void what(const struct progress *p, const struct series_progress *now, struct buf *out)
{
    if (p->where)
        buf_printf(out, "%s  ", p->where);
    if (now->stage == STAGE_WARMUP)
        buf_addstr(out, "warm-up");
    else
        buf_printf(out, "%s %llu/%llu", now->stage == STAGE_CONFIRM ? "confirming pair" : "pair",
                   (unsigned long long)now->pair, (unsigned long long)now->pairs);
    buf_printf(out, "  %s  %s", now->variant->name, now->profile->name);
}

void progress_line(const struct progress *p, const struct series_progress *now, size_t columns,
                   struct buf *out)
{
    struct buf text = BUF_INIT;
    what(p, now, &text);
    if (p->failed)
        buf_printf(&text, "  %llu failed", (unsigned long long)p->failed);
    if (now->left_ns > 0 && now->stage != STAGE_WARMUP) {
        buf_addstr(&text, "  ");
        time_left(now->left_ns, &text);
        buf_addstr(&text, " left");
    }
    size_t used = text_width(text.data);
    size_t room = columns > used + 3 ? columns - used - 3 : 0;
    if (room >= 8)
        bar(p, now->run ? now->run - 1 : 0, now->runs, room > 30 ? 30 : room, out);
    text_truncate(out, text.data, columns);
    buf_release(&text);
}

static void draw(struct progress *p, const struct series_progress *now)
{
    struct buf line = BUF_INIT;
    int columns = terminal_columns(STDERR_FILENO);
    buf_addch(&line, '\r');
    progress_line(p, now, columns > 1 ? (size_t)columns - 1 : 79, &line);
    buf_addstr(&line, "\033[K");
    (void)files_write_all(STDERR_FILENO, line.data, line.len);
    p->drawn = true;
    buf_release(&line);
}

static void plain(const struct progress *p, const struct series_progress *now)
{
    struct buf line = BUF_INIT;
    buf_addstr(&line, "abba: ");
    what(p, now, &line);
    if (now->left_ns > 0 && now->stage != STAGE_WARMUP) {
        buf_addstr(&line, "  ");
        time_left(now->left_ns, &line);
        buf_addstr(&line, " left");
    }
    buf_addch(&line, '\n');
    (void)files_write_all(STDERR_FILENO, line.data, line.len);
    buf_release(&line);
}

void progress_show(struct progress *p, const struct series_progress *now)
{
    if (now->last && now->last->status != SAMPLE_OK)
        p->failed++;
    if (p->quiet)
        return;
    int64_t at = clock_mono_ns();
    bool new_stage = p->stage != now->profile || p->stage_kind != (int)now->stage;
    if (p->terminal) {
        if (!new_stage && at - p->last_ns < REDRAW_NS)
            return;
        draw(p, now);
    } else {
        if (now->stage == STAGE_WARMUP || (!new_stage && at - p->last_ns < PLAIN_NS))
            return;
        plain(p, now);
    }
    p->last_ns = at;
    p->stage = now->profile;
    p->stage_kind = (int)now->stage;
}

/* ---- bytes ---- */

static void add_bytes(struct buf *out, double bytes)
{
    struct units_scaled scaled;
    char digits[UNITS_TEXT];

    units_scale(bytes, "B", &scaled);
    units_digits(&scaled, digits);
    buf_printf(out, "%s%s", digits, scaled.suffix);
}

/* "sending 12.3MB of 40.0MB  2.10MB/s  13s left" */
static void bytes_text(const struct progress *p, const char *what, uint64_t done, uint64_t all,
                       int64_t now_ns, struct buf *out)
{
    double seconds = (double)(now_ns - p->begun_ns) / 1e9;
    double rate = seconds > 0.5 && done > p->begun_at ? (double)(done - p->begun_at) / seconds : 0;

    buf_printf(out, "%s ", what);
    add_bytes(out, (double)done);
    if (all) {
        buf_addstr(out, " of ");
        add_bytes(out, (double)all);
    }
    if (rate <= 0)
        return;
    buf_addstr(out, "  ");
    add_bytes(out, rate);
    buf_addstr(out, "/s");
    if (all > done) {
        buf_addstr(out, "  ");
        time_left((uint64_t)((double)(all - done) / rate * 1e9), out);
        buf_addstr(out, " left");
    }
}

static void draw_bytes(struct progress *p, const struct buf *text, uint64_t done, uint64_t all)
{
    int columns = terminal_columns(STDERR_FILENO);
    size_t width = columns > 1 ? (size_t)columns - 1 : 79, used = text_width(text->data);
    struct buf line = BUF_INIT;

    buf_addch(&line, '\r');
    if (all && width > used + 11)
        bar(p, done, all, width - used - 3 > 30 ? 30 : width - used - 3, &line);
    text_truncate(&line, text->data, width);
    buf_addstr(&line, "\033[K");
    (void)files_write_all(STDERR_FILENO, line.data, line.len);
    p->drawn = true;
    buf_release(&line);
}

void progress_bytes(struct progress *p, const char *what, uint64_t done, uint64_t all)
{
    int64_t now = clock_mono_ns();
    struct buf text = BUF_INIT;

    if (p->begun_ns == 0) {
        p->begun_ns = p->last_ns = now;
        p->begun_at = done;
    }
    if (p->quiet || now - p->last_ns < (p->terminal ? REDRAW_NS : PLAIN_NS))
        return;
    bytes_text(p, what, done, all, now, &text);
    if (p->terminal) {
        draw_bytes(p, &text, done, all);
    } else {
        buf_addch(&text, '\n');
        (void)files_write_all(STDERR_FILENO, "abba: ", 6);
        (void)files_write_all(STDERR_FILENO, text.data, text.len);
    }
    p->last_ns = now;
    buf_release(&text);
}

void progress_wipe(struct progress *p)
{
    if (p->drawn)
        (void)files_write_all(STDERR_FILENO, "\r\033[K", 4);
    p->drawn = false;
}
