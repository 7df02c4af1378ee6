#include "run/events.h"

#include <stdio.h>
#include <string.h>

#include <perfmon/pfmlib_perf_event.h>

static int initialize(struct err *err)
{
    int rc = pfm_initialize(); /* may be called again */

    if (rc != PFM_SUCCESS)
        return err_set(err, ERR_SYSTEM, "libpfm4 does not start: %s", pfm_strerror(rc));
    return 0;
}

int event_encode(const char *name, unsigned char attr[WIRE_ATTR_BYTES], struct err *err)
{
    struct perf_event_attr a;
    pfm_perf_encode_arg_t arg = {.attr = &a, .size = sizeof(arg)};
    int rc;

    if (initialize(err) < 0)
        return -1;
    memset(&a, 0, sizeof(a));
    rc = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
    if (rc != PFM_SUCCESS) {
        err_set(err, ERR_CONFIG, "libpfm4 knows no event '%s' for this machine: %s", name,
                pfm_strerror(rc));
        return err_hint(err, "`abba list events` prints those it knows");
    }
    memset(attr, 0, WIRE_ATTR_BYTES);
    memcpy(attr, &a, sizeof(a) < WIRE_ATTR_BYTES ? sizeof(a) : WIRE_ATTR_BYTES);
    return 0;
}

static void list_pmu(pfm_pmu_t pmu, void (*each)(void *, const char *, const char *), void *user)
{
    pfm_pmu_info_t pmu_info = {.size = sizeof(pmu_info)};

    if (pfm_get_pmu_info(pmu, &pmu_info) != PFM_SUCCESS || !pmu_info.is_present)
        return;
    for (int i = pmu_info.first_event; i != -1; i = pfm_get_event_next(i)) {
        pfm_event_info_t info = {.size = sizeof(info)};
        char name[256];

        if (pfm_get_event_info(i, PFM_OS_PERF_EVENT_EXT, &info) != PFM_SUCCESS)
            continue;
        snprintf(name, sizeof(name), "%s::%s", pmu_info.name, info.name);
        each(user, name, info.desc);
    }
}

void event_list(void (*each)(void *user, const char *name, const char *description), void *user)
{
    struct err err;

    if (initialize(&err) < 0)
        return;
    for (int pmu = PFM_PMU_NONE; pmu < PFM_PMU_MAX; pmu++)
        list_pmu((pfm_pmu_t)pmu, each, user);
}
