#include "archive/names.h"
#include "archive/writer_parts.h"
#include "base/mem.h"

#define FILES_PER_ROLE 4 /* stdout, stderr, heap, rss.csv */

/* Writes one raw file of the sample's role and enters it there; an empty one is left out. */
static int put_raw(struct archive_writer *w, const struct sample *s, struct sample_role *role,
                   const char *kind, const struct folder_part parts[2], uint64_t cut,
                   struct arena *arena, struct err *err)
{
    struct sample_file *f = &role->files[role->file_count];
    struct digest digest;

    if (parts[0].len + parts[1].len == 0)
        return 0;
    f->path = arena_printf(arena, ARCHIVE_RAW "%06llu-%s.%s", (unsigned long long)s->run,
                           role->name, kind);
    f->bytes = parts[0].len + parts[1].len;
    f->cut = cut;
    digest_begin(&digest);
    digest_add(&digest, parts[0].data, parts[0].len);
    digest_add(&digest, parts[1].data, parts[1].len);
    digest_finish(&digest, f->sha256);
    if (folder_write(&w->folder, f->path, parts, 2, err) < 0)
        return -1;
    role->file_count++;
    return 0;
}

/* Replaces names in one piece of a stream; `room` holds the new text if there is one. */
static void redact_part(const struct archive_writer *w, struct folder_part *part, struct buf *room)
{
    if (redaction_apply(&w->redaction, part->data, part->len, room))
        *part = (struct folder_part){room->data, room->len};
}

static int put_capture(struct archive_writer *w, const struct sample *s, struct sample_role *role,
                       const char *kind, const struct capture *c, struct arena *arena,
                       struct err *err)
{
    struct folder_part parts[2] = {{c->head, c->head_len}, {c->tail, c->tail_len}};
    struct buf whole = BUF_INIT, rooms[2] = {BUF_INIT, BUF_INIT};

    if (w->redaction.count > 0 && c->cut == 0 && c->tail_len > 0) {
        capture_text(c, &whole); /* a name may stand where head and tail meet */
        parts[0] = (struct folder_part){whole.data, whole.len};
        parts[1] = (struct folder_part){NULL, 0};
    }
    for (size_t i = 0; i < 2; i++)
        redact_part(w, &parts[i], &rooms[i]);
    int rc = put_raw(w, s, role, kind, parts, c->cut, arena, err);
    buf_release(&whole);
    buf_release(&rooms[0]);
    buf_release(&rooms[1]);
    return rc;
}

static int put_rss(struct archive_writer *w, const struct sample *s, struct sample_role *role,
                   const struct role_outcome *o, struct arena *arena, struct err *err)
{
    struct buf *table = &w->table;

    buf_clear(table);
    if (o->rss_count > 0)
        buf_addstr(table, "at_ns,bytes\n");
    for (size_t i = 0; i < o->rss_count; i++)
        buf_printf(table, "%llu,%llu\n", (unsigned long long)o->rss[i].at_ns,
                   (unsigned long long)o->rss[i].bytes);

    const struct folder_part parts[2] = {{table->data, table->len}, {NULL, 0}};
    return put_raw(w, s, role, "rss.csv", parts, 0, arena, err);
}

/* Of a memory pass. */
static int put_heap(struct archive_writer *w, const struct sample *s, struct sample_role *role,
                    struct arena *arena, struct err *err)
{
    struct folder_part parts[2] = {{role->heap, role->heap_len}, {NULL, 0}};
    struct buf room = BUF_INIT;

    if (!role->heap)
        return 0;
    redact_part(w, &parts[0], &room);
    int rc = put_raw(w, s, role, "heap", parts, 0, arena, err);
    buf_release(&room);
    return rc;
}

int writer_put_raws(struct archive_writer *w, struct sample *s, const struct outcome *o,
                    struct arena *arena, struct err *err)
{
    ABBA_ASSERT(s->role_count == o->role_count);
    for (size_t i = 0; i < s->role_count; i++) {
        struct sample_role *role = &s->roles[i];
        const struct role_outcome *from = &o->roles[i];

        role->files = arena_array(arena, FILES_PER_ROLE, sizeof *role->files);
        role->file_count = 0;
        if (put_capture(w, s, role, "stdout", &from->out, arena, err) < 0 ||
            put_capture(w, s, role, "stderr", &from->err, arena, err) < 0 ||
            put_heap(w, s, role, arena, err) < 0 || put_rss(w, s, role, from, arena, err) < 0)
            return -1;
    }
    return 0;
}

void writer_remove_raws(struct archive_writer *w, struct sample *s)
{
    for (size_t i = 0; i < s->role_count; i++) {
        for (size_t j = 0; j < s->roles[i].file_count; j++)
            folder_remove(&w->folder, s->roles[i].files[j].path);
        s->roles[i].file_count = 0;
    }
}
