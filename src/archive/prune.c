#include "archive/prune.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/checksums.h"
#include "archive/folder.h"
#include "archive/names.h"
#include "archive/pack.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"

#define FILE_MAX ((size_t)32 << 20)
#define PINNED_MAX ((size_t)4 << 20)
#define GOING ".pruning" /* a folder between its tombstone and its end */

/* ---- what an archive says of itself ---- */

static int read_started(struct prune_item *x, const struct buf *series, struct arena *arena,
                        struct err *err)
{
    struct json *tree = json_parse(series->data, series->len, ARCHIVE_SERIES, err);
    const char *text = NULL;
    struct fields f;
    struct tm tm = {0};
    int rc = -1;

    if (tree && fields_init(&f, ARCHIVE_SERIES, tree, err) == 0 &&
        fields_string(&f, "started", FIELDS_REQUIRED, &text, err) == 0) {
        const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);

        rc = end && *end == '.' ? 0 : err_set(err, ERR_ARCHIVE, "has no time");
        x->started = arena_strdup(arena, text);
        x->started_s = (int64_t)timegm(&tm);
    }
    json_free(tree);
    return rc;
}

static int read_report(struct prune_item *x, const struct buf *text, struct arena *arena,
                       struct err *err)
{
    struct json *tree = json_parse(text->data, text->len, ARCHIVE_REPORT, err);
    int rc = tree ? report_decode(&x->report, tree, ARCHIVE_REPORT, arena, err) : -1;

    json_free(tree);
    return rc;
}

/* One file of an archive folder, compared with SHA256SUMS. */
static int read_listed(const struct folder *f, const struct checksums *sums, const char *name,
                       struct buf *out, struct err *err)
{
    const struct checksum *listed = checksums_find(sums, name);
    char hex[DIGEST_HEX];

    if (folder_read(f, name, FILE_MAX, out, err) < 0)
        return -1;
    digest_sha256(out->data, out->len, hex);
    if (listed && strcmp(listed->sha256, hex) == 0)
        return 0;
    return err_set(err, ERR_ARCHIVE, "'%s' is not the file that " CHECKSUMS_NAME " lists", name);
}

static int read_sums(const struct folder *f, struct checksums *sums, char digest[DIGEST_HEX],
                     struct err *err)
{
    struct checksum_lines l;
    int rc, fd;

    if (!folder_has(f, CHECKSUMS_NAME))
        return err_set(err, ERR_UNFINISHED,
                       folder_has(f, ARCHIVE_SAMPLES) ? "an unfinished archive" : "not an archive");
    fd = folder_file(f, CHECKSUMS_NAME, NULL, err);
    if (fd < 0)
        return -1;
    rc = digest_sha256_fd(fd, CHECKSUMS_NAME, digest, NULL, err);
    if (rc < 0 || lseek(fd, 0, SEEK_SET) < 0) {
        close(fd);
        return rc < 0 ? -1 : err_sys(err, ERR_ARCHIVE, errno, "cannot read '%s'", CHECKSUMS_NAME);
    }
    checksum_lines_open(&l, fd, CHECKSUMS_NAME);
    while ((rc = checksum_lines_next(&l, err)) > 0)
        if (!strchr(l.path, '/')) /* raw files are not asked for */
            checksums_add(sums, l.path, l.sha256, 0);
    checksum_lines_close(&l);
    return rc;
}

static int read_folder(struct prune_item *x, const char *path, struct arena *arena, struct err *err)
{
    struct buf series = BUF_INIT, report = BUF_INIT;
    struct checksums sums = {0};
    struct folder f;
    int rc = -1;

    if (folder_open(&f, path, err) < 0)
        return -1;
    if (read_sums(&f, &sums, x->digest, err) == 0 &&
        read_listed(&f, &sums, ARCHIVE_SERIES, &series, err) == 0 &&
        read_listed(&f, &sums, ARCHIVE_REPORT, &report, err) == 0 &&
        read_started(x, &series, arena, err) == 0)
        rc = read_report(x, &report, arena, err);
    checksums_release(&sums);
    buf_release(&series);
    buf_release(&report);
    folder_release(&f);
    return rc;
}

static int peek(const char *path, const char *file, struct buf *out, char digest[DIGEST_HEX],
                struct err *err)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return err_sys(err, ERR_ARCHIVE, errno, "cannot open '%s'", path);
    int rc = pack_peek(fd, path, file, FILE_MAX, out, digest, err);
    close(fd);
    return rc;
}

static int read_pack(struct prune_item *x, const char *path, struct arena *arena, struct err *err)
{
    struct buf series = BUF_INIT, report = BUF_INIT;
    int rc = -1;

    if (peek(path, ARCHIVE_REPORT, &report, x->digest, err) == 0 &&
        peek(path, ARCHIVE_SERIES, &series, x->digest, err) == 0 &&
        read_started(x, &series, arena, err) == 0)
        rc = read_report(x, &report, arena, err);
    buf_release(&series);
    buf_release(&report);
    return rc;
}

