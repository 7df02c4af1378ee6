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
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct option_def packing[] = {
    {.letter = 'o',
     .name = "output",
     .arg = "FILE",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct settings, output),
     .names = NAMES_FILE,
     .absent = "ARCHIVE" PACK_SUFFIX,
     .help = "the pack, which must not exist; '-' is standard output"},
    {.name = "level",
     .arg = "N",
     .kind = OPTION_INTEGER,
     .offset = offsetof(struct settings, level),
     .min = TAR_LEVEL_MIN,
     .max = TAR_LEVEL_MAX,
     .preset = "3",
     .help = "how hard zstd tries; higher ones would take more than 64 MiB of memory"},
};
static const struct option_group group_packing = {"The pack", packing, 2};

static const struct option_group *const groups[] = {&group_packing, &group_plain, &group_help,
                                                    NULL};

static const char *const examples[] = {"abba pack archive/20240506T070809Z-flow-pingpong-1a2b3c4d",
                                       "one file beside it that holds the archive",
                                       "abba pack ARCHIVE -o - | ssh HOST 'cat >ARCHIVE.tar.zst'",
                                       "carry it elsewhere as it is made",
                                       "abba unpack ARCHIVE.tar.zst && abba verify ARCHIVE",
                                       "the way back",
                                       NULL};

/* ---- where it goes ---- */

struct target {
    const char *name;
    char *draft; /* a new file beside it; NULL: written to as it is */
    int fd;
};

static int open_draft(struct target *t, struct arena *arena, struct err *err)
{
    mode_t mask = umask(0);

    umask(mask);
    t->draft = arena_printf(arena, "%s.new-XXXXXX", t->name);
    t->fd = mkostemp(t->draft, O_CLOEXEC);
    if (t->fd < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot make '%s'", t->name);
    if (fchmod(t->fd, 0666 & ~mask) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot make '%s'", t->name);
    return 0;
}

static int open_target(struct target *t, struct arena *arena, struct err *err)
{
    struct stat there;

    if (strcmp(t->name, "-") == 0) {
        t->name = "standard output";
        t->fd = STDOUT_FILENO;
        return isatty(t->fd) ? err_set(err, ERR_USAGE, "a pack is not written to a terminal") : 0;
    }
    if (stat(t->name, &there) != 0)
        return open_draft(t, arena, err);
    if (S_ISREG(there.st_mode) || S_ISDIR(there.st_mode)) {
        err_set(err, ERR_USAGE, "'%s' exists already", t->name);
        return err_hint(err, "give another name with -o, or remove it");
    }
    t->fd = open(t->name, O_WRONLY | O_CLOEXEC);
    return t->fd >= 0 ? 0 : err_sys(err, ERR_SYSTEM, errno, "cannot write '%s'", t->name);
}

static int close_target(struct target *t, int rc, struct err *err)
{
    if (rc == 0 && t->draft && (fsync(t->fd) < 0 || files_take_name(t->draft, t->name) < 0))
        rc = err_sys(err, ERR_SYSTEM, errno, "cannot write '%s'", t->name);
    if (rc != 0 && t->draft && t->fd >= 0)
        unlink(t->draft);
    if (t->fd > STDOUT_FILENO)
        close(t->fd);
    return rc;
}

/* ---- the sub-command ---- */

static int show(const struct settings *s, const struct target *t, const struct pack_result *r,
                struct err *err)
{
    struct buf text = BUF_INIT;
    int rc = 0;

    packs_say(&text, t->name, r);
    if (t->fd == STDOUT_FILENO)
        terminal_note(s, text.data);
    else if (!s->quiet)
        rc = terminal_print(text.data, text.len, err);
    buf_release(&text);
    return rc;
}

static int pack(struct settings *s, struct err *err)
{
    const char *folder = packs_trim(s->operands.items[0], &s->arena);
    struct target t = {.name = s->output ? s->output
                                         : arena_printf(&s->arena, "%s%s", folder, PACK_SUFFIX),
                       .fd = -1};
    struct pack_result result;
    int rc = -1;

    if (packs_hold_signals(err) < 0)
        return -1;
    if (open_target(&t, &s->arena, err) == 0)
        rc = pack_write(folder, t.fd, t.name, (int)s->level, packs_stop(), &result, err);
    rc = close_target(&t, rc, err);
    packs_release_signals();
    if (rc == 0)
        rc = show(s, &t, &result, err);
    return rc == 0 ? STATUS_PASSED : -1;
}

const struct command_def command_pack = {
    .name = "pack",
    .operands = "ARCHIVE",
    .summary = "make one file of an archive",
    .about =
        "Writes a finished archive into one file, a tar within zstd. The tar is the same bytes "
        "from the same archive on any machine, and its SHA-256, which is printed, names the "
        "pack. Every file is compared with SHA256SUMS on the way; an archive that is damaged is "
        "not packed (exit 5). Any tar that knows zstd can unpack it as well.",
    .groups = groups,
    .examples = examples,
    .min_operands = 1,
    .max_operands = 1,
    .names = NAMES_FOLDER,
    .run = pack,
};
