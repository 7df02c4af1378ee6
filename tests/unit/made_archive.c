#include "check.h"

#include "made_archive.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "model/order.h"
#include "outcomes.h"

static const char plan_json[] =
    "{\"series\": \"p\", \"command\": \"run\", \"analysis\": 1,"
    " \"variants\": [{\"variant\": \"baseline\", \"program\": \"old\"},"
    "                {\"variant\": \"candidate\", \"program\": \"new\"}],"
    " \"runners\": [{\"runner\": \"flow\", \"roles\": {"
    "     \"receiver\": {\"command\": [\"{program}\", \"r\"]},"
    "     \"sender\": {\"command\": [\"{program}\", \"s\"], \"after\": [\"receiver\"]}}}],"
    " \"profiles\": [{\"profile\": \"p/one\", \"runner\": \"flow\", \"warmup\": 1},"
    "                {\"profile\": \"p/two\", \"runner\": \"flow\"}],"
    " \"thresholds\": {\"thresholds\": \"t\", \"rule\": \"bounded\", \"pairs\": 2, \"confirm\": 2,"
    "                  \"limits\": {\"peak_rss\": {\"worse\": \"10%\"}}},"
    " \"events\": [], \"seed\": \"1\", \"aa\": false, \"allow_failures\": false,"
    " \"unsupported\": \"skip\", \"isolation\": \"pid-namespace\"}";

static void make_plan(struct made_archive *m)
{
    struct err err = {0};
    struct json *tree = json_parse(plan_json, strlen(plan_json), "plan", &err);

    if (!tree || plan_decode(&m->plan, tree, "plan", &m->arena, &err) < 0 ||
        plan_seal(&m->plan, &err) < 0)
        fail_msg("%s", err.msg);
    json_free(tree);
}

static void make_machine(struct made_archive *m)
{
    static struct machine_setting settings[] = {{"aslr", "2"}, {"governor", NULL}};
    static struct machine_counter counters[] = {
        {"PERF_COUNT_HW_CPU_CYCLES", VALUE_UNSUPPORTED, "no PMU here"},
        {"PERF_COUNT_SW_CPU_MIGRATIONS", VALUE_OK, NULL}};

    m->machine = (struct machine){.kernel = "Linux 6.18.44 x86_64",
                                  .cpu_model = "Some CPU @ 2 GHz",
                                  .cpus = 2,
                                  .allowed_cpus = 2,
                                  .page_bytes = 4096,
                                  .memory_mib = 3900,
                                  .isolation = "pid-namespace",
                                  .settings = settings,
                                  .setting_count = 2,
                                  .counters = counters,
                                  .counter_count = 2};
}

void made_archive_open(struct made_archive *m, const char *where)
{
    struct err err = {0};

    memset(m, 0, sizeof *m);
    m->attempt = 1;
    snprintf(m->base, sizeof m->base, "%s/abba-archive-XXXXXX", where ? where : "/tmp");
    assert_non_null(mkdtemp(m->base));
    snprintf(m->folder, sizeof m->folder, "%s/deep/a", m->base);
    make_plan(m);
    make_machine(m);
    m->roles[0] = outcome_role("receiver", "ready\nrate=5\n", "");
    m->roles[1] = outcome_role("sender", "", "a warning\n");
    m->outcome = outcome_of(m->roles, 2);
    if (archive_writer_new(&m->writer, m->folder, &err) < 0 ||
        archive_writer_series(m->writer, &m->plan, &m->machine, &err) < 0)
        fail_msg("%s", err.msg);
}

static struct sample_role role_of(const struct role_outcome *o)
{
    return (struct sample_role){.name = o->name,
                                .end = "exited",
                                .cgroup_cpu_s = o->cpu.cgroup_s,
                                .peak_rss_bytes = o->peak_rss_bytes,
                                .processes = 1,
                                .cpus = o->cpus};
}

