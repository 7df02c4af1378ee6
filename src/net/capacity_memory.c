#include "net/capacity_memory.h"

#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/version.h"

#define BOOT_DIGITS 8 /* of the boot's id, that begin a file's name */
#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define BOOT_BYTES 64
#define UNIT " packets/s"
#define FIGURE_BYTES 48
#define MOST_PACKETS_S 1000000000u

/* The folder, or NULL. */
static const char *folder_of(struct arena *arena)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (cache && cache[0] == '/')
        return arena_printf(arena, "%s/abba/capacity", cache);
    return home && home[0] == '/' ? arena_printf(arena, "%s/.cache/abba/capacity", home) : NULL;
}

static bool read_boot(char boot[BOOT_BYTES])
{
    return files_read_small(BOOT_ID, boot, BOOT_BYTES) >= BOOT_DIGITS;
}

/* All that the figure hangs on, in one line. */
static void describe(const struct network *network, const char *boot, struct buf *out)
{
    struct json_writer w;
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    (void)sched_getaffinity(0, sizeof(cpus), &cpus);
    buf_printf(out, "%s %s %d %d ", boot, abba_version(), CPU_COUNT(&cpus), geteuid() == 0);
    jw_init(&w, out, false);
    network_encode(network, &w);
}

/* The file of this network, or NULL. */
static const char *file_of(const struct network *network, struct arena *arena)
{
    const char *folder = folder_of(arena);
    struct buf text = BUF_INIT;
    char boot[BOOT_BYTES], hex[DIGEST_HEX];

    if (!folder || !read_boot(boot))
        return NULL;
    describe(network, boot, &text);
    digest_sha256(text.data, text.len, hex);
    buf_release(&text);
    return arena_printf(arena, "%s/%.*s-%.32s", folder, BOOT_DIGITS, boot, hex);
}

bool capacity_recall(const struct network *network, uint64_t *packets_s)
{
    struct arena arena = ARENA_INIT;
    const char *file = file_of(network, &arena);
    char text[FIGURE_BYTES], *end;
    bool known = false;

    if (file && files_read_small(file, text, sizeof(text)) > 0) {
        *packets_s = strtoull(text, &end, 10);
        known =
            end != text && *packets_s > 0 && *packets_s <= MOST_PACKETS_S && strcmp(end, UNIT) == 0;
    }
    arena_release(&arena);
    return known;
}

static void forget_earlier_boots(const char *folder, const char *boot, struct arena *arena)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, boot, BOOT_DIGITS) != 0)
            unlink(files_join(arena, folder, entry->d_name));
    if (dir)
        closedir(dir);
}

void capacity_remember(const struct network *network, uint64_t packets_s)
{
    struct arena arena = ARENA_INIT;
    const char *file = file_of(network, &arena), *folder = folder_of(&arena);
    char boot[BOOT_BYTES], text[FIGURE_BYTES];
    struct err ignored;
    int len = snprintf(text, sizeof(text), "%" PRIu64 UNIT "\n", packets_s);

    if (file && read_boot(boot) && files_mkdirs(folder, &ignored) == 0) {
        forget_earlier_boots(folder, boot, &arena);
        (void)files_write_atomic(file, text, (size_t)len, &ignored);
    }
    arena_release(&arena);
}
