#include "report/csv.h"

#include "base/buf.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "model/sample.h"

#include <string.h>

/* A text cell: one line, quoted where RFC 4180 wants it; nothing in it starts a formula. */
static void put_text(struct buf *out, const char *text)
{
    struct buf plain = BUF_INIT;

    if (text && text[0] && strchr("=+-@", text[0]))
        buf_addch(&plain, '\'');
    if (text)
        text_neutral(&plain, text, strlen(text), 0);
    if (!strpbrk(plain.data, ",\"")) {
        buf_add(out, plain.data, plain.len);
    } else {
        buf_addch(out, '"');
        for (size_t i = 0; i < plain.len; i++) {
            if (plain.data[i] == '"')
                buf_addch(out, '"');
            buf_addch(out, plain.data[i]);
        }
        buf_addch(out, '"');
    }
    buf_release(&plain);
}

static void put_run(struct buf *out, const struct sample *s)
{
    buf_printf(out, "%llu,", (unsigned long long)s->run);
    put_text(out, s->profile);
    buf_printf(out, ",%s,%llu,%u,%u,", sample_stage_name(s->stage), (unsigned long long)s->pair,
               s->slot, s->attempt);
    put_text(out, s->variant);
    buf_printf(out, ",%s,%s,", sample_status_name(s->status), s->started);
    put_text(out, s->error);
}

static void put_metric(struct buf *out, const struct sample_metric *m)
{
    bool has_number = m->value.status == VALUE_OK || m->value.status == VALUE_SCALED;
    char number[JSON_DOUBLE_TEXT] = "";

    if (has_number)
        json_format_double(m->value.number, number);
    put_text(out, m->name);
    buf_printf(out, ",%s,", number);
    put_text(out, m->unit);
    buf_printf(out, ",%s,", value_status_name(m->value.status));
    put_text(out, m->value.reason);
    buf_addstr(out, "\r\n");
}

void report_csv_head(struct buf *out)
{
    buf_addstr(out, "run,profile,stage,pair,slot,attempt,variant,run_status,started,error,"
                    "metric,value,unit,status,reason\r\n");
}

void report_csv_sample(const struct sample *s, struct buf *out)
{
    static const struct sample_metric none = {
        .name = "", .unit = "", .value = {.status = VALUE_MISSING, .reason = "no metric was read"}};
    struct buf run = BUF_INIT;

    put_run(&run, s);
    buf_addch(&run, ',');
    for (size_t m = 0; m < s->metric_count || m == 0; m++) {
        buf_add(out, run.data, run.len);
        put_metric(out, s->metric_count ? &s->metrics[m] : &none);
    }
    buf_release(&run);
}
