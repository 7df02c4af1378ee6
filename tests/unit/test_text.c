/* base/text: widths, and hostile text that can do no harm. */
#include "check.h"

#include <string.h>

#include "base/text.h"

static void width_is_columns_not_bytes(void **state)
{
    (void)state;
    assert_int_equal(text_width(""), 0);
    assert_int_equal(text_width("abc"), 3);
    assert_int_equal(text_width("\u00b5s"), 2);            /* micro sign */
    assert_int_equal(text_width("e\u0301"), 1);            /* combining acute */
    assert_int_equal(text_width("\u4e2d\u6587"), 4);       /* CJK */
    assert_int_equal(text_width("\u26a1"), 2);             /* lightning */
    assert_int_equal(text_width("\U0001F4A9"), 2);         /* poop */
    assert_int_equal(text_width("\uff21"), 2);             /* full-width A */
    assert_int_equal(text_width("\u200b"), 0);             /* zero-width space */
    assert_int_equal(text_width("\u2026\u00b1\u2212"), 3); /* ellipsis, plus-minus, minus */
    assert_int_equal(text_width("\xFF\xC3"), 2);           /* not UTF-8: one each */
    assert_int_equal(text_width("\uac00"), 2);             /* Hangul */
}

static const char *truncated(const char *s, size_t width)
{
    static char out[128];
    struct buf b = BUF_INIT;

    text_truncate(&b, s, width);
    snprintf(out, sizeof out, "%s", b.data);
    buf_release(&b);
    return out;
}

static void cutting_keeps_to_the_width_and_to_whole_characters(void **state)
{
    (void)state;
    assert_string_equal(truncated("hello", 5), "hello");
    assert_string_equal(truncated("hello!", 5), "hell\u2026");
    assert_string_equal(truncated("\u4e2d\u6587\u5b57", 4), "\u4e2d\u2026");
    assert_string_equal(truncated("\u4e2d\u6587", 4), "\u4e2d\u6587");
    assert_string_equal(truncated("hello", 1), "\u2026");
    assert_string_equal(truncated("hello", 0), "");
    assert_string_equal(truncated("ae\u0301\u0302bcd", 3), "ae\u0301\u0302\u2026");
}

static void padding_fills_to_the_width(void **state)
{
    struct buf b = BUF_INIT;

    (void)state;
    text_pad_right(&b, "\u00b5s", 4);
    buf_addch(&b, '|');
    text_pad_right(&b, "\u26a1", 4);
    buf_addch(&b, '|');
    text_pad_right(&b, "too long", 4);
    assert_string_equal(b.data, "\u00b5s  |\u26a1  |too long");
    buf_release(&b);
}

static const char *neutral(const char *p, size_t n, size_t max)
{
    static char out[512];
    struct buf b = BUF_INIT;

    text_neutral(&b, p, n, max);
    snprintf(out, sizeof out, "%s", b.data);
    assert_int_equal(strlen(out), b.len);
    buf_release(&b);
    return out;
}

#define NEUTRAL(s) neutral(s, sizeof(s) - 1, 0)

static void hostile_text_is_made_visible(void **state)
{
    (void)state;
    assert_string_equal(NEUTRAL("plain \u00e9 \U0001F600"), "plain \u00e9 \U0001F600");
    assert_string_equal(NEUTRAL("\x1b[2J\x1b]0;x\x07"), "\\x1b[2J\\x1b]0;x\\x07");
    assert_string_equal(NEUTRAL("a\nb\r\tc"), "a\\nb\\r\\tc");
    assert_string_equal(NEUTRAL("nul\0!"), "nul\\x00!");
    assert_string_equal(NEUTRAL("\xff\xc3("), "\\xff\\xc3(");
    assert_string_equal(NEUTRAL("\u202eevil\u2066"), "\\u{202e}evil\\u{2066}");
    assert_string_equal(NEUTRAL("\xc2\x9b"
                                "31m"),
                        "\\u{9b}31m");
    assert_string_equal(NEUTRAL("\u2028\u200b\ufeff"), "\\u{2028}\\u{200b}\\u{feff}");
    assert_string_equal(NEUTRAL("\U000E0041"), "\\u{e0041}");
    assert_string_equal(NEUTRAL("C:\\x1b"), "C:\\\\x1b");
    assert_string_equal(NEUTRAL("\x7f"), "\\x7f");
}

static void what_is_shown_is_bounded(void **state)
{
    char text[4096];

    (void)state;
    memset(text, 'a', sizeof text);
    assert_string_equal(neutral(text, 10, 10), "aaaaaaaaaa");
    assert_string_equal(neutral(text, 11, 10), "aaaaaaa\u2026");
    assert_string_equal(neutral("\x01\x01\x01\x01", 4, 10), "\\x01\u2026");
    assert_string_equal(neutral("abc", 3, 2), "");
    memset(text, 0x1b, sizeof text);
    for (size_t max = 1; max < 100; max++)
        assert_true(strlen(neutral(text, sizeof text, max)) <= max);
}

static const char *markdown(const char *s)
{
    static char out[512];
    struct buf b = BUF_INIT;

    text_markdown(&b, s);
    snprintf(out, sizeof out, "%s", b.data);
    buf_release(&b);
    return out;
}