/* ---- pins ---- */

static bool is_digest(const char *text)
{
    return strspn(text, "0123456789abcdef") == 64 && (text[64] == '\0' || text[64] == ' ');
}

/* The lines of PINNED; none where there is no such file. */
static int read_pins(const char *folder, struct strings *lines, struct arena *arena,
                     struct err *err)
{
    const char *path = files_join(arena, folder, PRUNE_PINNED);
    struct buf text = BUF_INIT;
    size_t number = 0;
    struct stat st;
    int rc = 0;

    if (lstat(path, &st) < 0 && errno == ENOENT)
        return 0;
    if (files_read(path, PINNED_MAX, &text, err) < 0) {
        err->code = ERR_CONFIG;
        rc = -1;
    }
    for (const char *at = text.data; rc == 0 && *at;) {
        size_t len = strcspn(at, "\n");
        const char *line = arena_strndup(arena, at, len);

        number++;
        if (line[0] && line[0] != '#' && !is_digest(line))
            rc = err_set(err, ERR_CONFIG, "'%s' line %zu: not a digest and a name", path, number);
        strings_add(lines, arena, line);
        at += len + (at[len] == '\n');
    }
    buf_release(&text);
    return rc;
}

static bool pinned(const struct strings *lines, const char *digest)
{
    for (size_t i = 0; i < lines->count; i++)
        if (strncmp(lines->items[i], digest, 64) == 0)
            return true;
    return false;
}

/* The digest of an archive or pack at `path`. ERR_ARCHIVE, ERR_UNFINISHED. */
static int digest_of(const char *path, char digest[DIGEST_HEX], struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct prune_item x = {0};
    int rc =
        files_is_dir(path) ? read_folder(&x, path, &arena, err) : read_pack(&x, path, &arena, err);

    memcpy(digest, x.digest, DIGEST_HEX);
    arena_release(&arena);
    return rc < 0 ? err_wrap(err, "'%s'", path) : 0;
}

/* PINNED with one line more, or without those of a digest. */
static int write_pins(const char *path, const struct strings *lines, const char *digest,
                      const char *name, struct err *err)
{
    struct buf text = BUF_INIT;

    for (size_t i = 0; i < lines->count; i++)
        if (strncmp(lines->items[i], digest, 64) != 0)
            buf_printf(&text, "%s\n", lines->items[i]);
    if (name) {
        buf_printf(&text, "%s  ", digest);
        text_neutral(&text, name, strlen(name), 200);
        buf_addch(&text, '\n');
    }
    int rc = files_write_atomic(path, text.data, text.len, err);
    buf_release(&text);
    return rc;
}

int prune_pin(const char *path, bool pin, struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct strings lines = {0};
    char digest[DIGEST_HEX];
    const char *folder = files_dirname(&arena, path);
    int rc = -1;

    if (digest_of(path, digest, err) == 0 && read_pins(folder, &lines, &arena, err) == 0)
        rc = pinned(&lines, digest) == pin
                 ? 0
                 : write_pins(files_join(&arena, folder, PRUNE_PINNED), &lines, digest,
                              pin ? files_basename(path) : NULL, err);
    arena_release(&arena);
    return rc;
}

