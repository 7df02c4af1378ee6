/*
 * write_cost: what it takes to put one sample on disk, and what fdatasync takes beside it.
 *
 * usage: write_cost ARCHIVE FOLDER RUNS
 *
 * Takes plan and samples of a real archive and writes them again and again into archives in FOLDER
 * (which must not exist): the line alone, and with the raw files that runs have. The ways take
 * turns sample by sample; every 20th line reaches the disk. Printed are medians in microseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/reader.h"
#include "archive/writer.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"

#define POINTS 8
#define SYNC_EVERY 20

struct way {
    const char *name;
    size_t points, text;
};

static const struct way ways[] = {
    {"line of samples.jsonl", 0, 0},
    {"line, rss.csv", POINTS, 0},
    {"line, rss.csv, stdout", POINTS, 200},
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static _Noreturn void die(const struct err *e)
{
    fprintf(stderr, "write_cost: %s\n", e->msg);
    exit(1);
}

static struct archive_writer *start(const struct archive *a, const char *folder, size_t way,
                                    struct err *e)
{
    struct archive_writer *w;
    char path[4096];

    snprintf(path, sizeof(path), "%s/%zu", folder, way);
    if (archive_writer_new(&w, path, e) < 0)
        die(e);
    archive_writer_anonymize(w);
    if (archive_writer_series(w, a->plan, a->machine, e) < 0)
        die(e);
    return w;
}

/* Microseconds that one sample took. */
static double write_one(struct archive_writer *w, const struct way *way, struct sample s,
                        struct err *e)
{
    static struct rss_point points[POINTS];
    static char text[4096];
    struct arena arena = ARENA_INIT;
    struct role_outcome role = {.rss = points, .rss_count = way->points};
    struct outcome outcome = {.roles = &role, .role_count = 1};
    struct sample_role as_read = s.roles[0];
    int64_t begin;

    memset(text, '.', way->text);
    role.out = (struct capture){.head = text, .head_len = way->text, .total = way->text};
    for (size_t i = 0; i < POINTS; i++)
        points[i] = (struct rss_point){5000000 * i, 1000000 + 4096 * i};
    s.roles = &as_read;
    s.role_count = 1;
    begin = clock_mono_ns();
    if (archive_writer_sample(w, &s, &outcome, &arena, e) < 0)
        die(e);
    arena_release(&arena);
    return (double)(clock_mono_ns() - begin) / 1e3;
}

static double sync_one(struct archive_writer *w, struct err *e)
{
    int64_t begin = clock_mono_ns();

    if (archive_writer_sync(w, 0, e) < 0)
        die(e);
    return (double)(clock_mono_ns() - begin) / 1e3;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct bench {
    struct archive_writer *w[WAYS];
    double *us[WAYS], *sync_us;
    size_t runs, done, syncs;
};

/* Writes a sample once more in each way, as the next run. */
static int write_again(void *user, const struct sample *sample, struct err *e)
{
    struct bench *b = user;

    if (b->done == b->runs)
        return 0;
    if (sample->role_count == 0)
        return err_set(e, ERR_ARCHIVE, "a run without roles");
    for (size_t k = 0; k < WAYS; k++) {
        struct sample s = *sample;

        s.run = b->done + 1;
        b->us[k][b->done] = write_one(b->w[k], &ways[k], s, e);
    }
    if (b->done++ % SYNC_EVERY == 0)
        b->sync_us[b->syncs++] = sync_one(b->w[0], e);
    return 0;
}

int main(int argc, char **argv)
{
    struct bench b = {.done = 0};
    struct archive *a;
    struct err e = {0};

    if (argc != 4 || (b.runs = strtoul(argv[3], NULL, 10)) == 0) {
        fprintf(stderr, "usage: write_cost ARCHIVE FOLDER RUNS\n");
        return 2;
    }
    if (archive_open(&a, argv[1], &e) < 0)
        die(&e);
    if (a->sample_count == 0)
        return 1;
    for (size_t k = 0; k < WAYS; k++) {
        b.w[k] = start(a, argv[2], k, &e);
        b.us[k] = xcalloc(b.runs, sizeof(double));
    }
    b.sync_us = xcalloc(b.runs / SYNC_EVERY + 1, sizeof(double));
    while (b.done < b.runs)
        if (archive_each(a, write_again, &b, &e) < 0)
            die(&e);
    for (size_t k = 0; k < WAYS; k++) {
        qsort(b.us[k], b.runs, sizeof(double), ascending);
        printf("%-24s %8.1f us\n", ways[k].name, b.us[k][b.runs / 2]);
        free(b.us[k]);
        archive_writer_free(b.w[k]);
    }
    qsort(b.sync_us, b.syncs, sizeof(double), ascending);
    printf("%-24s %8.1f us\n", "fdatasync, beside it", b.sync_us[b.syncs / 2]);
    free(b.sync_us);
    archive_close(a);
    return 0;
}
