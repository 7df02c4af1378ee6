#include "cli/supports.h"

#include "base/clock.h"
#include "base/mem.h"
#include "plan/command.h"
#include "plan/support.h"

#include <string.h>

#define ASK_NS (10 * NSEC_PER_SEC)

/* What follows SUPPORT_LACKING in the program's output, to the end of the line. */
static const char *lacking(const struct role_outcome *role, struct arena *arena)
{
    const char *said, *end = NULL;

    if (role->end != ROLE_EXITED || role->exit_code != SUPPORT_EXIT_LACKING)
        return NULL;
    said = role->out.head ? strstr(role->out.head, SUPPORT_LACKING) : NULL;
    if (!said)
        return NULL;
    said += strlen(SUPPORT_LACKING);
    end = strchr(said, '\n');
    return arena_strndup(arena, said, end ? (size_t)(end - said) : strlen(said));
}

int supports_look(struct supports *s, const struct plan *plan, const struct profile *profile,
                  const struct variant *variant, const char **reason, struct arena *arena,
                  struct err *err)
{
    const struct run_options options = {.max_roles = 1, .wake_fd = -1};
    struct role_command command;
    struct run_role role = {.name = "supports", .net_fd = -1};
    const struct run_request request = {
        .roles = &role, .role_count = 1, .stdin_fd = -1, .timeout_ns = ASK_NS};
    const struct outcome *outcome;

    *reason = NULL;
    if (support_command(plan, profile, variant, &command, arena, err) < 0)
        return -1;
    if (!command.argv)
        return 0;
    role.argv = command.argv;
    role.envp = command.envp;
    if ((!s->host && run_host_open(&s->host, &options, err) < 0) ||
        run_execute(s->host, &request, &outcome, err) < 0)
        return -1;
    *reason = lacking(&outcome->roles[0], arena);
    return 0;
}

void supports_close(struct supports *s)
{
    run_host_close(s->host);
    s->host = NULL;
}
