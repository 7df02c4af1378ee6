/*
 * store_s3_parts: a large file as a multipart upload.
 *
 * What an interrupted push left there is found by its key, and each of its parts is compared by
 * size and MD5 (its ETag); only what is missing or differs is sent.
 */
#include "archive/store_parts.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/text.h"
#include "base/xml.h"

#include <stdlib.h>
#include <string.h>

struct part {
    uint64_t offset, bytes;
    char sha256[DIGEST_HEX], md5[DIGEST_MD5_HEX];
    char etag[128]; /* as the store gave it; "" while it has not this part */
};

struct upload {
    struct store *s;
    const struct store_file *file;
    const char *key; /* not encoded */
    const char *id;  /* encoded */
    struct part *parts;
    size_t count;
};

/* ---- the parts ---- */

static void cut(struct upload *u)
{
    uint64_t size = u->s->options.part_bytes, all = u->file->bytes;

    while ((all + size - 1) / size > STORE_MAX_PARTS)
        size *= 2;
    u->count = (size_t)((all + size - 1) / size);
    u->parts = arena_array(&u->s->arena, u->count, sizeof(*u->parts));
    for (size_t i = 0; i < u->count; i++) {
        u->parts[i].offset = i * size;
        u->parts[i].bytes = all - i * size < size ? all - i * size : size;
    }
}

static int hash_part(const struct upload *u, struct part *p, struct err *err)
{
    if (p->sha256[0])
        return 0;
    return digest_part(u->file->fd, p->offset, p->bytes, p->sha256, p->md5, err);
}

/* ---- what an earlier push began ---- */

struct found {
    struct upload *u;
    struct buf key, id, last_id; /* of the upload that is being read; the last that fits */
    struct buf etag, next;       /* of the part that is being read; where the list goes on */
    uint64_t number, size;
    bool more;
    struct err err;
};

/* The root of an answer has a name of its own, in which stores differ. */
static const char *below_root(const char *path)
{
    const char *slash = strchr(path, '/');

    return slash ? slash + 1 : "";
}

static void take_upload(void *user, const char *full_path, const char *text)
{
    struct found *f = user;
    const char *path = below_root(full_path);

    if (strcmp(path, "Upload/Key") == 0) {
        buf_clear(&f->key);
        buf_addstr(&f->key, text);
    } else if (strcmp(path, "Upload/UploadId") == 0) {
        buf_clear(&f->id);
        buf_addstr(&f->id, text);
    } else if (strcmp(path, "Upload") == 0 && strcmp(f->key.data, f->u->key) == 0) {
        buf_clear(&f->last_id);
        buf_addstr(&f->last_id, f->id.data);
    }
}

/* A part that is there already, if it is what would be sent. */
static void accept_part(struct found *f)
{
    struct upload *u = f->u;
    struct part *p = f->number >= 1 && f->number <= u->count ? &u->parts[f->number - 1] : NULL;
    size_t len = f->etag.len;
    const char *etag = f->etag.data;

    if (!p || f->size != p->bytes || len >= sizeof(p->etag) || f->err.code != ERR_NONE)
        return;
    if (hash_part(u, p, &f->err) != 0 || !p->md5[0])
        return;
    if (len == 34 && etag[0] == '"' && memcmp(etag + 1, p->md5, 32) == 0)
        memcpy(p->etag, etag, len + 1);
}

static void take_part(void *user, const char *full_path, const char *text)
{
    struct found *f = user;
    const char *path = below_root(full_path);

    if (strcmp(path, "Part/PartNumber") == 0) {
        f->number = strtoull(text, NULL, 10);
    } else if (strcmp(path, "Part/Size") == 0) {
        f->size = strtoull(text, NULL, 10);
    } else if (strcmp(path, "Part/ETag") == 0) {
        buf_clear(&f->etag);
        buf_addstr(&f->etag, text);
    } else if (strcmp(path, "Part") == 0) {
        accept_part(f);
    } else if (strcmp(path, "IsTruncated") == 0) {
        f->more = strcmp(text, "true") == 0;
    } else if (strcmp(path, "NextPartNumberMarker") == 0) {
        buf_clear(&f->next);
        url_encode(&f->next, text, false);
    }
}

