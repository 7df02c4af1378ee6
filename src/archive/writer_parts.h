/*
 * writer_parts: what the writer is made of, for src/archive/writer*.c alone: writer.c opens, ends
 * and writes samples.jsonl, writer_documents.c the other JSON files, writer_raw.c the files below
 * raw/, writer_kept.c those below programs/.
 */
#ifndef ABBA_ARCHIVE_WRITER_PARTS_H
#define ABBA_ARCHIVE_WRITER_PARTS_H

#include <stdint.h>

#include "archive/folder.h"
#include "archive/listing.h"
#include "archive/redact.h"
#include "archive/writer.h"
#include "base/buf.h"
#include "base/digest.h"

struct archive_writer {
    struct folder folder;
    int samples_fd;
    uint64_t samples_bytes;        /* whole lines in samples.jsonl */
    struct digest samples_digest;  /* of those lines */
    struct listing sums;           /* of everything that is complete */
    struct redaction redaction;    /* empty: nothing is replaced */
    const struct earlier *earlier; /* for series.json */
    size_t earlier_count;
    struct buf line, table; /* reused from run to run */
    int64_t synced_ns;      /* CLOCK_MONOTONIC of the last fdatasync */
    bool unsynced;
    bool has_series;
    bool has_loaded;
    char loaded_sha256[DIGEST_HEX];
    uint64_t loaded_bytes;
    bool closed; /* finished, or in a state that must not be added to */
};

/* -1 after an error that left the archive in a state that must not be added to. */
int writer_still_open(const struct archive_writer *w, struct err *err);

/* Adds a whole file, put in place by rename, to the list of checksums. */
int writer_put_file(struct archive_writer *w, const char *name, const char *text, size_t len,
                    struct err *err);

/* Replaces in *text (may be NULL) what stays out; the new text lies in `arena`. */
void writer_redact(const struct archive_writer *w, const char **text, struct arena *arena);

/* Enters probes.json, whoever wrote it, into the checksums, if there is one. */
int writer_list_probes(struct archive_writer *w, struct err *err);

/*
 * Writes the run's raw files and enters them in the sample's roles. After an error some may be
 * there: writer_remove_raws removes them.
 */
int writer_put_raws(struct archive_writer *w, struct sample *s, const struct outcome *o,
                    struct arena *arena, struct err *err);
void writer_remove_raws(struct archive_writer *w, struct sample *s);

#endif
