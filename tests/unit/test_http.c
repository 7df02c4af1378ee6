/* base/http: tries, limits, redirects and secrets, against a server that follows a script. */
#include "check.h"
#include "scripted_server.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/http.h"
#include "base/mem.h"
#include "base/url.h"

#define OK_TEXT(text) "HTTP/1.1 200 OK\r\nConnection: close\r\nETag: \"one\"\r\n\r\n" text
#define BUSY "HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

/* What a test sends, and what came of it. */
struct call {
    struct http_options options;
    struct http_request request;
    struct http_response response;
    struct scripted_server server;
    struct err err;
    char url[100], notes[4000];
    char *asked;
    int rc;
};

static void keep_note(void *user, const char *text)
{
    struct call *c = user;
    size_t used = strlen(c->notes);
    snprintf(c->notes + used, sizeof(c->notes) - used, "%s\n", text);
}

static void call_init(struct call *c)
{
    *c = (struct call){.response = HTTP_RESPONSE_INIT};
    c->options = (struct http_options){.note = keep_note, .user = c};
    c->options.limits = (struct http_limits){.pause_ns = 1000000, .tries = 4};
}

static void call_make(struct call *c, const char *const answers[], int count)
{
    struct http *h;

    scripted_server_start(&c->server, answers, count);
    snprintf(c->url, sizeof(c->url), "http://127.0.0.1:%d/a/b?token=geheim", c->server.port);
    if (!c->request.url)
        c->request.url = c->url;
    assert_int_equal(http_new(&h, &c->options, &c->err), 0);
    c->rc = http_send(h, &c->request, &c->response, &c->err);
    http_free(h);
    c->asked = scripted_server_end(&c->server);
    assert_null(strstr(c->err.msg, "geheim"));
    assert_null(strstr(c->err.hint, "geheim"));
    assert_null(strstr(c->notes, "geheim"));
}

static void call_end(struct call *c)
{
    http_response_release(&c->response);
    free(c->asked);
}

static int times(const char *text, const char *word)
{
    int n = 0;
    while ((text = strstr(text, word))) {
        n++;
        text += strlen(word);
    }
    return n;
}

static void busy_servers_are_asked_again(void **state)
{
    static const char *const answers[] = {
        BUSY,
        "HTTP/1.1 429 Slow\r\nRetry-After: 0\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "",
        OK_TEXT("hello")};
    struct call c;

    (void)state;
    call_init(&c);
    call_make(&c, answers, COUNT(answers));
    assert_int_equal(c.rc, 0);
    assert_int_equal(c.response.status, 200);
    assert_string_equal(c.response.body.data, "hello");
    assert_string_equal(http_header(&c.response, "ETAG"), "\"one\"");
    assert_int_equal(times(c.asked, "GET /a/b?token=geheim HTTP/1.1"), 4);
    assert_int_equal(times(c.notes, "trying again in"), 3);
    assert_non_null(strstr(c.notes, "neither encrypted nor authenticated"));
    call_end(&c);
}

static void the_last_answer_stands_when_tries_are_used_up(void **state)
{
    static const char *const answers[] = {BUSY, BUSY};
    struct call c;

    (void)state;
    call_init(&c);
    c.options.limits.tries = 2;
    call_make(&c, answers, COUNT(answers));
    assert_int_equal(c.rc, 0);
    assert_int_equal(c.response.status, 503);
    assert_int_equal(http_refused(&c.request, &c.response, "a\033b", &c.err), -1);
    assert_int_equal(c.err.code, ERR_SYSTEM);
    assert_non_null(strstr(c.err.msg, "answers 503 (unavailable): a\\x1bb"));
    call_end(&c);
}

static void a_pause_that_the_server_wants_is_kept_or_too_long(void **state)
{
    static const char *const answers[] = {
        "HTTP/1.1 503 B\r\nRetry-After: 3600\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"};
    struct call c;

    (void)state;
    call_init(&c);
    c.options.limits.total_ns = 30 * 1000000000LL;
    call_make(&c, answers, COUNT(answers));
    assert_int_equal(c.rc, 0);
    assert_int_equal(c.response.status, 503);
    assert_int_equal((int)(c.response.retry_after_ns / 1000000000), 3600);
    call_end(&c);
}