static const char *encoded(struct store *s, const char *text)
{
    struct buf out = BUF_INIT;

    url_encode(&out, text, false);
    const char *copy = arena_strdup(&s->arena, out.data);
    buf_release(&out);
    return copy;
}

/* The upload of this key that is under way, if the store tells: u->id stays NULL without one. */
static int find_upload(struct upload *u, struct found *f, struct http_response *r, struct err *err)
{
    struct store *s = u->s;
    struct err ignored = {0};
    const char *query = arena_printf(&s->arena, "prefix=%s&uploads=", encoded(s, u->key));
    struct s3_call c = {.key = "", .query = query};

    if (s3_send(s, &c, r, err) != 0)
        return -1;
    if (r->status == 200 && xml_walk(r->body.data, r->body.len, take_upload, f, &ignored) == 0 &&
        f->last_id.len)
        u->id = encoded(s, f->last_id.data);
    return 0;
}

static int find_parts(struct upload *u, struct found *f, struct http_response *r, struct err *err)
{
    struct store *s = u->s;
    struct err ignored = {0};

    for (size_t pages = 0; pages < STORE_MAX_PARTS; pages++) {
        const char *query =
            f->next.len
                ? arena_printf(&s->arena, "part-number-marker=%s&uploadId=%s", f->next.data, u->id)
                : arena_printf(&s->arena, "uploadId=%s", u->id);
        struct s3_call c = {.key = u->key, .query = query};

        f->more = false;
        if (s3_send(s, &c, r, err) != 0)
            return -1;
        if (r->status == 404) /* it has ended meanwhile */
            u->id = NULL;
        if (r->status != 200 || xml_walk(r->body.data, r->body.len, take_part, f, &ignored) != 0 ||
            !f->more)
            break;
    }
    if (f->err.code != ERR_NONE) {
        *err = f->err;
        return -1;
    }
    return 0;
}

static int find_begun(struct upload *u, struct err *err)
{
    struct http_response r = HTTP_RESPONSE_INIT;
    struct found f = {.u = u,
                      .key = BUF_INIT_MAX(4096),
                      .id = BUF_INIT_MAX(4096),
                      .last_id = BUF_INIT_MAX(4096),
                      .etag = BUF_INIT_MAX(200),
                      .next = BUF_INIT_MAX(100)};
    int rc = find_upload(u, &f, &r, err);

    if (rc == 0 && u->id)
        rc = find_parts(u, &f, &r, err);
    buf_release(&f.key);
    buf_release(&f.id);
    buf_release(&f.last_id);
    buf_release(&f.etag);
    buf_release(&f.next);
    http_response_release(&r);
    return rc;
}

/* ---- beginning, sending, ending ---- */

static void take_id(void *user, const char *path, const char *text)
{
    if (strcmp(below_root(path), "UploadId") == 0)
        buf_addstr(user, text);
}

static int begin(struct upload *u, struct err *err)
{
    struct store *s = u->s;
    const char *headers[] = {"Content-Type: application/zstd",
                             arena_printf(&s->arena, "x-amz-meta-sha256: %s", u->file->sha256)};
    struct s3_call c = {.method = HTTP_POST,
                        .key = u->key,
                        .query = "uploads=",
                        .headers = headers,
                        .header_count = 2};
    struct http_response r = HTTP_RESPONSE_INIT;
    struct buf id = BUF_INIT_MAX(4096);
    int rc = s3_get_through(s, &c, &r, err);

    for (size_t i = 0; i < u->count; i++)
        u->parts[i].etag[0] = '\0';
    if (rc == 0)
        rc = xml_walk(r.body.data, r.body.len, take_id, &id, err);
    if (rc == 0 && id.len == 0)
        rc = err_set(err, ERR_SYSTEM, "'%s': the store gave no upload id",
                     url_shown(s->url.bare, &s->arena));
    if (rc == 0)
        u->id = encoded(s, id.data);
    buf_release(&id);
    http_response_release(&r);
    return rc;
}

