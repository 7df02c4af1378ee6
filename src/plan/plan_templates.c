/* Every template of a plan, filled before the first run. */
#include "plan/plan_parts.h"

#include "plan/command.h"
#include "plan/memory.h"
#include "plan/template.h"

#include <stdlib.h>

static int check_file_template(const struct plan *p, const struct profile *profile,
                               const struct variant *v, const struct extraction *from,
                               const struct template_values *values, struct arena *arena,
                               struct err *err)
{
    const char *filled;

    if (!from->file)
        return 0;
    if (template_fill(from->file, p, profile, v, values, &filled, arena, err) < 0)
        return err_wrap(err, "file '%s'", from->file);
    return 0;
}

static int check_ready_port(const struct plan *p, const struct profile *profile,
                            const struct variant *v, const struct runner_role *role,
                            const struct template_values *values, struct arena *arena,
                            struct err *err)
{
    const char *filled;
    char *end;
    unsigned long port;

    if (!role->ready.port)
        return 0;
    if (template_fill(role->ready.port, p, profile, v, values, &filled, arena, err) < 0)
        return err_wrap(err, "role '%s': ready", role->name);
    port = strtoul(filled, &end, 10);
    if (filled[0] >= '0' && filled[0] <= '9' && *end == '\0' && port >= 1 && port <= UINT16_MAX)
        return 0;
    return err_set(err, ERR_CONFIG, "role '%s': ready: '%s' is no port: 1 to 65535", role->name,
                   filled);
}

/* Every template of a runner, filled with values such as a run has. */
static int check_runner_templates(const struct plan *p, const struct profile *profile,
                                  const struct variant *v, struct arena *arena, struct err *err)
{
    const struct runner *r = plan_runner(p, profile, v);
    struct template_values values = {.port = 40000, .scratch = "/tmp/scratch", .run = 1, .seed = 1};
    struct role_command command;

    for (size_t i = 0; i < r->role_count; i++)
        if (plan_role_command(p, profile, v, &r->roles[i], &values, 0, &command, arena, err) < 0 ||
            (profile->pass == PASS_TIMES && memory_check_absent(command.envp, err) < 0) ||
            check_ready_port(p, profile, v, &r->roles[i], &values, arena, err) < 0)
            return -1;
    for (size_t i = 0; i < r->metric_count; i++)
        if (check_file_template(p, profile, v, &r->metrics[i].from, &values, arena, err) < 0)
            return -1;
    for (size_t i = 0; i < r->integrity_count; i++)
        if (check_file_template(p, profile, v, &r->integrity[i], &values, arena, err) < 0)
            return -1;
    for (size_t i = 0; i < r->invalid_count; i++)
        if (check_file_template(p, profile, v, &r->invalid[i].from, &values, arena, err) < 0)
            return -1;
    return 0;
}

int plan_check_templates(const struct plan *p, struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < p->profile_count; i++)
        for (size_t k = 0; k < p->variant_count; k++)
            if (check_runner_templates(p, &p->profiles[i], &p->variants[k], arena, err) < 0)
                return err_wrap(err, "runner '%s'",
                                plan_runner(p, &p->profiles[i], &p->variants[k])->name);
    return 0;
}