static void what_may_have_arrived_is_not_posted_twice(void **state)
{
    static const char *const cut[] = {"", OK_TEXT("")};
    static const char *const busy[] = {BUSY, OK_TEXT("")};
    struct call c;

    (void)state;
    for (int repeatable = 0; repeatable < 2; repeatable++) {
        call_init(&c);
        c.request = (struct http_request){
            .method = HTTP_POST, .body = "{}", .body_bytes = 2, .repeatable = repeatable == 1};
        call_make(&c, cut, COUNT(cut));
        assert_int_equal(c.rc, repeatable ? 0 : -1);
        assert_int_equal(times(c.asked, "POST "), repeatable ? 2 : 1);
        call_end(&c);
    }
    call_init(&c);
    c.request = (struct http_request){.method = HTTP_PATCH, .body = "{}", .body_bytes = 2};
    call_make(&c, busy, COUNT(busy));
    assert_int_equal(c.rc, 0);
    assert_int_equal(times(c.asked, "PATCH "), 2);
    assert_int_equal(times(c.asked, "\r\n\r\n{}"), 2);
    call_end(&c);
}

static void headers_and_a_token_are_sent_but_never_said(void **state)
{
    static const char *const answers[] = {
        "HTTP/1.1 401 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"};
    static const char *const headers[] = {"X-One: 1", "Content-Type: application/json"};
    struct call c;

    (void)state;
    call_init(&c);
    c.request = (struct http_request){.method = HTTP_PUT,
                                      .headers = headers,
                                      .header_count = 2,
                                      .bearer = "geheim2",
                                      .body = "abc",
                                      .body_bytes = 3};
    call_make(&c, answers, COUNT(answers));
    assert_non_null(strstr(c.asked, "PUT /a/b?token=geheim HTTP/1.1\r\n"));
    assert_non_null(strstr(c.asked, "Authorization: Bearer geheim2\r\n"));
    assert_non_null(strstr(c.asked, "X-One: 1\r\n"));
    assert_non_null(strstr(c.asked, "\r\n\r\nabc"));
    assert_int_equal(http_refused(&c.request, &c.response, NULL, &c.err), -1);
    assert_int_equal(c.err.code, ERR_CONFIG);
    assert_null(strstr(c.err.msg, "geheim"));
    assert_non_null(strstr(c.err.hint, "netrc"));
    call_end(&c);
}

static void a_token_goes_over_https_only(void **state)
{
    static const char *const answers[] = {OK_TEXT("")};
    struct call c;

    (void)state;
    call_init(&c);
    c.request = (struct http_request){.bearer = "geheim", .url = "http://store.invalid/x"};
    call_make(&c, answers, COUNT(answers));
    assert_int_equal(c.rc, -1);
    assert_int_equal(c.err.code, ERR_CONFIG);
    assert_non_null(strstr(c.err.msg, "over https only"));
    call_end(&c);
}

static void redirects_lead_to_https_alone(void **state)
{
    static const char *const answers[] = {
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/x?token=geheim\r\nContent-Length: 0\r\n"
        "Connection: close\r\n\r\n"};
    static const char *const to_file[] = {
        "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n"
        "Connection: close\r\n\r\n"};
    struct call c;

    (void)state;
    for (int i = 0; i < 2; i++) {
        call_init(&c);
        call_make(&c, i ? to_file : answers, 1);
        assert_int_equal(c.rc, -1);
        assert_int_equal(c.err.code, ERR_CONFIG);
        assert_non_null(strstr(c.err.hint, "redirects only to https"));
        call_end(&c);
    }
    call_init(&c);
    c.request = (struct http_request){.method = HTTP_PUT, .body = "x", .body_bytes = 1};
    call_make(&c, answers, 1);
    assert_int_equal(c.rc, 0);
    assert_int_equal(c.response.status, 302);
    assert_int_equal(http_refused(&c.request, &c.response, NULL, &c.err), -1);
    assert_non_null(strstr(c.err.hint, "'http://127.0.0.1:9/x'"));
    call_end(&c);
}

/* ---- into a file ---- */

static void check_file(int fd, const char *want)
{
    char got[100] = "";
    assert_true(pread(fd, got, sizeof(got) - 1, 0) >= 0);
    assert_string_equal(got, want);
}

static void a_cut_transfer_is_continued(void **state)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 10\r\n\r\n01234",
        "HTTP/1.1 206 Part\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5\r\n"
        "Connection: close\r\n\r\n56789"};
    struct call c;
    int fd = memfd_create("t", 0);

    (void)state;
    call_init(&c);
    c.request = (struct http_request){.to_file = true, .file = fd};
    call_make(&c, answers, COUNT(answers));
    assert_int_equal(c.rc, 0);
    assert_true(c.response.continued);
    assert_int_equal((int)c.response.bytes, 10);
    assert_non_null(strstr(c.asked, "Range: bytes=5-\r\n"));
    assert_non_null(strstr(c.asked, "If-Range: \"v1\"\r\n"));
    check_file(fd, "0123456789");
    close(fd);
    call_end(&c);
}