/* ---- scanning ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);

    return n > k && strcmp(text + n - k, end) == 0;
}

/* Bytes of all files below a folder, no link followed. */
static uint64_t bytes_below(int fd)
{
    DIR *dir = fdopendir(fd);
    const struct dirent *e;
    uint64_t sum = 0;

    if (!dir) {
        close(fd);
        return 0;
    }
    while ((e = readdir(dir)) != NULL) {
        struct stat st;

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        int below = S_ISDIR(st.st_mode) ? openat(dirfd(dir), e->d_name,
                                                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                                        : -1;
        sum += below >= 0 ? bytes_below(below) : (uint64_t)st.st_size;
    }
    closedir(dir);
    return sum;
}

static const char *path_of(const struct prune_list *list, const char *name)
{
    return files_join(list->arena, list->folder, name);
}

/* What an earlier prune had no time to remove. */
static bool finish_going(const struct prune_list *list, const char *name)
{
    const char *stem = arena_strndup(list->arena, name, strlen(name) - strlen(GOING));
    struct err ignored;

    if (!files_exists(path_of(list, arena_printf(list->arena, "%s" PRUNE_TOMBSTONE, stem))))
        return false;
    return files_remove_tree(path_of(list, name), &ignored) == 0;
}

static void leave_alone(struct prune_list *list, const char *name, const char *why)
{
    struct buf text = BUF_INIT;

    text_neutral(&text, name, strlen(name), 200);
    buf_printf(&text, ": %s", why);
    strings_add(&list->left_alone, list->arena, arena_strdup(list->arena, text.data));
    buf_release(&text);
}

static void look_at(struct prune_list *list, size_t *room, const char *name,
                    const struct strings *pins)
{
    struct prune_item x = {.name = arena_strdup(list->arena, name)};
    const char *path = path_of(list, name);
    struct err why = {0};
    struct stat st;

    if (name[0] == '.' || lstat(path, &st) < 0)
        return;
    x.is_pack = S_ISREG(st.st_mode) && ends_with(name, PACK_SUFFIX);
    if (S_ISDIR(st.st_mode) && ends_with(name, GOING) && finish_going(list, name))
        return;
    if (S_ISLNK(st.st_mode)) {
        leave_alone(list, name, "a link");
        return;
    }
    if (!x.is_pack && !S_ISDIR(st.st_mode))
        return;
    if ((x.is_pack ? read_pack(&x, path, list->arena, &why)
                   : read_folder(&x, path, list->arena, &why)) < 0) {
        leave_alone(list, name, why.msg);
        return;
    }
    int below = x.is_pack ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    x.bytes = below >= 0 ? bytes_below(below) : (uint64_t)st.st_size;
    x.pinned = pinned(pins, x.digest);
    if (list->count == *room) {
        struct prune_item *more = arena_array(list->arena, *room * 2 + 16, sizeof *more);

        if (list->count)
            memcpy(more, list->items, list->count * sizeof *more);
        list->items = more;
        *room = *room * 2 + 16;
    }
    list->items[list->count++] = x;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct prune_item *)a)->name, ((const struct prune_item *)b)->name);
}

int prune_scan(struct prune_list *list, const char *folder, struct arena *arena, struct err *err)
{
    struct strings pins = {0};
    const struct dirent *e;
    size_t room = 0;

    *list = (struct prune_list){.folder = folder, .arena = arena};
    DIR *dir = opendir(folder);
    if (!dir)
        return err_sys(err, ERR_USAGE, errno, "cannot list '%s'", folder);
    int rc = read_pins(folder, &pins, arena, err);
    while (rc == 0 && (e = readdir(dir)) != NULL)
        look_at(list, &room, e->d_name, &pins);
    closedir(dir);
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, by_name);
    return rc;
}

/* ---- removing ---- */

static void encode_tombstone(const struct prune_item *x, const char *why, struct buf *out)
{
    struct json_writer w;
    char now[CLOCK_TEXT];

    clock_format_utc(clock_real_ns(), now);
    jw_init(&w, out, true);
    jw_object_begin(&w);
    jw_key(&w, "abba"), jw_int(&w, ARCHIVE_FORMAT);
    jw_key(&w, "name"), jw_string(&w, x->name);
    jw_key(&w, "kind"), jw_string(&w, x->is_pack ? "pack" : "archive");
    jw_key(&w, "digest"), jw_string(&w, x->digest);
    jw_key(&w, "verdict"), jw_string(&w, verdict_name(x->report.verdict));
    jw_key(&w, "series"), jw_string(&w, x->report.series);
    jw_key(&w, "plan_sha256"), jw_string(&w, x->report.plan_sha256);
    jw_key(&w, "started"), jw_string(&w, x->started);
    jw_key(&w, "removed"), jw_string(&w, now);
    jw_key(&w, "why"), jw_string(&w, why);
    jw_key(&w, "bytes"), jw_uint(&w, x->bytes);
    jw_key(&w, "profiles");
    jw_array_begin(&w);
    for (size_t i = 0; i < x->report.profile_count; i++) {
        jw_object_begin(&w);
        jw_key(&w, "profile"), jw_string(&w, x->report.profiles[i].profile);
        jw_key(&w, "verdict"), jw_string(&w, verdict_name(x->report.profiles[i].verdict));
        jw_object_end(&w);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    buf_addch(out, '\n');
}

int prune_remove(const struct prune_list *list, const struct prune_item *x, const char *why,
                 struct err *err)
{
    const char *path = path_of(list, x->name);
    const char *stone = arena_printf(list->arena, "%s" PRUNE_TOMBSTONE, path);
    const char *going = arena_printf(list->arena, "%s" GOING, path);
    struct buf text = BUF_INIT;
    struct stat st;

    if (lstat(stone, &st) == 0)
        return err_set(err, ERR_SYSTEM, "'%s' exists already", stone);
    encode_tombstone(x, why, &text);
    int rc = files_write_atomic(stone, text.data, text.len, err);
    buf_release(&text);
    if (rc < 0)
        return -1;
    if (x->is_pack)
        return unlink(path) == 0 ? 0 : err_sys(err, ERR_SYSTEM, errno, "cannot remove '%s'", path);
    if (files_take_name(path, going) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot rename '%s'", path);
    return files_remove_tree(going, err);
}
