#include "series/hide.h"

#include <string.h>
#include <unistd.h>

#include "archive/redact.h"
#include "base/mem.h"
#include "base/secrets.h"

static void add_environment(struct strings *found, struct arena *arena)
{
    for (char **e = environ; e && *e; e++) {
        const size_t len = strcspn(*e, "=");

        if ((*e)[len] && secrets_name(*e, len))
            secrets_mask_setting(arena_strndup(arena, *e, len), *e + len + 1, found, arena);
    }
}

void hide_secrets(struct archive_writer *w, const struct plan *plan)
{
    struct arena arena = ARENA_INIT;
    struct strings found = {0};

    for (size_t i = 0; i < plan->variant_count; i++)
        variant_secrets(&plan->variants[i], &found, &arena);
    env_secrets(plan->env, plan->env_count, &found, &arena);
    add_environment(&found, &arena);
    for (size_t i = 0; i < found.count; i++)
        archive_writer_hide(w, found.items[i]);
    arena_release(&arena);
}

void hide_host(struct machine *m, struct arena *arena)
{
    struct redaction names = {0};

    redaction_add_host(&names);
    for (size_t i = 0; i < m->environment_count; i++) {
        const char *value = m->environment[i].value;
        struct buf text = BUF_INIT;

        if (redaction_apply(&names, value, strlen(value), &text))
            m->environment[i].value = arena_strdup(arena, text.data);
        buf_release(&text);
    }
    redaction_release(&names);
}
