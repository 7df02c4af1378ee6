/* plan/support: profiles that a variant cannot run are left out, and each reason is said once. */
#include "plan_made.h"

#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/buf.h"
#include "plan/command.h"
#include "plan/support.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    made_folder_open();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_release(&arena);
    made_folder_close();
    return 0;
}

/* The candidate lacks what the streams of `user` need; with no user, nobody lacks anything. */
static int look(void *user, const struct plan *plan, const struct profile *profile,
                const struct variant *variant, const char **reason, struct arena *a,
                struct err *err)
{
    const char *streams = profile_load(profile, "streams");

    (void)plan, (void)err;
    *reason = NULL;
    if (user && streams && strstr(user, streams) && strcmp(variant->name, "candidate") == 0)
        *reason = arena_strdup(a, "no such thing");
    return 0;
}

static struct plan_request asking(const char *lacking, const char *profile)
{
    struct plan_request q = made_request_run(&arena, profile);

    q.look_at_support = look;
    q.user = (void *)lacking;
    return q;
}

static void a_profile_that_a_variant_cannot_run_is_left_out_and_said(void **state)
{
    struct plan_request q = asking("32", "pair/m");
    struct plan p;

    (void)state;
    made_plan(&p, &q, &arena);
    assert_int_equal(p.profile_count, 1);
    assert_string_equal(p.profiles[0].name, "pair/m,streams=1");
    assert_int_equal(p.notes.count, 1);
    assert_string_equal(p.notes.items[0], "profile 'pair/m,streams=32' is left out, unsupported: "
                                          "variant 'candidate': no such thing");
}

static void one_reason_of_several_profiles_is_said_once(void **state)
{
    struct plan_request q = asking("1 32", "pair/m");
    struct plan p;

    (void)state;
    made_file("profiles/pair/b.json", "{'profile':'pair/b','runner':'pair','load':{'streams':5}}");
    strings_add(&q.profiles, &arena, "pair/b");
    made_plan(&p, &q, &arena);
    assert_int_equal(p.profile_count, 1);
    assert_int_equal(p.notes.count, 1);
    assert_string_equal(p.notes.items[0],
                        "profiles 'pair/m,streams=1', 'pair/m,streams=32' are left out, "
                        "unsupported: variant 'candidate': no such thing");
}

static void refused(const struct plan_request *q)
{
    struct err err = {0};
    struct plan p;

    assert_int_equal(plan_build(&p, q, &arena, &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    assert_non_null(strstr(err.msg, "is unsupported: variant 'candidate': no such thing"));
}

static void where_no_profile_is_left_and_where_it_shall_fail_it_is_an_error(void **state)
{
    struct plan_request none = asking("1 32", "pair/m"), fail = asking("32", "pair/m");

    (void)state;
    refused(&none);
    fail.unsupported_fail = true;
    refused(&fail);
}

static void what_every_variant_can_run_stays_as_it_is(void **state)
{
    struct plan_request q = asking(NULL, "pair/m");
    struct plan p;

    (void)state;
    made_plan(&p, &q, &arena);
    assert_int_equal(p.profile_count, 2);
    assert_int_equal(p.notes.count, 0);
}

static void the_command_that_asks_is_filled_and_stays_with_the_plan(void **state)
{
    struct plan_request q = asking(NULL, "pair/s");
    struct role_command command;
    struct buf text = BUF_INIT;
    struct err err = {0};
    struct json *json;
    struct plan p, again;

    (void)state;
    made_file("runners/pair/runner.json",
              "{'runner':'pair','program':'old.sh','roles':{'only':{'command':['{program}']}},"
              "'load':{'streams':{'type':'integer','default':7}},"
              "'supports':['{program}','check','{streams}']}");
    made_file("profiles/pair/s.json", "{'profile':'pair/s','runner':'pair','pairs':6}");
    made_plan(&p, &q, &arena);
    assert_int_equal(plan_encode(&p, &text, &err), 0);
    json = json_parse(text.data, text.len, "plan", &err);
    assert_non_null(json);
    assert_int_equal(plan_decode(&again, json, "plan", &arena, &err), 0);
    again.variants[1].path = "/new";
    assert_int_equal(
        support_command(&again, &again.profiles[0], &again.variants[1], &command, &arena, &err), 0);
    assert_string_equal(command.argv[0], "/new");
    assert_string_equal(command.argv[1], "check");
    assert_string_equal(command.argv[2], "7");
    json_free(json);
    buf_release(&text);
}

static void a_runner_without_such_a_command_is_not_asked(void **state)
{
    struct plan_request q = asking(NULL, "pair/a");
    struct role_command command;
    struct err err = {0};
    struct plan p;

    (void)state;
    made_plan(&p, &q, &arena);
    assert_int_equal(support_command(&p, &p.profiles[0], &p.variants[0], &command, &arena, &err),
                     0);
    assert_null(command.argv);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_profile_that_a_variant_cannot_run_is_left_out_and_said),
        CASE(one_reason_of_several_profiles_is_said_once),
        CASE(where_no_profile_is_left_and_where_it_shall_fail_it_is_an_error),
        CASE(what_every_variant_can_run_stays_as_it_is),
        CASE(the_command_that_asks_is_filled_and_stays_with_the_plan),
        CASE(a_runner_without_such_a_command_is_not_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
