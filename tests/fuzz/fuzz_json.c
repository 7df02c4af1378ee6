/* Whatever the text: the scanner and cJSON agree, and what was read survives being written. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_cursor.h"
#include "base/json_writer.h"

static void must(bool ok)
{
    if (!ok)
        abort();
}

static struct json *parse(const struct buf *b)
{
    struct err err;
    struct json *j = json_parse(b->data, b->len, "again", &err);

    must(j != NULL);
    return j;
}

static void check_cursor(struct json_cursor *c, const struct json *j);

/* Written text is taken again, and holds the same. */
static void check_writing(const struct json *j, void (*write)(const struct json *, struct buf *))
{
    struct buf text = BUF_INIT;
    struct buf again = BUF_INIT;
    struct json_cursor c;

    write(j, &text);
    jc_init(&c, text.data, text.len);
    check_cursor(&c, j);
    struct json *back = parse(&text);
    write(back, &again);
    must(again.len == text.len && memcmp(again.data, text.data, text.len) == 0);
    json_free(back);
    buf_release(&again);
    buf_release(&text);
}

static void check_canonical(const struct json *j)
{
    struct buf text = BUF_INIT;
    struct buf again = BUF_INIT;
    struct err err;

    if (json_write_canonical(j, &text, &err) == 0) {
        struct json *back = parse(&text);
        must(json_write_canonical(back, &again, &err) == 0);
        must(strcmp(again.data, text.data) == 0);
        json_free(back);
    }
    buf_release(&again);
    buf_release(&text);
}

static void check_cursor_text(const struct json_text *t, const char *want)
{
    struct buf b = BUF_INIT;

    must(json_text_is(t, want));
    must(json_text_add(t, &b) == 0);
    must(strcmp(b.data, want) == 0);
    buf_release(&b);
}

static void check_cursor_object(struct json_cursor *c, const struct json *j)
{
    struct json_text key;

    must(jc_enter_object(c));
    for (const struct json *n = json_first(j); n != NULL; n = json_next(n)) {
        must(jc_next_key(c, &key));
        check_cursor_text(&key, json_key(n));
        check_cursor(c, n);
    }
    must(!jc_next_key(c, &key));
}

static void check_cursor_array(struct json_cursor *c, const struct json *j)
{
    must(jc_enter_array(c));
    for (const struct json *n = json_first(j); n != NULL; n = json_next(n)) {
        must(jc_next_item(c));
        check_cursor(c, n);
    }
    must(!jc_next_item(c));
}

/* The cursor sees what the tree holds; and skipping ends where reading does. */
static void check_cursor(struct json_cursor *c, const struct json *j)
{
    struct json_cursor skipping = *c;
    struct json_text text;
    double number;
    bool yes;

    must(jc_kind(c) == json_kind(j));
    jc_skip(&skipping, &text);
    switch (json_kind(j)) {
    case JSON_NULL:
        must(jc_null(c));
        break;
    case JSON_BOOL:
        must(jc_bool(c, &yes) && yes == json_bool(j));
        break;
    case JSON_NUMBER: {
        double want = json_number(j);
        must(jc_double(c, &number) && memcmp(&number, &want, sizeof want) == 0);
        break;
    }
    case JSON_STRING:
        must(jc_string(c, &text));
        check_cursor_text(&text, json_string(j));
        break;
    case JSON_ARRAY:
        check_cursor_array(c, j);
        break;
    case JSON_OBJECT:
        check_cursor_object(c, j);
        break;
    }
    must(c->at == skipping.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct json_rules foreign = {.big_integers = true};
    const char *text = (const char *)data;
    struct json_cursor c;
    struct err err = {0};

    struct json *loose = json_parse_with(text, size, "loose", &foreign, &err);
    struct json *j = json_parse(text, size, "f", &err);
    must(j == NULL || loose != NULL);
    if (loose != NULL) {
        jc_init(&c, text, size);
        check_cursor(&c, loose);
    } else {
        must(err.msg[0] != '\0');
    }
    if (j != NULL) {
        check_writing(j, json_write);
        check_writing(j, json_write_pretty);
        check_canonical(j);
    }
    json_free(j);
    json_free(loose);
    return 0;
}
