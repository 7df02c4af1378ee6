#include "check.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "model/loaded.h"

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct arena arena;

static int end(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static int read_text(const char *text, struct loaded *l, struct err *err)
{
    struct json *tree = json_parse(text, strlen(text), "loaded.json", err);

    if (!tree)
        fail_msg("%s", err->msg);
    int rc = loaded_decode(l, tree, "loaded.json", &arena, err);
    json_free(tree);
    return rc;
}

static void what_is_written_reads_back(void **state)
{
    size_t places[] = {0, 1};
    const char *flags[] = {"GNU C17 12.2.0 -O2", NULL};
    struct loaded_file files[] = {{.path = "/usr/lib/libfoo.so.1.2",
                                   .sha256 = SHA,
                                   .size_bytes = 4711,
                                   .build_id = "beef",
                                   .soname = "libfoo.so.1",
                                   .package = "deb foo 1.2",
                                   .compilers = {flags, 1, 1}},
                                  {.path = "/memfd:jit (deleted)", .reason = "it has no path"}};
    struct loaded_role roles[] = {{.variant = "baseline",
                                   .profile = "p/one",
                                   .role = "sender",
                                   .run = 3,
                                   .looks = 7,
                                   .files = places,
                                   .file_count = 2},
                                  {.variant = "candidate",
                                   .profile = "p/one",
                                   .role = "sender",
                                   .reason = "it ended before it could be looked at"}};
    struct loaded l = {.tool = "abba 1",
                       .tool_sha256 = SHA,
                       .files = files,
                       .file_count = 2,
                       .roles = roles,
                       .role_count = 2},
                  back;
    struct buf one = BUF_INIT, two = BUF_INIT;
    struct err err = {0};

    (void)state;
    loaded_encode(&l, &one);
    if (read_text(one.data, &back, &err) < 0)
        fail_msg("%s", err.msg);
    loaded_encode(&back, &two);
    assert_string_equal(one.data, two.data);
    assert_string_equal(back.files[0].compilers.items[0], flags[0]);
    assert_int_equal(back.files[0].size_bytes, 4711);
    assert_null(back.files[1].sha256);
    assert_int_equal(back.roles[0].files[1], 1);
    buf_release(&one);
    buf_release(&two);
}

#define FILE_A                                                                                     \
    "{\"path\":\"/a\",\"sha256\":\"" SHA                                                           \
    "\",\"size\":1,\"build_id\":null,\"soname\":null,\"package\":null,\"compilers\":[],"           \
    "\"reason\":null}"
#define TOOL "\"tool\":{\"version\":\"abba 1\",\"sha256\":null,\"build_id\":null}"
#define ROLE(files, reason)                                                                        \
    "{\"variant\":\"b\",\"profile\":\"p\",\"role\":\"r\",\"run\":1,\"looks\":1,\"reason\":" reason \
    ",\"files\":" files "}"
#define ALL(files, roles) "{\"abba\":1," TOOL ",\"files\":[" files "],\"roles\":[" roles "]}"

static void refuses(const char *text, const char *complaint)
{
    struct loaded l;
    struct err err = {0};

    if (read_text(text, &l, &err) == 0)
        fail_msg("taken: %s", text);
    if (!strstr(err.msg, complaint))
        fail_msg("'%s' does not say '%s'", err.msg, complaint);
}

static void what_does_not_fit_is_refused(void **state)
{
    struct loaded l;
    struct err err = {0};

    (void)state;
    assert_int_equal(read_text(ALL(FILE_A, ROLE("[0]", "null")), &l, &err), 0);
    refuses(ALL(FILE_A, ROLE("[1]", "null")), "files[0]");
    refuses(ALL(FILE_A "," FILE_A, ROLE("[1,0]", "null")), "files[1]");
    refuses(ALL(FILE_A "," FILE_A, ROLE("[1,1]", "null")), "files[1]");
    refuses(ALL(FILE_A, ROLE("[]", "null")), "either files or a reason");
    refuses(ALL(FILE_A, ROLE("[0]", "\"x\"")), "either files or a reason");
    refuses("{\"abba\":2," TOOL ",\"files\":[],\"roles\":[]}", "abba");
    refuses("{\"abba\":1," TOOL ",\"files\":[],\"roles\":[],\"more\":1}", "more");
    refuses("{\"abba\":1,\"tool\":{\"version\":\"abba 1\",\"sha256\":\"zz\",\"build_id\":null},"
            "\"files\":[],\"roles\":[]}",
            "sha256");
    refuses("{\"abba\":1,\"tool\":{\"version\":\"abba 1\",\"sha256\":null,\"build_id\":\"abc\"},"
            "\"files\":[],\"roles\":[]}",
            "build_id");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_is_written_reads_back, end),
        cmocka_unit_test_teardown(what_does_not_fit_is_refused, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
