#include "plan_made.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"

static char folder[64];

void made_file(const char *path, const char *text)
{
    struct arena arena = ARENA_INIT;
    struct err err;
    char *copy = arena_strdup(&arena, text);

    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    if (files_mkdirs(files_dirname(&arena, path), &err) < 0 ||
        files_write_atomic(path, copy, strlen(copy), &err) < 0)
        fail_msg("%s", err.msg);
    arena_release(&arena);
}

void made_program(const char *path, const char *text)
{
    made_file(path, text);
    assert_int_equal(chmod(path, 0755), 0);
}

static const char pair_runner[] =
    "{'runner':'pair','program':'old.sh','roles':{"
    "'receiver':{'command':['{program}','receive','--port','{port}'],'ready':{'tcp':'{port}'}},"
    "'sender':{'command':['{program}','send','--to','{receiver.address}:{port}','--rate','{rate}',"
    "'--streams={streams}','{{raw}','{duration:ms}'],'after':['receiver']}},"
    "'load':{'streams':{'type':'integer','min':1,'default':1},"
    "'rate':{'type':'rate','default':'8Mbit/s'},'duration':{'type':'time','default':'10s'},"
    "'live':{'type':'bool','default':false},'loss':{'type':'percent','default':'0.5%'},"
    "'size':{'type':'size','default':'1536B'},'word':{'type':'string','default':'x'}},"
    "'metrics':[{'metric':'delivered_bytes','role':'receiver','pattern':'b=(?<value>1)','unit':'B'}"
    ","
    "{'metric':'delivery_time','role':'receiver','pattern':'t=(?<value>1)','unit':'s'},"
    "{'metric':'retries','role':'sender','pattern':'r=(?<value>1)','unit':'count',"
    "'better':'lower'}]}";

void made_folder_open(void)
{
    strcpy(folder, "/tmp/abba-unit-plan-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    unsetenv("ABBA_PATH");
    made_file("runners/pair/runner.json", pair_runner);
    made_file("runners/pair/variants/fast.json", "{'variant':'fast','args':['--fast']}");
    made_file("profiles/pair/a.json",
              "{'profile':'pair/a','runner':'pair','load':{'streams':2},'pairs':6,"
              "'min_complete':5,'pause':'1s'}");
    made_file("profiles/pair/m.json",
              "{'profile':'pair/m','runner':'pair','matrix':{'streams':[1,32]}}");
    made_file("profiles/pair/cores.json",
              "{'profile':'pair/cores','runner':'pair','matrix':{'cpus':['0','all']}}");
    made_file("thresholds/default.json",
              "{'thresholds':'default','pairs':8,'confirm':16,"
              "'limits':{'throughput':{'worse':'10%'},'peak_rss':{'worse':'15%'}}}");
    made_program("old.sh", "#!/bin/sh\nexit 0\n");
    made_program("new.sh", "#!/bin/sh\nexit 0 # new\n");
}

void made_folder_close(void)
{
    struct err err;

    assert_int_equal(chdir("/"), 0);
    assert_int_equal(files_remove_tree(folder, &err), 0);
}

struct plan_request made_request(const char *command)
{
    return (struct plan_request){
        .command = command,
        .pairs = -1,
        .confirm = -1,
        .warmup = -1,
        .pause_ns = -1,
        .timeout_ns = -1,
        .isolation = "subreaper",
    };
}

struct plan_request made_request_run(struct arena *arena, const char *profile)
{
    struct plan_request q = made_request("run");

    strings_add(&q.profiles, arena, profile);
    strings_add(&q.variants, arena, "./old.sh");
    strings_add(&q.variants, arena, "./new.sh");
    return q;
}

void made_plan(struct plan *p, const struct plan_request *q, struct arena *arena)
{
    struct err err = {0};

    if (plan_build(p, q, arena, &err) < 0)
        fail_msg("%s [%s]", err.msg, err.hint);
}
