/*
 * writer: makes an archive, flushed run by run, readable after a crash at any moment.
 *
 * Order: folder, series.json (plan), then for each run its raw files and one write() of its line
 * in samples.jsonl, and loaded.json whenever there is news for it; report.json and SHA256SUMS at
 * the end, each by rename. An archive without SHA256SUMS is unfinished.
 */
#ifndef ABBA_ARCHIVE_WRITER_H
#define ABBA_ARCHIVE_WRITER_H

#include <stdbool.h>

#include "base/err.h"
#include "model/loaded.h"
#include "model/earlier.h"
#include "model/machine.h"
#include "model/outcome.h"
#include "model/plan.h"
#include "model/probes.h"
#include "model/sample.h"

struct archive_writer;

/* Makes the folder, which must not exist, and raw/ in it. */
int archive_writer_new(struct archive_writer **w, const char *folder, struct err *err);

struct archive;

/*
 * Opens an archive that is there, to go on with it: nobody else writes it from now on, and nothing
 * is changed yet. ERR_ARCHIVE if it is none, ERR_USAGE if another process writes it.
 */
int archive_writer_open(struct archive_writer **w, const char *folder, struct err *err);

/*
 * Makes it ready to be added to. `a` is what a reader then found, sound as far as it goes;
 * only its samples stay, see archive/mend.h for what becomes of the rest.
 * ERR_SYSTEM if it cannot be written to.
 */
int archive_writer_go_on(struct archive_writer *w, const struct archive *a, struct err *err);

/*
 * From now on host name, user, home folder and addresses of this host are replaced in what programs
 * printed and in messages, before they are written. The plan is archived as it was hashed.
 */
void archive_writer_anonymize(struct archive_writer *w);

/* What series.json says of earlier series of the same plan; borrowed until that is written. */
void archive_writer_earlier(struct archive_writer *w, const struct earlier *earlier, size_t count);

/* From now on this text, a secret, is replaced there, too. `text` is copied. */
void archive_writer_hide(struct archive_writer *w, const char *text);

/* Writes series.json. Once, before the first sample of the main stage. */
int archive_writer_series(struct archive_writer *w, const struct plan *plan,
                          const struct machine *machine, struct err *err);

/*
 * Writes the raw files of the run (stdout, stderr, rss.csv of each role; empty ones are left out),
 * enters them in the sample's roles, and appends the sample's line. After an error (disk full) the
 * archive holds everything before this sample, and no torn line: what was begun is truncated away.
 */
int archive_writer_sample(struct archive_writer *w, struct sample *s, const struct outcome *o,
                          struct arena *arena, struct err *err);

/* Adds what a probe of a profile's network found to those before it. */
int archive_writer_probe(struct archive_writer *w, const struct net_probe *probe, struct err *err);

/* Writes what really ran, as far as it is known by now, in the place of what was known before. */
int archive_writer_loaded(struct archive_writer *w, const struct loaded *loaded, struct err *err);

/* From now on files are kept (archive_writer_keep): makes programs/. */
int archive_writer_keeps(struct archive_writer *w, struct err *err);

/* Whether they are: also in an archive that was begun so and goes on. */
bool archive_writer_is_keeping(const struct archive_writer *w);

/*
 * Keeps a copy of a file as programs/SHA256, unless it is there. ERR_SYSTEM if it cannot be read or
 * copied, ERR_MEASURE if its content is not that of `sha256` any more; nothing is left of it then.
 */
int archive_writer_keep(struct archive_writer *w, const char *path, const char *sha256,
                        struct err *err);

/*
 * fdatasync of samples.jsonl, unless the last one is less than `every_ns` ago (0: now) or nothing
 * was written since. Called between runs.
 */
int archive_writer_sync(struct archive_writer *w, int64_t every_ns, struct err *err);

/* The archive will be removed once it has been read: from now on nothing waits for the disk. */
void archive_writer_passing(struct archive_writer *w);

/* Writes report.json and SHA256SUMS and closes: the archive is finished. */
int archive_writer_finish(struct archive_writer *w, const char *report, size_t report_len,
                          char digest[65], struct err *err);

/* Frees; an archive that was not finished stays as it is. Safe on NULL. */
void archive_writer_free(struct archive_writer *w);

#endif
