/* base/xml: texts by path, and documents that are refused. */
#include "check.h"

#include <string.h>

#include "base/buf.h"
#include "base/xml.h"

static void note(void *user, const char *path, const char *text)
{
    buf_printf(user, "%s=%s;", path, text);
}

static void texts_are_told_by_path(void **state)
{
    static const char text[] =
        "<?xml version=\"1.0\"?>\n<s:R xmlns:s=\"x\" a=\"b\">\n <A> 1 &amp; 2 "
        "</A><B><A>&#228;</A></B><C/></s:R>";
    struct buf out = BUF_INIT;
    struct err err = {0};

    (void)state;
    assert_int_equal(xml_walk(text, strlen(text), note, &out, &err), 0);
    assert_string_equal(out.data, "R/A=1 & 2;R/B/A=\xc3\xa4;R/B=;R/C=;R=;");
    buf_release(&out);
}

static void what_is_no_plain_xml_is_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "line 1, column 1"},
        {"{}", "not well-formed"},
        {"<a><b></a>", "line 1, column 9: mismatched tag"},
        {"<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "it has a document type"},
        {"<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>", "nested too deep"},
    };
    struct buf out = BUF_INIT;
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(xml_walk(cases[i].text, strlen(cases[i].text), note, &out, &err), -1);
        assert_int_equal(err.code, ERR_SYSTEM);
        if (!strstr(err.msg, cases[i].says))
            fail_msg("%s: %s", cases[i].text, err.msg);
    }
    buf_release(&out);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_told_by_path),
        cmocka_unit_test(what_is_no_plain_xml_is_refused),
    };

    return cmocka_run_group_tests_name("xml", tests, NULL, NULL);
}
