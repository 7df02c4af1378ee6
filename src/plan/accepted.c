#include "plan/accepted.h"

#include "base/mem.h"
#include "plan/load.h"

#include <fnmatch.h>
#include <string.h>

static bool is_of_series(const struct plan *p, const struct accepted *a)
{
    for (size_t i = 0; i < p->profile_count; i++)
        if (fnmatch(a->profile, p->profiles[i].name, 0) == 0)
            return true;
    return false;
}

static int add(struct plan *p, const char *name, struct arena *arena, struct err *err)
{
    struct accepted a;

    if (load_accepted(name, &a, NULL, arena, err) < 0)
        return -1;
    for (size_t i = 0; i < p->accepted_count; i++)
        if (strcmp(p->accepted[i].name, a.name) == 0)
            return err_set(err, ERR_USAGE, "accepted change '%s' is there twice", a.name);
    if (!is_of_series(p, &a))
        strings_add(&p->notes, arena,
                    arena_printf(arena,
                                 "accepted change '%s' is of profile '%s', which is not run here",
                                 a.name, a.profile));
    else if (!plan_yields_anywhere(p, a.metric))
        strings_add(&p->notes, arena,
                    arena_printf(arena,
                                 "accepted change '%s' is of '%s', which no profile of this "
                                 "series yields",
                                 a.name, a.metric));
    else
        p->accepted[p->accepted_count++] = a;
    return 0;
}

int accepted_resolve(struct plan *p, const struct plan_request *q, struct arena *arena,
                     struct err *err)
{
    struct strings names = q->accepted;

    if (q->no_accepted)
        return 0;
    if (names.count == 0 && strcmp(p->command, "run") == 0)
        lookup_names(LOOKUP_ACCEPTED, &names, arena);
    p->accepted = arena_array(arena, names.count + 1, sizeof(*p->accepted));
    for (size_t i = 0; i < names.count; i++)
        if (add(p, names.items[i], arena, err) < 0)
            return -1;
    return 0;
}
