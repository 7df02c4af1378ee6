#include <string.h>

#include "archive/names.h"
#include "archive/writer_parts.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/version.h"

/* ---- series.json ---- */

static void encode_earlier(const struct archive_writer *writer, struct json_writer *w)
{
    if (writer->earlier_count == 0)
        return;
    jw_key(w, "earlier");
    jw_array_begin(w);
    for (size_t i = 0; i < writer->earlier_count; i++) {
        const struct earlier *e = &writer->earlier[i];

        jw_object_begin(w);
        jw_key(w, "archive"), jw_string(w, e->archive);
        jw_key(w, "started"), jw_string(w, e->started);
        jw_key(w, "verdict"), jw_string(w, e->verdict);
        jw_key(w, "digest"), jw_string(w, e->digest);
        jw_object_end(w);
    }
    jw_array_end(w);
}

void archive_writer_earlier(struct archive_writer *w, const struct earlier *earlier, size_t count)
{
    w->earlier = earlier;
    w->earlier_count = count;
}

/* The document in one line; `plan_text` is the plan's canonical JSON. */
static void encode_series(const struct archive_writer *writer, const struct plan *plan,
                          const struct buf *plan_text, const struct machine *machine,
                          struct buf *out)
{
    struct json_writer w;
    char started[CLOCK_TEXT];
    struct buf tool = BUF_INIT;

    clock_format_utc(clock_real_ns(), started);
    buf_printf(&tool, "abba %s", abba_version());
    jw_init(&w, out, false);
    jw_object_begin(&w);
    jw_key(&w, "abba");
    jw_int(&w, ARCHIVE_FORMAT);
    jw_key(&w, "tool");
    jw_string(&w, tool.data);
    jw_key(&w, "started");
    jw_string(&w, started);
    jw_key(&w, "machine");
    machine_encode(machine, &w);
    jw_key(&w, "plan_sha256");
    jw_string(&w, plan->sha256);
    jw_key(&w, "plan");
    jw_raw(&w, plan_text->data, plan_text->len);
    encode_earlier(writer, &w);
    jw_key(&w, "report");
    jw_int(&w, ARCHIVE_REPORT_KEYS);
    jw_object_end(&w);
    buf_release(&tool);
}

int archive_writer_series(struct archive_writer *w, const struct plan *plan,
                          const struct machine *machine, struct err *err)
{
    struct buf plan_text = BUF_INIT, line = BUF_INIT, text = BUF_INIT;
    struct json *tree = NULL;
    int rc = -1;

    ABBA_ASSERT(!w->has_series && plan->sha256[0]);
    if (writer_still_open(w, err) < 0 || plan_encode(plan, &plan_text, err) < 0)
        goto out;
    encode_series(w, plan, &plan_text, machine, &line);
    tree = json_parse(line.data, line.len, ARCHIVE_SERIES, err);
    if (!tree)
        goto out;
    json_write_pretty(tree, &text);
    buf_addch(&text, '\n');
    rc = writer_put_file(w, ARCHIVE_SERIES, text.data, text.len, err);
    w->has_series = rc == 0;
out:
    json_free(tree);
    buf_release(&plan_text);
    buf_release(&line);
    buf_release(&text);
    return rc;
}

/* ---- loaded.json ---- */

static const char *redacted(const struct archive_writer *w, const char *text, struct arena *arena)
{
    writer_redact(w, &text, arena);
    return text;
}

/* A copy without names of this host and user. */
static struct loaded_file redacted_file(const struct archive_writer *w, const struct loaded_file *f,
                                        struct arena *arena)
{
    struct loaded_file copy = *f;

    copy.path = redacted(w, f->path, arena);
    copy.soname = redacted(w, f->soname, arena);
    copy.package = redacted(w, f->package, arena);
    copy.compilers = (struct strings){0};
    for (size_t i = 0; i < f->compilers.count; i++)
        strings_add(&copy.compilers, arena, redacted(w, f->compilers.items[i], arena));
    return copy;
}

int archive_writer_loaded(struct archive_writer *w, const struct loaded *loaded, struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct loaded copy = *loaded;
    struct buf text = BUF_INIT;

    if (writer_still_open(w, err) < 0)
        return -1;
    copy.files = arena_array(&arena, loaded->file_count, sizeof *copy.files);
    for (size_t i = 0; i < loaded->file_count; i++)
        copy.files[i] = redacted_file(w, &loaded->files[i], &arena);
    loaded_encode(&copy, &text);
    int rc = folder_replace(&w->folder, ARCHIVE_LOADED, text.data, text.len, err);
    if (rc == 0) {
        digest_sha256(text.data, text.len, w->loaded_sha256);
        w->loaded_bytes = text.len;
        w->has_loaded = true;
    }
    buf_release(&text);
    arena_release(&arena);
    return rc;
}

/* ---- probes.json ---- */

#define PROBES_MAX_BYTES ((size_t)32 << 20)

/* The probes that the archive has up to now, with room for one more. */
static int read_probes(const struct archive_writer *w, struct probes *p, struct arena *arena,
                       struct err *err)
{
    struct buf text = BUF_INIT;
    struct json *tree = NULL;
    int rc = -1;

    *p = (struct probes){.items = arena_alloc(arena, sizeof *p->items)};
    if (!folder_has(&w->folder, ARCHIVE_PROBES))
        return 0;
    if (folder_read(&w->folder, ARCHIVE_PROBES, PROBES_MAX_BYTES, &text, err) == 0 &&
        (tree = json_parse(text.data, text.len, ARCHIVE_PROBES, err)) != NULL)
        rc = probes_decode(p, tree, ARCHIVE_PROBES, arena, err);
    json_free(tree);
    buf_release(&text);
    return rc;
}

int archive_writer_probe(struct archive_writer *w, const struct net_probe *probe, struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct buf text = BUF_INIT;
    struct probes all;
    int rc = -1;

    if (writer_still_open(w, err) == 0 && read_probes(w, &all, &arena, err) == 0) {
        all.items[all.count] = *probe;
        writer_redact(w, &all.items[all.count++].reason, &arena);
        probes_encode(&all, &text);
        rc = folder_replace(&w->folder, ARCHIVE_PROBES, text.data, text.len, err);
    }
    buf_release(&text);
    arena_release(&arena);
    return rc;
}

int writer_list_probes(struct archive_writer *w, struct err *err)
{
    struct buf text = BUF_INIT;
    char hex[DIGEST_HEX];

    if (!folder_has(&w->folder, ARCHIVE_PROBES))
        return 0;
    if (folder_read(&w->folder, ARCHIVE_PROBES, PROBES_MAX_BYTES, &text, err) < 0)
        return -1;
    digest_sha256(text.data, text.len, hex);
    int rc = listing_add(&w->sums, ARCHIVE_PROBES, hex, text.len, err);
    buf_release(&text);
    return rc;
}