static int send_part(struct upload *u, size_t i, struct err *err)
{
    struct part *p = &u->parts[i];
    struct store *s = u->s;
    struct s3_call c = {
        .method = HTTP_PUT,
        .key = u->key,
        .query = arena_printf(&s->arena, "partNumber=%zu&uploadId=%s", i + 1, u->id),
        .sha256 = p->sha256,
        .fd = u->file->fd,
        .offset = p->offset,
        .bytes = p->bytes,
    };
    struct http_response r = HTTP_RESPONSE_INIT;
    int rc = hash_part(u, p, err);

    if (rc == 0)
        rc = s3_get_through(s, &c, &r, err);
    const char *etag = rc == 0 ? http_header(&r, "etag") : NULL;
    if (rc == 0 && (!etag || strlen(etag) >= sizeof(p->etag)))
        rc = err_set(err, ERR_SYSTEM, "part %zu: the store gave no ETag", i + 1);
    if (rc == 0)
        memcpy(p->etag, etag, strlen(etag) + 1);
    http_response_release(&r);
    return rc;
}

static int send_missing(struct upload *u, struct store_sent *sent, struct err *err)
{
    for (size_t i = 0; i < u->count; i++) {
        u->s->before = u->parts[i].offset;
        if (u->parts[i].etag[0])
            continue;
        if (send_part(u, i, err) != 0) {
            if (!err->hint[0])
                err_hint(err,
                         "the store keeps the parts that arrived: the next push goes on there");
            return -1;
        }
        sent->bytes += u->parts[i].bytes;
    }
    u->s->before = 0;
    return 0;
}

struct ending {
    bool error;
    struct buf words;
};

/* A 200 that begins before the store knows may hold an error all the same. */
static void take_ending(void *user, const char *path, const char *text)
{
    struct ending *e = user;

    if (strcmp(path, "Error") == 0)
        e->error = true;
    else if (strcmp(path, "Error/Code") == 0 || strcmp(path, "Error/Message") == 0)
        buf_printf(&e->words, "%s%s", e->words.len ? ": " : "", text);
}

static int check_ending(const struct http_response *r, struct err *err)
{
    struct ending e = {.words = BUF_INIT_MAX(1000)};
    struct err ignored = {0};
    int rc = 0;

    if (xml_walk(r->body.data, r->body.len, take_ending, &e, &ignored) == 0 && e.error) {
        struct buf shown = BUF_INIT;
        text_neutral(&shown, e.words.data, e.words.len, 300);
        rc = err_set(err, ERR_SYSTEM, "the store could not join the parts: %s", shown.data);
        buf_release(&shown);
    }
    buf_release(&e.words);
    return rc;
}

static int end(struct upload *u, struct err *err)
{
    struct buf list = BUF_INIT;
    char sha256[DIGEST_HEX];
    struct http_response r = HTTP_RESPONSE_INIT;

    buf_addstr(&list, "<CompleteMultipartUpload>");
    for (size_t i = 0; i < u->count; i++) {
        buf_printf(&list, "<Part><PartNumber>%zu</PartNumber><ETag>", i + 1);
        text_xml(&list, u->parts[i].etag);
        buf_addstr(&list, "</ETag></Part>");
    }
    buf_addstr(&list, "</CompleteMultipartUpload>");
    digest_sha256(list.data, list.len, sha256);
    struct s3_call c = {.method = HTTP_POST,
                        .key = u->key,
                        .query = arena_printf(&u->s->arena, "uploadId=%s", u->id),
                        .sha256 = sha256,
                        .body = list.data,
                        .bytes = list.len};
    int rc = s3_send(u->s, &c, &r, err);
    /* 404: an earlier try had joined them, and its answer was lost; what is there is compared. */
    if (rc == 0 && r.status != 404)
        rc = r.status == 200 ? check_ending(&r, err) : s3_refused(u->s, &c, &r, err);
    buf_release(&list);
    http_response_release(&r);
    return rc;
}

int s3_put_parts(struct store *s, const struct store_file *file, struct store_sent *sent,
                 struct err *err)
{
    struct upload u = {
        .s = s,
        .file = file,
        .key = arena_printf(&s->arena, "%s%s", s->prefix, file->name),
    };

    cut(&u);
    if (find_begun(&u, err) != 0)
        return -1;
    if (!u.id && begin(&u, err) != 0)
        return -1;
    if (send_missing(&u, sent, err) != 0)
        return -1;
    return end(&u, err);
}