static void what_does_not_fit_behind_is_fetched_anew(void **state)
{
    static const struct {
        const char *answers[2];
        int count;
        bool continued;
        const char *file;
    } cases[] = {
        {{OK_TEXT("new")}, 1, false, "new"},
        {{"HTTP/1.1 416 No\r\nContent-Range: bytes */3\r\nContent-Length: 0\r\n\r\n"},
         1,
         true,
         "old"},
        {{"HTTP/1.1 416 No\r\nContent-Range: bytes */2\r\nConnection: close\r\n"
          "Content-Length: 0\r\n\r\n",
          OK_TEXT("ab")},
         2,
         false,
         "ab"},
        {{"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"}, 1, false, ""},
    };
    struct call c;

    (void)state;
    for (int i = 0; i < COUNT(cases); i++) {
        int fd = memfd_create("t", 0);
        assert_int_equal(write(fd, "old", 3), 3);
        call_init(&c);
        c.request = (struct http_request){.to_file = true, .file = fd};
        call_make(&c, cases[i].answers, cases[i].count);
        assert_int_equal(c.rc, 0);
        assert_int_equal(c.response.status, 200);
        assert_int_equal(c.response.continued, cases[i].continued);
        check_file(fd, cases[i].file);
        close(fd);
        call_end(&c);
    }
}

static void a_refusal_is_not_written_to_the_file(void **state)
{
    static const char *const answers[] = {
        "HTTP/1.1 404 No\r\nConnection: close\r\nContent-Length: 4\r\n\r\nnope"};
    struct call c;
    int fd = memfd_create("t", 0);

    (void)state;
    call_init(&c);
    c.request = (struct http_request){.to_file = true, .file = fd};
    call_make(&c, answers, COUNT(answers));
    assert_int_equal(c.response.status, 404);
    assert_string_equal(c.response.body.data, "nope");
    check_file(fd, "");
    close(fd);
    call_end(&c);
}

