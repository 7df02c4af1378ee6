/*
 * ci_event: what the CI says that it is at work on: commit, pull request, where its service is.
 *
 * Taken from the CI's own environment and event file, and from options; never from an archive.
 */
#ifndef ABBA_CLI_CI_EVENT_H
#define ABBA_CLI_CI_EVENT_H

#include "base/err.h"

#include <stdint.h>

struct settings;

enum service { SERVICE_AUTO, SERVICE_GITHUB, SERVICE_GITLAB, SERVICE_WEBHOOK };

struct ci_event {
    enum service service;
    const char *api;        /* address of the service's API, or the webhook's own */
    const char *repository; /* GitHub: "owner/name"; GitLab: id or path; webhook: may be NULL */
    const char *commit;     /* 40 or 64 hex digits; webhook: may be NULL */
    int64_t number;         /* of the pull or merge request; 0: none */
    const char *target;     /* GitLab: the project that the merge request is in */
    const char *pipeline;   /* GitLab: id of the pipeline at that commit; NULL: not known */
    const char *page;       /* of the CI's run; NULL: not known */
    /* GitHub: where the number must be asked for, since a workflow_run of a fork has none. */
    const char *head_owner, *head_branch;
    const char *token;      /* secret; NULL: there is none */
    const char *token_name; /* the variables that it may come from, for messages */
};

/* Everything lives in the settings' arena. ERR_USAGE, ERR_CONFIG. */
int ci_event_find(struct settings *s, struct ci_event *e, struct err *err);

#endif
