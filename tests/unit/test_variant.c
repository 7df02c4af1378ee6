/* model/variant: variant files. */
#include "refused.h"

#include "base/json_writer.h"
#include "model/variant.h"

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

DECODES(struct variant, variant_decode)

static const char full[] =
    "{'variant':'v1','description':'d','runner':'r','program':'./my prog',"
    "'args':['-x','a b'],'env':{'Z':'1','A':''},"
    "'source':{'commit':'abc','flags':['-O2'],'n':3},'sha256':'" SHA "','size':'16KiB'}";

static void a_variant_is_read_in_full(void **state)
{
    struct arena arena = ARENA_INIT;
    struct variant v = taken(full, &arena);

    (void)state;
    assert_string_equal(v.name, "v1");
    assert_string_equal(v.runner, "r");
    assert_string_equal(v.program, "./my prog");
    assert_int_equal(v.args.count, 2);
    assert_string_equal(v.env[0].name, "A");
    assert_string_equal(v.source_json, "{\"commit\":\"abc\",\"flags\":[\"-O2\"],\"n\":3}");
    assert_string_equal(v.sha256, SHA);
    assert_int_equal(v.size_bytes, 16384);
    assert_string_equal(v.display, "A= Z=1 './my prog' -x 'a b'");
    v = taken("{'variant':'v'}", &arena);
    assert_null(v.program);
    assert_null(v.runner);
    assert_string_equal(v.display, "v");
    arena_release(&arena);
}

static void encoding_and_decoding_are_inverse(void **state)
{
    struct arena arena = ARENA_INIT;
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct json_writer w;
    struct err err = {0};
    struct variant v = taken(full, &arena);

    (void)state;
    v.path = "/somewhere/else";
    jw_init(&w, &first, false);
    variant_encode(&v, &w);
    assert_null(strstr(first.data, "somewhere"));
    struct json *tree = json_parse(first.data, first.len, "f.json", &err);
    assert_int_equal(variant_decode(&v, tree, "f.json", &arena, &err), 0);
    jw_init(&w, &second, false);
    variant_encode(&v, &w);
    assert_string_equal(first.data, second.data);
    json_free(tree);
    buf_release(&first);
    buf_release(&second);
    arena_release(&arena);
}

static void variants_are_identical_when_they_run_the_same_bytes_in_the_same_way(void **state)
{
    struct arena arena = ARENA_INIT;
    struct variant a = taken(full, &arena), b = taken(full, &arena);

    (void)state;
    b.name = "other";
    assert_true(variant_identical(&a, &b));
    b.args.count = 1;
    assert_false(variant_identical(&a, &b));
    b = taken(full, &arena);
    b.env[0].value = "x";
    assert_false(variant_identical(&a, &b));
    b = taken(full, &arena);
    b.runner = NULL;
    assert_false(variant_identical(&a, &b));
    b = taken(full, &arena);
    a.sha256[0] = b.sha256[0] = '\0'; /* unknown is not the same */
    assert_false(variant_identical(&a, &b));
    arena_release(&arena);
}

static void files_and_roles_are_read_and_written(void **state)
{
    struct arena arena = ARENA_INIT;
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct json_writer w;
    struct err err = {0};
    struct variant v = taken("{'variant':'v','files':{'lib':'build/libfoo.so','aux':{'file':'x',"
                             "'sha256':'" SHA "','size':'3B'}},'roles':{'sender':{'program':'new',"
                             "'args':[],'env':{'A':'1'},'files':{'lib':'y'}}}}",
                             &arena);

    (void)state;
    assert_int_equal(v.file_count, 2);
    assert_string_equal(v.files[0].name, "aux");
    assert_string_equal(v.files[1].file, "build/libfoo.so");
    assert_int_equal(v.role_count, 1);
    assert_true(v.roles[0].has_args);
    assert_ptr_equal(variant_of_role(&v, "sender"), &v.roles[0].part);
    assert_ptr_equal(variant_of_role(&v, "receiver"), &v);
    jw_init(&w, &first, false);
    variant_encode(&v, &w);
    struct json *tree = json_parse(first.data, first.len, "f.json", &err);
    assert_int_equal(variant_decode(&v, tree, "f.json", &arena, &err), 0);
    jw_init(&w, &second, false);
    variant_encode(&v, &w);
    assert_string_equal(first.data, second.data);
    json_free(tree);
    buf_release(&first);
    buf_release(&second);
    arena_release(&arena);
}

static void a_role_that_runs_something_else_is_another_variant(void **state)
{
    struct arena arena = ARENA_INIT;
    struct variant a = taken(full, &arena), b = taken(full, &arena);
    struct variant_role role = {.name = "sender", .part = b};

    (void)state;
    b.roles = &role;
    b.role_count = 1;
    assert_true(variant_identical(&a, &b)); /* the same under another heading */
    role.part.args.count = 1;
    assert_false(variant_identical(&a, &b));
    assert_false(variant_identical(&b, &a));
    arena_release(&arena);
}

static void faults_are_named_with_their_place(void **state)
{
    static const struct refusal list[] = {
        {"{}", "variant"},
        {"{'variant':'a b'}", "cannot name a variant"},
        {"{'variant':'v','arg':[]}", "did you mean \"args\"?"},
        {"{'variant':'v','args':'x'}", "$.args"},
        {"{'variant':'v','args':[1]}", "$.args[0]"},
        {"{'variant':'v','program':''}", "empty"},
        {"{'variant':'v','env':{'A=B':'1'}}", "no variable's name"},
        {"{'variant':'v','env':{'':'1'}}", "no variable's name"},
        {"{'variant':'v','env':{'ABBA_PAD':'1'}}", "abba sets it itself"},
        {"{'variant':'v','env':{'A':1}}", "$.env.A"},
        {"{'variant':'v','env':{'A':'1','A':'2'}}", "duplicate"},
        {"{'variant':'v','source':{'t':1.5}}", "$.source"},
        {"{'variant':'v','sha256':'abc'}", "64 digits"},
        {"{'variant':'v','size':5}", "unit"},
    };

    (void)state;
    check_refused(decode, list, sizeof(list) / sizeof(list[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variant_is_read_in_full),
        cmocka_unit_test(encoding_and_decoding_are_inverse),
        cmocka_unit_test(files_and_roles_are_read_and_written),
        cmocka_unit_test(a_role_that_runs_something_else_is_another_variant),
        cmocka_unit_test(variants_are_identical_when_they_run_the_same_bytes_in_the_same_way),
        cmocka_unit_test(faults_are_named_with_their_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
