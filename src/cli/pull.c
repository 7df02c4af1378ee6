#include "cli/commands.h"

#include "archive/pack.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/url.h"
#include "cli/carry.h"
#include "cli/cli.h"
#include "cli/packs.h"
#include "cli/settings.h"
#include "cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const struct option_def expected[] = {
    {.name = "digest",
     .arg = "HEX",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, digest),
     .help = "the digest that the run or 'abba push' printed (of the archive, or of the pack)"},
    {.name = "max-size",
     .arg = "SIZE",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, max_size),
     .absent = "16GiB",
     .help = "refuse a pack that is larger than this, or unpacks to more"},
    {.name = "max-ratio",
     .arg = "N",
     .kind = OPTION_INTEGER,
     .offset = offsetof(struct settings, max_ratio),
     .min = 1,
     .max = 1000000,
     .preset = "1000",
     .help = "refuse a pack that grows this many times, once 256 MiB are unpacked"},
};
static const struct option_group group_expected = {"What is expected", expected, 3};

static const struct option_group *const groups[] = {&group_expected, &group_way, &group_plain,
                                                    &group_help, NULL};

static const char *const examples[] = {
    "abba pull https://HOST/archives/9f86d0....tar.zst", "the archive, in a new folder here",
    "abba pull s3://BUCKET/archives/9f86d0....tar.zst nightly --digest 1a2b3c...",
    "into the folder nightly, and that it is the archive that this digest names", NULL};

struct pull {
    struct settings *s;
    struct store *store;
    const char *shown;  /* the address, for people */
    const char *name;   /* of the pack in the store */
    const char *pack;   /* its SHA-256 as the address has it; NULL: it says none */
    const char *digest; /* --digest; NULL: not given */
    const char *folder; /* NULL: named by the archive */
    const char *part;   /* the file for what arrives */
    struct pack_limits limits;
    int fd;
};

/* ---- what is asked for ---- */

/* "#sha256=HEX" behind the address, or HEX.tar.zst as its name. */
static int find_expected(struct pull *p, const char *url, struct err *err)
{
    struct arena *arena = &p->s->arena;
    const char *fragment = strchr(url, '#');
    size_t hex = DIGEST_HEX - 1;

    if (fragment) {
        if (strncmp(fragment, "#sha256=", 8) == 0 &&
            packs_digest(fragment + 8, arena, &p->pack, err) == 0)
            return 0;
        err_set(err, ERR_USAGE, "'%s': found '%.80s' behind it", p->shown, fragment);
        return err_hint(err, "#sha256=HEX, with 64 hexadecimal digits");
    }
    if (strlen(p->name) == hex + strlen(PACK_SUFFIX) && strcmp(p->name + hex, PACK_SUFFIX) == 0 &&
        strspn(p->name, "0123456789abcdef") == hex)
        p->pack = arena_strndup(arena, p->name, hex);
    if (!p->pack && !p->digest)
        terminal_note(p->s, "neither the address nor --digest says what it must be: that it was "
                            "not replaced as a whole cannot be seen");
    return 0;
}

static int choose_places(struct pull *p, const char *url, struct err *err)
{
    struct arena *arena = &p->s->arena;
    const char *parent = ".";
    char hex[DIGEST_HEX];

    if (p->s->operands.count > 1) {
        p->folder = packs_trim(p->s->operands.items[1], arena);
        parent = files_dirname(arena, p->folder);
        if (files_exists(p->folder))
            return err_set(err, ERR_USAGE, "'%s' exists already", p->folder);
        if (files_mkdirs(parent, err) != 0)
            return -1;
    }
    digest_sha256(url, strcspn(url, "#"), hex);
    p->part = files_join(arena, parent, arena_printf(arena, ".abba-pull-%.16s", hex));
    return 0;
}

static int understand(struct pull *p, const char *url, const char **folder_url, struct err *err)
{
    struct settings *s = p->s;

    p->shown = url_shown(url, &s->arena);
    p->limits = (struct pack_limits){PACK_MAX_ENTRIES, PACK_MAX_BYTES, (uint64_t)s->max_ratio};
    if (s->digest && packs_digest(s->digest, &s->arena, &p->digest, err) != 0)
        return -1;
    if (carry_size("max-size", s->max_size, 1, &p->limits.bytes, err) != 0 ||
        store_split(url, folder_url, &p->name, &s->arena, err) != 0)
        return -1;
    return find_expected(p, url, err) == 0 ? choose_places(p, url, err) : -1;
}

/* ---- what arrives ---- */

