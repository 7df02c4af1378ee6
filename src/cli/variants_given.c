#include "cli/execute.h"

#include "cli/settings.h"

int variants_given(struct settings *s, struct strings *variants, struct err *err)
{
    if (s->baselines.count == 0) {
        err_set(err, ERR_USAGE, "no baseline");
        return err_hint(err, "--baseline PROGRAM --candidate PROGRAM");
    }
    if (s->baselines.count > 1)
        return err_set(err, ERR_USAGE, "two baselines, '%s' and '%s'; there can be only one",
                       s->baselines.items[0], s->baselines.items[1]);
    if (s->aa && s->candidates.count > 0)
        return err_set(err, ERR_USAGE,
                       "--aa compares the baseline with itself, found also the candidate '%s'",
                       s->candidates.items[0]);
    if (!s->aa && s->candidates.count == 0) {
        err_set(err, ERR_USAGE, "no candidate");
        return err_hint(err, "--candidate PROGRAM, or --aa to compare the baseline with itself");
    }
    strings_add(variants, &s->arena, s->baselines.items[0]);
    for (size_t i = 0; i < s->candidates.count; i++)
        strings_add(variants, &s->arena, s->candidates.items[i]);
    return 0;
}
