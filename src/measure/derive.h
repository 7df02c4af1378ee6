/*
 * derive: what abba measured itself, and what follows from it and from the runner's own figures.
 *
 * A figure that cannot be had is there with its status and reason, never as 0, inf or nan. What
 * the runner reports is taken as it is; throughput and message rate are computed only where it
 * reports none, and wall time never stands in for delivery time. A counter that is not available
 * appears once, without its shares per byte and per message.
 */
#ifndef ABBA_MEASURE_DERIVE_H
#define ABBA_MEASURE_DERIVE_H

#include "model/outcome.h"
#include "model/sample.h"

struct arena;

/* The metrics of a sample while they are gathered; each name once. */
struct metric_list {
    struct sample_metric *items;
    size_t count, room;
    struct arena *arena;
};

/* Adds a metric unless one of that name is there. Texts are borrowed. */
void metric_list_add(struct metric_list *f, const char *name, const char *unit, struct value value,
                     double floor);
struct sample_metric *metric_list_find(const struct metric_list *f, const char *name);

/* Standard metrics in the order of the table, then the others as they were added. */
void metric_list_sort(struct metric_list *f);

struct derive_machine {
    long page_bytes;
    int ncpu;
};

/* Adds wall_time, cpu_time, peak_rss, faults, switches and counters. */
void derive_measured(struct metric_list *f, const struct outcome *o,
                     const struct derive_machine *m);

/* Adds what follows from figures that are there already. */
void derive_ratios(struct metric_list *f);

#endif