static int open_part(struct pull *p, struct err *err)
{
    p->fd = open(p->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (p->fd < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot write '%s'", p->part);
    if (flock(p->fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK
                   ? err_set(err, ERR_USAGE, "'%s' is being pulled by another process", p->shown)
                   : err_sys(err, ERR_SYSTEM, errno, "cannot lock '%s'", p->part);
    return 0;
}

/* Keeps what arrived where another pull can use it. */
static void close_part(struct pull *p, bool keep, struct err *err)
{
    if (p->fd < 0)
        return;
    if (!keep || lseek(p->fd, 0, SEEK_END) == 0)
        unlink(p->part);
    else if (!err->hint[0])
        err_hint(err, "what has arrived is kept in '%s': the next pull goes on there", p->part);
    close(p->fd);
}

static int unpack(struct pull *p, struct pack_result *r, struct err *err)
{
    const char *want = p->pack ? p->pack : p->digest;
    struct arena *arena = &p->s->arena;
    struct buf series = BUF_INIT;
    char digest[DIGEST_HEX];
    int rc = 0;

    if (!p->folder) {
        rc = lseek(p->fd, 0, SEEK_SET) < 0 ||
             pack_peek(p->fd, p->shown, "series.json", (size_t)64 << 20, &series, digest, err);
        if (rc == 0)
            p->folder = arena_printf(arena, "abba-%.16s", digest);
        buf_release(&series);
    }
    if (rc != 0 || lseek(p->fd, 0, SEEK_SET) < 0)
        return -1;
    if (pack_read(p->fd, p->shown, p->folder, want, &p->limits, packs_stop(), r, err) != 0)
        return -1;
    if (!p->digest || strcmp(p->digest, r->digest) == 0 || strcmp(p->digest, r->sum.sha256) == 0)
        return 0;
    files_remove_tree(p->folder, err);
    return err_set(err, ERR_ARCHIVE, "'%s': the digest is %s, not %s", p->shown, r->digest,
                   p->digest);
}

/* Fetches and unpacks. What was begun earlier may have been another file: then once more. */
static int fetch(struct pull *p, struct pack_result *r, struct err *err)
{
    const char *given = p->folder;
    bool continued = true;
    uint64_t bytes;

    for (;;) {
        if (store_get(p->store, p->name, p->fd, &bytes, &continued, err) != 0)
            return -1;
        if (unpack(p, r, err) == 0)
            return 0;
        if (err->code != ERR_ARCHIVE || !continued || ftruncate(p->fd, 0) < 0)
            return -1;
        p->folder = given;
    }
}

/* ---- the sub-command ---- */

static int pull_held(struct pull *p, struct pack_result *r, struct err *err)
{
    int rc = open_part(p, err);

    if (rc != 0) {
        if (p->fd >= 0)
            close(p->fd);
        return -1;
    }
    rc = fetch(p, r, err);
    close_part(p, rc != 0 && (err->code == ERR_SYSTEM || err->code == ERR_INTERRUPTED), err);
    return rc;
}

static int pull(struct settings *s, struct err *err)
{
    struct pull p = {.s = s, .fd = -1};
    struct carry carry = {.s = s, .what = "fetching"};
    struct store_options options;
    const char *folder_url = NULL;
    struct pack_result result;
    struct buf out = BUF_INIT;
    int rc = -1;

    carry_options(&carry, &options);
    if (understand(&p, s->operands.items[0], &folder_url, err) != 0)
        return -1;
    options.http.limits.max_bytes = p.limits.bytes;
    if (store_open(&p.store, folder_url, &options, err) != 0)
        return -1;
    if (packs_hold_signals(err) == 0) {
        rc = pull_held(&p, &result, err);
        packs_release_signals();
    }
    progress_wipe(&carry.progress);
    store_close(p.store);
    if (rc == 0 && !s->quiet) {
        packs_say(&out, p.folder, &result);
        rc = terminal_print(out.data, out.len, err);
    }
    buf_release(&out);
    return rc == 0 ? STATUS_PASSED : -1;
}

const struct command_def command_pull = {
    .name = "pull",
    .operands = "URL [DIR]",
    .summary = "fetch an archive from a store",
    .about =
        "Fetches a pack from the address that 'abba push' printed (https, http, s3, file) and "
        "unpacks it into a new folder: DIR, or abba-DIGEST here. Every file is compared with "
        "SHA256SUMS, and the pack with the SHA-256 in its name or behind its address "
        "(#sha256=HEX). The folder appears once everything is in it. What arrived before an "
        "interruption is kept beside it, and the next pull goes on there.\n\n"
        "Credentials come from the same places as those of 'abba push'. Exit 0: it is here; 2: "
        "the address or the credentials are wrong; 3: it could not be fetched or stored; 5: what "
        "is there is damaged, or is not the pack that was asked for.",
    .groups = groups,
    .examples = examples,
    .min_operands = 1,
    .max_operands = 2,
    .names = NAMES_NOTHING,
    .run = pull,
};
