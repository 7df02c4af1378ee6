#include "plan/support.h"

#include "base/buf.h"
#include "base/mem.h"
#include "plan/command.h"

#include <string.h>

int support_command(const struct plan *p, const struct profile *profile,
                    const struct variant *variant, struct role_command *command,
                    struct arena *arena, struct err *err)
{
    const struct runner *r = plan_runner(p, profile, variant);
    const struct runner_role role = {.name = "supports", .command = r->supports};
    const struct template_values values = {.port = 1, .scratch = "", .run = 1, .seed = 1};

    *command = (struct role_command){0};
    if (r->supports.count == 0)
        return 0;
    return plan_role_command(p, profile, variant, &role, &values, 0, command, arena, err);
}

/* Why a profile cannot be run by all variants, or NULL. */
static int why_not(const struct plan *p, const struct plan_request *q, const struct profile *one,
                   const char **why, struct arena *arena, struct err *err)
{
    const char *reason = NULL;

    *why = NULL;
    for (size_t i = 0; i < p->variant_count; i++) {
        const struct variant *v = &p->variants[i];

        if (q->look_at_support(q->user, p, one, v, &reason, arena, err) < 0)
            return err_wrap(err, "profile '%s': variant '%s'", one->name, v->name);
        if (!reason)
            continue;
        *why = arena_printf(arena, "variant '%s': %s", v->name, reason);
        return 0;
    }
    return 0;
}

void support_note(struct plan *p, const struct profile *all, const char *const *why, size_t count,
                  size_t first, const char *one_is, const char *many_are, struct arena *arena)
{
    struct buf names = BUF_INIT;
    size_t named = 0;

    for (size_t i = 0; i < first; i++)
        if (why[i] && strcmp(why[i], why[first]) == 0)
            return; /* noted with that one */
    for (size_t i = first; i < count; i++)
        if (why[i] && strcmp(why[i], why[first]) == 0)
            buf_printf(&names, "%s'%s'", named++ ? ", " : "", all[i].name);
    strings_add(&p->notes, arena,
                arena_printf(arena, "%s %s %s: %s", named > 1 ? "profiles" : "profile", names.data,
                             named > 1 ? many_are : one_is, why[first]));
    buf_release(&names);
}

int support_check(struct plan *p, const struct plan_request *q, struct arena *arena,
                  struct err *err)
{
    const size_t count = p->profile_count;
    const char **why = arena_array(arena, count, sizeof(*why));
    struct profile *all = arena_array(arena, count, sizeof(*all));
    size_t kept = 0;

    if (!q->look_at_support)
        return 0;
    memcpy(all, p->profiles, count * sizeof(*all));
    for (size_t i = 0; i < count; i++)
        if (why_not(p, q, &all[i], &why[i], arena, err) < 0)
            return -1;
    for (size_t i = 0; i < count; i++) {
        if (!why[i])
            p->profiles[kept++] = all[i];
        else if (q->unsupported_fail || (i + 1 == count && kept == 0))
            return err_set(err, ERR_CONFIG, "profile '%s' is unsupported: %s", all[i].name, why[i]);
        else
            support_note(p, all, why, count, i, "is left out, unsupported",
                         "are left out, unsupported", arena);
    }
    p->profile_count = kept;
    return 0;
}
