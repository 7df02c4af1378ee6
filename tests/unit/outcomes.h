/*
 * outcomes: outcomes of runs, made by hand for tests.
 */
#ifndef ABBA_TESTS_OUTCOMES_H
#define ABBA_TESTS_OUTCOMES_H

#include <string.h>

#include "model/outcome.h"

/* All of a short output, which the capture only borrows. */
static inline struct capture outcome_text(const char *text)
{
    static char nothing[1];

    return (struct capture){.head = (char *)(size_t)text,
                            .head_len = strlen(text),
                            .tail = nothing,
                            .total = strlen(text)};
}

/* An output whose middle was not kept. */
static inline struct capture outcome_cut(const char *head, const char *tail, uint64_t cut)
{
    struct capture c = outcome_text(head);

    c.tail = (char *)(size_t)tail;
    c.tail_len = strlen(tail);
    c.cut = cut;
    c.total = c.head_len + c.tail_len + cut;
    return c;
}

/* A role that ended well after 2 s, with 0.75 s of CPU time and 4 MiB. */
static inline struct role_outcome outcome_role(const char *name, const char *out, const char *err)
{
    return (struct role_outcome){
        .name = name,
        .end = ROLE_EXITED,
        .ready = true,
        .start_ns = 1000000000,
        .end_ns = 3000000000,
        .cpu = {.user_s = 0.5,
                .system_s = 0.25,
                .cgroup_s = {0, VALUE_UNSUPPORTED, 1, "no cgroup v2"}},
        .peak_rss_bytes = 4 << 20,
        .sampled_rss_bytes = 4 << 20,
        .max_rss_bytes = 4 << 20,
        .minor_faults = 1000,
        .context_switches = 7,
        .processes = 1,
        .samples = 400,
        .cpus = "0-1",
        .out = outcome_text(out),
        .err = outcome_text(err),
    };
}

static inline struct outcome outcome_of(struct role_outcome *roles, size_t count)
{
    const struct value none = {0, VALUE_UNSUPPORTED, 1, "not on this machine"};

    return (struct outcome){
        .end = RUN_DONE,
        .started_unix_ns = 1714979289123000000,
        .wall_ns = 2000000000,
        .roles = roles,
        .role_count = count,
        .noise = {.psi_cpu = {0.01, VALUE_OK, 1, NULL},
                  .others = {0.05, VALUE_OK, 1, NULL},
                  .steal = {0, VALUE_OK, 1, NULL},
                  .throttled = none,
                  .frequency = none,
                  .load = {0.5, VALUE_OK, 1, NULL}},
    };
}

#endif