static void size_and_time_have_limits(void **state)
{
    static const char *const told[] = {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n01234"};
    static const char *const untold[] = {OK_TEXT("01234")};
    static const char *const slow[] = {"...HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n01"};
    struct call c;
    int fd = memfd_create("t", 0);

    (void)state;
    for (int i = 0; i < 3; i++) {
        call_init(&c);
        c.options.limits.max_bytes = i == 2 ? 100 : 4;
        c.options.limits.total_ns = i == 2 ? 200000000 : 0;
        c.request = (struct http_request){.to_file = true, .file = fd};
        call_make(&c, i == 0 ? told : i == 1 ? untold : slow, 1);
        assert_int_equal(c.rc, -1);
        assert_int_equal(c.err.code, ERR_SYSTEM);
        assert_non_null(strstr(c.err.msg, i == 2 ? "imed out" : "larger than the limit of 4B"));
        assert_int_equal(times(c.asked, "GET "), 1);
        assert_int_equal(ftruncate(fd, 0), 0);
        call_end(&c);
    }
    close(fd);
}

static void a_request_is_signed_as_version_4_wants(void **state)
{
    static const char *const answers[] = {OK_TEXT("")};
    static const struct http_keys keys = {"ID", "geheim", "session", "eu-1", "s3"};
    struct call c;

    (void)state;
    call_init(&c);
    c.request = (struct http_request){.method = HTTP_PUT,
                                      .keys = &keys,
                                      .body_sha256 = "UNSIGNED-PAYLOAD",
                                      .body = "x",
                                      .body_bytes = 1};
    call_make(&c, answers, COUNT(answers));
    assert_int_equal(c.rc, 0);
    assert_non_null(strstr(c.asked, "Authorization: AWS4-HMAC-SHA256 Credential=ID/"));
    assert_non_null(strstr(c.asked, "/eu-1/s3/aws4_request"));
    assert_non_null(strstr(c.asked, "x-amz-content-sha256: UNSIGNED-PAYLOAD\r\n"));
    assert_non_null(strstr(c.asked, "x-amz-security-token: session\r\n"));
    call_end(&c);
}

static void what_is_no_address_is_told(void **state)
{
    static const struct {
        const char *url, *says;
        enum err_code code;
    } cases[] = {
        {"nonsense", "'nonsense' is no URL", ERR_USAGE},
        {"ftp://x/y", "'ftp' is not supported here", ERR_USAGE},
        {"https://me:geheim@x/y", "'https://x/y' holds a user or a password", ERR_USAGE},
        {"http://name.invalid/", "name.invalid", ERR_CONFIG},
        {"file:///does/not/exist", "/does/not/exist", ERR_CONFIG},
        {"https://127.0.0.1:1/", "127.0.0.1", ERR_SYSTEM},
    };
    struct call c;

    (void)state;
    for (int i = 0; i < COUNT(cases); i++) {
        call_init(&c);
        c.request.url = cases[i].url;
        call_make(&c, NULL, 0);
        assert_int_equal(c.rc, -1);
        if (c.err.code != cases[i].code || !strstr(c.err.msg, cases[i].says))
            fail_msg("%s: %s", cases[i].url, c.err.msg);
        call_end(&c);
    }
}

static void an_authority_file_must_be_there(void **state)
{
    struct http_options options = {.ca_file = "/does/not/exist"};
    struct err err = {0};
    struct http *h;

    (void)state;
    assert_int_equal(http_new(&h, &options, &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    assert_non_null(strstr(err.msg, "'/does/not/exist'"));
}

/* ---- base/url ---- */

static void addresses_are_taken_apart_and_shown_without_secrets(void **state)
{
    struct arena arena = ARENA_INIT;
    struct buf out = BUF_INIT;
    struct err err = {0};
    const char *path;
    struct url u;

    (void)state;
    assert_int_equal(url_parse(&u, "HTTPS://h:8443/a%20b/c?q=1&r=2#sha256=00", &arena, &err), 0);
    assert_string_equal(u.scheme, "https");
    assert_string_equal(u.host, "h");
    assert_string_equal(u.port, "8443");
    assert_string_equal(u.path, "/a%20b/c");
    assert_string_equal(u.query, "q=1&r=2");
    assert_string_equal(u.fragment, "sha256=00");
    assert_string_equal(u.bare, "https://h:8443/a%20b/c?q=1&r=2");
    assert_string_equal(url_shown("https://u:p@h/a@b?x#y", &arena), "https://h/a@b");
    assert_string_equal(url_shown("https://u:p@h?x@y", &arena), "https://h");
    assert_string_equal(url_shown("x\033y", &arena), "x\\x1by");
    assert_int_equal(url_parse(&u, "s3://bucket/key", &arena, &err), 0);
    assert_string_equal(u.host, "bucket");
    assert_int_equal(url_parse(&u, "file:///a%20b", &arena, &err), 0);
    assert_int_equal(url_file_path(&u, &path, &arena, &err), 0);
    assert_string_equal(path, "/a b");
    assert_int_equal(url_parse(&u, "file:///a%00b", &arena, &err), 0);
    assert_int_equal(url_file_path(&u, &path, &arena, &err), -1);
    assert_true(url_looks_like("https://x"));
    assert_false(url_looks_like("./a://b"));
    assert_false(url_looks_like("https:x"));
    url_encode(&out, "a b/\xc3\xa4~", true);
    assert_string_equal(out.data, "a%20b/%C3%A4~");
    buf_release(&out);
    arena_release(&arena);
}

static void an_answer_that_leaves_it_open_ends_what_is_made_once(void **state)
{
    static const char *const answers[] = {
        BUSY, "HTTP/1.1 502 Bad\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"};
    struct call c;

    (void)state;
    call_init(&c);
    c.request =
        (struct http_request){.method = HTTP_POST, .body = "x", .body_bytes = 1, .once = true};
    call_make(&c, answers, COUNT(answers));
    assert_int_equal(c.rc, 0);
    assert_int_equal(c.response.status, 502);
    assert_int_equal(times(c.asked, "POST /a/b"), 2);
    call_end(&c);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_servers_are_asked_again),
        cmocka_unit_test(the_last_answer_stands_when_tries_are_used_up),
        cmocka_unit_test(a_pause_that_the_server_wants_is_kept_or_too_long),
        cmocka_unit_test(what_may_have_arrived_is_not_posted_twice),
        cmocka_unit_test(an_answer_that_leaves_it_open_ends_what_is_made_once),
        cmocka_unit_test(headers_and_a_token_are_sent_but_never_said),
        cmocka_unit_test(a_token_goes_over_https_only),
        cmocka_unit_test(redirects_lead_to_https_alone),
        cmocka_unit_test(a_cut_transfer_is_continued),
        cmocka_unit_test(what_does_not_fit_behind_is_fetched_anew),
        cmocka_unit_test(a_refusal_is_not_written_to_the_file),
        cmocka_unit_test(size_and_time_have_limits),
        cmocka_unit_test(a_request_is_signed_as_version_4_wants),
        cmocka_unit_test(what_is_no_address_is_told),
        cmocka_unit_test(an_authority_file_must_be_there),
        cmocka_unit_test(addresses_are_taken_apart_and_shown_without_secrets),
    };

    for (const char *const *name = (const char *const[]){"http_proxy", "https_proxy", "ALL_PROXY",
                                                         "CURL_CA_BUNDLE", "SSL_CERT_FILE", NULL};
         *name; name++)
        unsetenv(*name);
    return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