int made_archive_run(struct made_archive *m, size_t profile, enum sample_stage stage, uint64_t n,
                     struct err *err)
{
    struct order_step step = order_step(&m->plan, profile, stage, n);
    struct sample_metric metric = {"peak_rss", "B", {1048576, VALUE_OK, 1, NULL}, 0};
    struct sample_role roles[] = {role_of(&m->roles[0]), role_of(&m->roles[1])};
    struct sample s = {.run = m->runs + 1,
                       .pair = step.pair,
                       .slot = step.slot,
                       .attempt = m->attempt,
                       .status = m->status,
                       .error = m->status == SAMPLE_OK ? NULL : "for a reason",
                       .stage = stage,
                       .variant = m->plan.variants[step.variant].name,
                       .profile = m->plan.profiles[profile].name,
                       .started = "2024-05-06T07:08:09.123Z",
                       .metrics = &metric,
                       .metric_count = 1,
                       .roles = roles,
                       .role_count = 2,
                       .noise = m->outcome.noise};
    struct arena arena = ARENA_INIT;
    int rc = archive_writer_sample(m->writer, &s, &m->outcome, &arena, err);

    if (m->runs == 0)
        m->first_profile = profile;
    m->runs += rc == 0;
    arena_release(&arena);
    return rc;
}

void made_archive_stage(struct made_archive *m, size_t profile, enum sample_stage stage)
{
    struct err err = {0};

    for (uint64_t n = 0; n < order_count(&m->plan, profile, stage); n++)
        if (made_archive_run(m, profile, stage, n, &err) < 0)
            fail_msg("%s", err.msg);
}

void made_archive_all(struct made_archive *m)
{
    for (size_t i = 0; i < m->plan.profile_count; i++) {
        made_archive_stage(m, i, STAGE_WARMUP);
        made_archive_stage(m, i, STAGE_MAIN);
    }
}

/* Every role of every variant; one of them was seen. */
static void write_loaded(struct made_archive *m)
{
    static const char sha256[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    struct loaded_file file = {
        .path = "/opt/old", .sha256 = sha256, .size_bytes = 9, .build_id = "beef"};
    struct loaded_role roles[8];
    struct loaded l = {
        .tool = "abba 1", .files = &file, .file_count = 1, .roles = roles, .role_count = 8};
    size_t first = 0;
    struct err err = {0};

    for (size_t i = 0; i < 8; i++)
        roles[i] = (struct loaded_role){.variant = m->plan.variants[i / 4].name,
                                        .profile = m->plan.profiles[i / 2 % 2].name,
                                        .role = m->roles[i % 2].name,
                                        .reason = "it ended before it could be looked at"};
    if (m->first_profile == 0 && m->runs > 0) {
        roles[0].run = roles[0].looks = roles[0].file_count = 1;
        roles[0].files = &first;
        roles[0].reason = NULL;
    }
    if (archive_writer_loaded(m->writer, &l, &err) < 0)
        fail_msg("%s", err.msg);
}

void made_archive_finish(struct made_archive *m)
{
    struct err err = {0};
    static const char report[] = "{\"abba\": 1}\n";

    write_loaded(m);
    if (archive_writer_finish(m->writer, report, strlen(report), m->digest, &err) < 0)
        fail_msg("%s", err.msg);
    archive_writer_free(m->writer);
    m->writer = NULL;
}

void made_archive_release(struct made_archive *m)
{
    struct err err;

    archive_writer_free(m->writer);
    if (m->base[0])
        files_remove_tree(m->base, &err);
    arena_release(&m->arena);
}

const char *made_archive_path(struct made_archive *m, const char *name)
{
    return arena_printf(&m->arena, "%s/%s", m->folder, name);
}

char *made_archive_read(struct made_archive *m, const char *name, size_t *len)
{
    struct buf text = BUF_INIT;
    struct err err = {0};

    if (files_read(made_archive_path(m, name), 1 << 24, &text, &err) < 0)
        fail_msg("%s", err.msg);
    char *kept = arena_alloc(&m->arena, text.len + 1);
    memcpy(kept, text.data, text.len);
    if (len)
        *len = text.len;
    buf_release(&text);
    return kept;
}

void made_archive_write(struct made_archive *m, const char *name, const char *text, size_t len)
{
    struct err err = {0};

    if (files_write_atomic(made_archive_path(m, name), text, len, &err) < 0)
        fail_msg("%s", err.msg);
}

void made_archive_alter(struct made_archive *m, const char *name, const char *old, const char *new)
{
    char *text = made_archive_read(m, name, NULL);
    char *at = strstr(text, old);

    assert_non_null(at);
    *at = '\0';
    const char *all = arena_printf(&m->arena, "%s%s%s", text, new, at + strlen(old));
    made_archive_write(m, name, all, strlen(all));
}
