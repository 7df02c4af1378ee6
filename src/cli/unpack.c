#include "cli/commands.h"

#include "archive/pack.h"
#include "base/buf.h"
#include "base/files.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/packs.h"
#include "cli/settings.h"
#include "cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct option_def expected[] = {
    {.name = "digest",
     .arg = "HEX",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, digest),
     .help = "the digest that the run or 'abba pack' printed (of the archive, or of the pack)"},
    {.name = "max-size",
     .arg = "SIZE",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, max_size),
     .absent = "16GiB",
     .help = "refuse a pack that unpacks to more than this"},
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

static const struct option_group *const groups[] = {&group_expected, &group_plain, &group_help,
                                                    NULL};

static const char *const examples[] = {
    "abba unpack ARCHIVE.tar.zst", "the archive, in the folder ARCHIVE",
    "ssh HOST 'cat ARCHIVE.tar.zst' | abba unpack - ARCHIVE --digest 9f86d0...",
    "from a pipe, and that it is the archive that this digest names", NULL};

/* ARCHIVE.tar.zst unpacks to ARCHIVE, in the current folder as tar does it. */
static int choose_folder(const struct settings *s, const char *file, struct arena *arena,
                         const char **folder, struct err *err)
{
    if (s->operands.count > 1) {
        *folder = packs_trim(s->operands.items[1], arena);
        return 0;
    }
    const char *base = files_basename(file);
    size_t len = strlen(base), suffix = strlen(PACK_SUFFIX);
    if (len > suffix && strcmp(base + len - suffix, PACK_SUFFIX) == 0) {
        *folder = arena_strndup(arena, base, len - suffix);
        return 0;
    }
    err_set(err, ERR_USAGE, "no folder is given for '%s'", file);
    return err_hint(
        err, "abba unpack %s DIR; only a name that ends in " PACK_SUFFIX " tells the folder", file);
}

static int open_pack(const char *file, const char **name, struct err *err)
{
    struct stat st;

    *name = file;
    if (strcmp(file, "-") == 0) {
        *name = "standard input";
        return STDIN_FILENO;
    }
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, ERR_ARCHIVE, errno, "cannot open '%s'", file);
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(fd);
        return err_set(err, ERR_ARCHIVE, "'%s' is a folder, not a pack", file);
    }
    return fd;
}

static int check_options(struct settings *s, struct pack_limits *limits, const char **digest,
                         struct err *err)
{
    *limits = (struct pack_limits){PACK_MAX_ENTRIES, PACK_MAX_BYTES, (uint64_t)s->max_ratio};
    if (s->digest && packs_digest(s->digest, &s->arena, digest, err) < 0)
        return -1;
    if (s->max_size && units_parse_size(s->max_size, &limits->bytes, err) < 0) {
        err->code = ERR_USAGE;
        return err_wrap(err, "option '--max-size'");
    }
    return 0;
}

static int unpack(struct settings *s, struct err *err)
{
    const char *name, *folder = NULL, *digest = NULL;
    struct pack_limits limits;
    struct pack_result result;
    struct buf text = BUF_INIT;

    if (check_options(s, &limits, &digest, err) < 0 ||
        choose_folder(s, s->operands.items[0], &s->arena, &folder, err) < 0)
        return -1;
    int fd = open_pack(s->operands.items[0], &name, err);
    if (fd < 0 || packs_hold_signals(err) < 0)
        return -1;
    int rc = pack_read(fd, name, folder, digest, &limits, packs_stop(), &result, err);
    packs_release_signals();
    if (fd != STDIN_FILENO)
        close(fd);
    if (rc == 0 && !s->quiet) {
        packs_say(&text, folder, &result);
        rc = terminal_print(text.data, text.len, err);
    }
    buf_release(&text);
    return rc == 0 ? STATUS_PASSED : -1;
}

const struct command_def command_unpack = {
    .name = "unpack",
    .operands = "FILE [DIR]",
    .summary = "make an archive of such a file again",
    .about =
        "Unpacks what 'abba pack' made into a new folder. Every file is compared with SHA256SUMS "
        "on the way, and what is missing, too much, in another order, a link, a device or "
        "leads out of the folder is refused (exit 5); so are packs that grow beyond all measure. "
        "The folder appears once everything is in it, or not at all.",
    .groups = groups,
    .examples = examples,
    .min_operands = 1,
    .max_operands = 2,
    .names = NAMES_FILE,
    .run = unpack,
};
