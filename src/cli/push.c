#include "cli/commands.h"

#include "archive/pack.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/units.h"
#include "base/url.h"
#include "cli/carry.h"
#include "cli/cli.h"
#include "cli/packs.h"
#include "cli/settings.h"
#include "cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct option_def sending[] = {
    {.name = "part-size",
     .arg = "SIZE",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, part_size),
     .absent = "16MiB",
     .help = "s3: what is larger is sent in parts of this size; at least 5MiB"},
};
static const struct option_group group_sending = {"What is sent", sending, 1};

static const struct option_group *const groups[] = {&group_sending, &group_way, &group_plain,
                                                    &group_help, NULL};

static const char *const examples[] = {
    "abba push ARCHIVE https://HOST/archives",
    "one pack, by PUT, named by its content; a second time nothing is sent",
    "AWS_ENDPOINT_URL=https://HOST abba push ARCHIVE s3://BUCKET/archives",
    "the same to an S3-compatible store, whose keys are in the environment",
    "abba push ARCHIVE file:///mnt/archives",
    "to a folder",
    NULL};

/* A file that nobody sees and nothing leaves behind. */
static int open_draft(struct err *err)
{
    const char *folder = files_large_folder();
    int fd = files_open_nameless(folder);

    return fd >= 0 ? fd : err_sys(err, ERR_SYSTEM, errno, "cannot make a file in '%s'", folder);
}

static void show(struct buf *out, const char *address, const struct store_sent *sent)
{
    struct units_scaled scaled;
    char digits[UNITS_TEXT];

    if (sent->already) {
        buf_printf(out, "there  %s (nothing was sent)\n", address);
        return;
    }
    units_scale((double)sent->bytes, "B", &scaled);
    units_digits(&scaled, digits);
    buf_printf(out, "sent   %s (%s%s)\n", address, digits, scaled.suffix);
}

static int send_pack(struct settings *s, struct store *store, int fd,
                     const struct pack_result *pack, struct buf *out, struct err *err)
{
    char sha256[DIGEST_HEX], md5[DIGEST_MD5_HEX];
    struct store_file file = {
        .name = arena_printf(&s->arena, "%s%s", pack->sum.sha256, PACK_SUFFIX),
        .fd = fd,
        .bytes = pack->sum.packed,
        .sha256 = sha256,
    };
    struct store_sent sent;

    if (digest_part(fd, 0, file.bytes, sha256, md5, err) != 0 ||
        store_put(store, &file, &sent, err) != 0)
        return -1;
    packs_say(out, s->operands.items[0], pack);
    show(out, url_shown(store_address(store, file.name, &s->arena), &s->arena), &sent);
    return 0;
}

static int pack_and_send(struct settings *s, struct store *store, struct buf *out, struct err *err)
{
    const char *folder = packs_trim(s->operands.items[0], &s->arena);
    int fd = open_draft(err);
    struct pack_result pack;

    if (fd < 0)
        return -1;
    int rc = pack_write(folder, fd, "the pack", PACK_LEVEL, packs_stop(), &pack, err);
    if (rc != 0 && err->sys_errno == ENOSPC)
        err_hint(err, "it is made in the folder that TMPDIR names, else in /var/tmp");
    if (rc == 0)
        rc = send_pack(s, store, fd, &pack, out, err);
    close(fd);
    return rc;
}

/* The pack's name is made of its content, so what is given is the folder to put it in. */
static int check_address(const char *url, struct arena *arena, struct err *err)
{
    size_t end = strcspn(url, "?#"), suffix = strlen(PACK_SUFFIX);

    if (end < suffix || strncmp(url + end - suffix, PACK_SUFFIX, suffix) != 0)
        return 0;
    err_set(err, ERR_USAGE, "'%s' names a file", url_shown(url, arena));
    return err_hint(err, "give the folder: what is sent is named by its content");
}

static int push(struct settings *s, struct err *err)
{
    const char *url = s->operands.items[1];
    struct carry carry = {.s = s, .what = "sending"};
    struct store_options options;
    struct store *store = NULL;
    struct buf out = BUF_INIT;
    int rc = -1;

    carry_options(&carry, &options);
    if (check_address(url, &s->arena, err) != 0 ||
        carry_size("part-size", s->part_size, STORE_MIN_PART_BYTES, &options.part_bytes, err) !=
            0 ||
        store_open(&store, url, &options, err) != 0)
        return -1;
    if (packs_hold_signals(err) == 0) {
        rc = pack_and_send(s, store, &out, err);
        packs_release_signals();
    }
    progress_wipe(&carry.progress);
    store_close(store);
    if (rc == 0 && !s->quiet)
        rc = terminal_print(out.data, out.len, err);
    buf_release(&out);
    return rc == 0 ? STATUS_PASSED : -1;
}

const struct command_def command_push = {
    .name = "push",
    .operands = "ARCHIVE URL",
    .summary = "send an archive to a store",
    .about =
        "Packs a finished archive and sends the pack to the folder URL: of a web server (https, "
        "http; by PUT, WebDAV), of an S3-compatible store (s3://BUCKET/FOLDER), or of this machine "
        "(file). Its name there is the SHA-256 of the tar inside, so what is there already is not "
        "sent again. A large pack goes to s3 in parts, and after an interruption the next push "
        "sends only those that are missing.\n\n"
        "Passwords come from ~/.netrc (or the file that NETRC names), a bearer token from "
        "ABBA_TOKEN, and the keys of s3 from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and "
        "AWS_SESSION_TOKEN, with AWS_REGION and AWS_ENDPOINT_URL. Exit 0: it is there; 2: the "
        "address or the credentials are wrong; 3: it could not be sent; 5: the archive is damaged.",
    .groups = groups,
    .examples = examples,
    .min_operands = 2,
    .max_operands = 2,
    .names = NAMES_FOLDER,
    .run = push,
};
