/* plan/template and plan/command: what is executed in the end. */
#include "plan_made.h"

#include <stdlib.h>
#include <string.h>

#include "plan/command.h"

struct fixture {
    struct arena arena;
    struct plan plan;
    struct template_values values;
};

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct plan_request q;

    made_folder_open();
    q = made_request_run(&f->arena, "pair/a");
    made_plan(&f->plan, &q, &f->arena);
    f->values = (struct template_values){
        .port = 4711, .scratch = "/tmp/s", .run = 3, .seed = 18446744073709551615u};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    arena_release(&f->arena);
    free(f);
    made_folder_close();
    return 0;
}

static int fill(struct fixture *f, const char *text, const char **out, struct err *err)
{
    return template_fill(text, &f->plan, &f->plan.profiles[0], &f->plan.variants[0], &f->values,
                         out, &f->arena, err);
}

static void names_are_replaced_inside_an_item(void **state)
{
    static const char *const cases[][2] = {
        {"plain", "plain"},
        {"", ""},
        {"{port}", "4711"},
        {"{scratch}/stats.json", "/tmp/s/stats.json"},
        {"{run}-{seed}", "3-18446744073709551615"},
        {"{receiver.address}:{port}", "127.0.0.1:4711"},
        {"--streams={streams}!", "--streams=2!"},
        {"{rate}", "8000000"},
        {"{rate:Mbit/s}", "8"},
        {"{rate:MiB/s}", "0.95367431640625"},
        {"{rate:Gbit/s}", "0.008"},
        {"{duration}", "10"},
        {"{duration:ms}", "10000"},
        {"{size}", "1536"},
        {"{size:KiB}", "1.5"},
        {"{size:kB}", "1.536"},
        {"{loss}", "0.5"},
        {"{live}", "false"},
        {"{word}", "x"},
        {"{{port}", "{port}"},
        {"{{{port}}", "{4711}"},
        {"a}b", "a}b"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = {0};
        const char *out;

        if (fill(f, cases[i][0], &out, &err) < 0)
            fail_msg("%s: %s", cases[i][0], err.msg);
        assert_string_equal(out, cases[i][1]);
    }
}

static void the_program_is_an_absolute_path(void **state)
{
    struct fixture *f = *state;
    struct err err;
    const char *out;

    assert_int_equal(fill(f, "{program}", &out, &err), 0);
    assert_int_equal(out[0], '/');
    assert_non_null(strstr(out, "/old.sh"));
}

static void a_shipped_program_is_an_absolute_path(void **state)
{
    struct fixture *f = *state;
    struct err err;
    const char *out;

    assert_int_equal(fill(f, "{shipped.flow}", &out, &err), 0);
    assert_int_equal(out[0], '/');
    assert_non_null(strstr(out, "/runners/flow/flow"));
}

static void what_is_not_known_is_refused(void **state)
{
    static const char *const cases[][2] = {
        {"{prot}", "did you mean '{port}'?"},
        {"{streems}", "did you mean '{streams}'?"},
        {"{reciever.address}", "did you mean '{receiver.address}'?"},
        {"{}", "unknown name"},
        {"{ port}", "unknown name"},
        {"{port", "has no '}'"},
        {"{rate:Mbps}", "unknown unit 'Mbps'"},
        {"{streams:k}", "takes no"},
        {"{word:x}", "takes no"},
        {"{port:x}", "unknown name"},
        {"{shipped.no-such-program-here}", "'{shipped.no-such-program-here}'"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = {0};
        const char *out;

        assert_int_equal(fill(f, cases[i][0], &out, &err), -1);
        if (!strstr(err.msg, cases[i][1]) && !strstr(err.hint, cases[i][1]))
            fail_msg("%s: %s [%s]", cases[i][0], err.msg, err.hint);
        assert_int_equal(err.code, ERR_CONFIG);
    }
}

static void texts_that_differ_from_run_to_run_are_seen(void **state)
{
    (void)state;
    assert_true(template_varies("x{port}"));
    assert_true(template_varies("{{{run}"));
    assert_false(template_varies("{rate}{program}"));
    assert_false(template_varies("{{port}"));
}

/* ---- commands ---- */

static void command(struct fixture *f, size_t variant, size_t role, size_t pad,
                    struct role_command *out)
{
    const struct variant *v = &f->plan.variants[variant];
    struct err err = {0};

    if (plan_role_command(&f->plan, &f->plan.profiles[0], v,
                          &plan_runner(&f->plan, &f->plan.profiles[0], v)->roles[role], &f->values,
                          pad, out, &f->arena, &err) < 0)
        fail_msg("%s", err.msg);
}

static const char *setting(const struct role_command *c, const char *name)
{
    for (size_t i = 0; c->envp[i]; i++)
        if (strncmp(c->envp[i], name, strlen(name)) == 0 && c->envp[i][strlen(name)] == '=')
            return c->envp[i] + strlen(name) + 1;
    return NULL;
}

static void arguments_of_the_variant_follow_the_roles_own(void **state)
{
    struct fixture *f = *state;
    struct role_command c;

    f->plan.variants[1].args = (struct strings){0};
    strings_add(&f->plan.variants[1].args, &f->arena, "--last");
    command(f, 1, 1, 0, &c);
    assert_non_null(strstr(c.argv[0], "/new.sh"));
    assert_string_equal(c.argv[1], "send");
    assert_string_equal(c.argv[3], "127.0.0.1:4711");
    assert_string_equal(c.argv[7], "{raw}");
    assert_string_equal(c.argv[8], "10000");
    assert_string_equal(c.argv[9], "--last");
    assert_null(c.argv[10]);
    assert_true(c.varies);
}

static void the_environment_of_a_role_is_chosen_sorted_and_its_own(void **state)
{
    struct fixture *f = *state;
    struct role_command c;
    struct env_setting all[] = {{"TZ", "UTC"}, {"A", "all"}}, own[] = {{"A", "own"}};

    setenv("LD_PRELOAD_LIKE", "surprise", 1);
    setenv("ABBA_PAD", "old", 1);
    f->plan.env = all, f->plan.env_count = 2;
    f->plan.variants[0].env = own, f->plan.variants[0].env_count = 1;
    command(f, 0, 0, 5, &c);
    assert_null(setting(&c, "LD_PRELOAD_LIKE"));
    assert_string_equal(setting(&c, "A"), "own");
    assert_string_equal(setting(&c, "TZ"), "UTC");
    assert_string_equal(setting(&c, "LC_ALL"), "C.UTF-8");
    assert_non_null(setting(&c, "PATH"));
    size_t n = 0;
    for (; c.envp[n + 1]; n++)
        assert_true(n == 0 || strcmp(c.envp[n - 1], c.envp[n]) < 0);
    assert_int_equal(strncmp(c.envp[n], "ABBA_PAD=", 9), 0); /* last, and only there */
    unsetenv("LD_PRELOAD_LIKE");
    unsetenv("ABBA_PAD");
}

static void padding_makes_all_variants_equal_in_bytes(void **state)
{
    struct fixture *f = *state;
    struct role_command a, b;
    struct env_setting own[] = {{"LONG", "0123456789"}};
    struct err err;
    size_t pads[2];

    f->plan.variants[1].env = own, f->plan.variants[1].env_count = 1;
    strings_add(&f->plan.variants[1].args, &f->arena, "--more");
    for (size_t role = 0; role < 2; role++) {
        assert_int_equal(plan_role_pads(&f->plan, &f->plan.profiles[0], role, pads, &err), 0);
        assert_true(pads[0] > pads[1]);
        assert_int_equal(pads[1], 0);
        command(f, 0, role, pads[0], &a);
        command(f, 1, role, pads[1], &b);
        assert_int_equal(a.bytes, b.bytes);
    }
}

static void padding_of_any_size_fits_what_the_kernel_takes(void **state)
{
    const size_t pads[] = {0, 1, 99999, 100000, 100001, 200010, 1000003};
    struct fixture *f = *state;
    struct role_command none, padded;

    command(f, 0, 0, 0, &none);
    for (size_t i = 0; i < sizeof(pads) / sizeof(pads[0]); i++) {
        command(f, 0, 0, pads[i], &padded);
        assert_int_equal(padded.bytes, none.bytes + pads[i]);
        for (size_t n = 0; padded.envp[n]; n++)
            assert_true(strlen(padded.envp[n]) < 32 * 4096); /* MAX_ARG_STRLEN */
    }
}

static void a_command_has_one_size_in_all_runs(void **state)
{
    struct fixture *f = *state;
    struct role_command a, b;

    command(f, 0, 1, 0, &a);
    f->values.port = 9, f->values.run = 1000000;
    command(f, 0, 1, 0, &b);
    assert_int_equal(a.bytes, b.bytes);
}

static void a_role_that_names_another_program_by_name_is_refused(void **state)
{
    struct fixture *f = *state;
    struct role_command c;
    struct err err;
    struct runner_role role = f->plan.runners[0].roles[0];

    role.command = (struct strings){0};
    strings_add(&role.command, &f->arena, "ls");
    assert_int_equal(plan_role_command(&f->plan, &f->plan.profiles[0], &f->plan.variants[0], &role,
                                       &f->values, 0, &c, &f->arena, &err),
                     -1);
    assert_non_null(strstr(err.msg, "absolute path"));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(names_are_replaced_inside_an_item),
        CASE(the_program_is_an_absolute_path),
        CASE(a_shipped_program_is_an_absolute_path),
        CASE(what_is_not_known_is_refused),
        CASE(texts_that_differ_from_run_to_run_are_seen),
        CASE(arguments_of_the_variant_follow_the_roles_own),
        CASE(the_environment_of_a_role_is_chosen_sorted_and_its_own),
        CASE(padding_makes_all_variants_equal_in_bytes),
        CASE(padding_of_any_size_fits_what_the_kernel_takes),
        CASE(a_command_has_one_size_in_all_runs),
        CASE(a_role_that_names_another_program_by_name_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