static void markup_is_defused_in_markdown(void **state)
{
    (void)state;
    assert_string_equal(markdown("plain text, 1.5%"), "plain text, 1.5%");
    assert_string_equal(markdown("a|b"), "a\\|b");
    assert_string_equal(markdown("<img src=x>"), "&lt;img src\\=x&gt;");
    assert_string_equal(markdown("&amp;"), "&amp;amp;");
    assert_string_equal(markdown("@octocat"), "@\u200boctocat");
    assert_string_equal(markdown("fixes #12"), "fixes \\#\u200b12");
    assert_string_equal(markdown("https://x.y"), "https:\u200b//x.y");
    assert_string_equal(markdown("www.x.y"), "www\u200b.x.y");
    assert_string_equal(markdown("[a](b)"), "\\[a\\]\\(b\\)");
    assert_string_equal(markdown("`code` *b* _i_ ~s~"), "\\`code\\` \\*b\\* \\_i\\_ \\~\u200bs\\~");
    assert_string_equal(markdown("!1 %2 &3"), "\\!\u200b1 %\u200b2 &amp;\u200b3");
    assert_string_equal(markdown("GH-12 x-1 5%x"), "GH\\-\u200b12 x\\-1 5%x");
    assert_string_equal(markdown("a\nb"), "a b");
    assert_string_equal(markdown("\x1b\u202e\xff"), "\ufffd\ufffd\ufffd");
}

static const char *code(const char *s)
{
    static char out[512];
    struct buf b = BUF_INIT;

    text_markdown_code(&b, s);
    snprintf(out, sizeof out, "%s", b.data);
    buf_release(&b);
    return out;
}

static void code_spans_cannot_be_left(void **state)
{
    (void)state;
    assert_string_equal(code("x"), "`x`");
    assert_string_equal(code("a`b"), "``a`b``");
    assert_string_equal(code("``"), "``` `` ```");
    assert_string_equal(code("a|b\nc"), "`a\\|b c`");
    assert_string_equal(code(" x "), "`  x  `");
    assert_string_equal(code(""), "`  `");
}

static const char *xml(const char *s)
{
    static char out[512];
    struct buf b = BUF_INIT;

    text_xml(&b, s);
    snprintf(out, sizeof out, "%s", b.data);
    buf_release(&b);
    return out;
}

static void xml_holds_only_what_xml_can(void **state)
{
    (void)state;
    assert_string_equal(xml("<a href=\"x\">'&'</a>"),
                        "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
    assert_string_equal(xml("a\x01\x1b\xff\uffff"
                            "b"),
                        "ab");
    assert_string_equal(xml("a\n\tb"), "a&#10;&#9;b");
    assert_string_equal(xml("]]>"), "]]&gt;");
    assert_string_equal(xml("\U0001F600"), "\U0001F600");
}

static void distance_counts_edits(void **state)
{
    (void)state;
    assert_int_equal(text_distance("", ""), 0);
    assert_int_equal(text_distance("abc", ""), 3);
    assert_int_equal(text_distance("kitten", "sitting"), 3);
    assert_int_equal(text_distance("durtion", "duration"), 1);
    assert_int_equal(text_distance("laod", "load"), 1);
    assert_int_equal(text_distance("LOAD", "load"), 0);
}

static void the_nearest_word_is_offered_only_if_it_is_near(void **state)
{
    static const char *const words[] = {"duration", "streams", "rate", "load", "network"};
    const size_t n = sizeof words / sizeof *words;
    char longest[300];

    (void)state;
    assert_string_equal(text_nearest("durtion", words, n), "duration");
    assert_string_equal(text_nearest("stream", words, n), "streams");
    assert_string_equal(text_nearest("Rate", words, n), "rate");
    assert_string_equal(text_nearest("net", words, n), "network");
    assert_null(text_nearest("xyzzy", words, n));
    assert_null(text_nearest("", words, n));
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_null(text_nearest(longest, words, n));
}

static void overlong_forms_and_surrogates_are_not_utf_8(void **state)
{
    static const char *const bad[] = {"\xC0\x80",         "\xC1\xBF",         "\xE0\x80\x80",
                                      "\xE0\x9F\xBF",     "\xED\xA0\x80",     "\xF0\x8F\xBF\xBF",
                                      "\xF4\x90\x80\x80", "\xF8\x88\x80\x80", "\x80"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(text_is_utf8(bad[i], strlen(bad[i])));
    assert_true(text_is_utf8("\xE0\xA0\x80\xF0\x90\x80\x80", 7));
}

static void every_code_point_survives_encoding(void **state)
{
    struct buf b = BUF_INIT;
    uint32_t back;

    (void)state;
    for (uint32_t c = 1; c < 0x110000; c += c < 0x900 ? 1 : 97) {
        buf_clear(&b);
        text_encode(&b, c);
        size_t n = text_decode(b.data, b.len, &back);
        if (c >= 0xD800 && c <= 0xDFFF) {
            assert_int_equal(n, 0);
            continue;
        }
        assert_int_equal(n, b.len);
        assert_int_equal(back, c);
        for (size_t cut = 1; cut < b.len; cut++)
            assert_int_equal(text_decode(b.data, cut, &back), 0);
    }
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(width_is_columns_not_bytes),
        cmocka_unit_test(cutting_keeps_to_the_width_and_to_whole_characters),
        cmocka_unit_test(padding_fills_to_the_width),
        cmocka_unit_test(hostile_text_is_made_visible),
        cmocka_unit_test(what_is_shown_is_bounded),
        cmocka_unit_test(markup_is_defused_in_markdown),
        cmocka_unit_test(code_spans_cannot_be_left),
        cmocka_unit_test(xml_holds_only_what_xml_can),
        cmocka_unit_test(distance_counts_edits),
        cmocka_unit_test(the_nearest_word_is_offered_only_if_it_is_near),
        cmocka_unit_test(overlong_forms_and_surrogates_are_not_utf_8),
        cmocka_unit_test(every_code_point_survives_encoding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
