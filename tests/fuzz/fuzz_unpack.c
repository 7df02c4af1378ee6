/*
 * Any bytes as a pack, plain or in zstd: it is refused with a message and nothing is left, or the
 * folder is there with no file beyond what its SHA256SUMS lists. To get past the checksums, input
 * that begins with '+' is taken as files from which a pack is made first, one byte of which is then
 * changed.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "archive/checksums.h"
#include "archive/pack.h"
#include "base/buf.h"
#include "base/files.h"
#include "base/tar.h"

static char base[64];

static void remove_base(void)
{
    struct err ignored;

    files_remove_tree(base, &ignored);
}

static int memory_file(const void *data, size_t size)
{
    int fd = memfd_create("pack", MFD_CLOEXEC);

    ABBA_ASSERT(fd >= 0 && files_write_all(fd, data, size) == 0 && lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

/* A pack with the needed files, all of which hold `data`. */
static int make_pack(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"raw/000001-a.stdout", "report.json", "samples.jsonl",
                                        "series.json"};
    struct checksums sums = {0};
    struct buf list = BUF_INIT;
    char hex[DIGEST_HEX], digest[DIGEST_HEX], entry[100];
    struct tar_writer *w;
    struct tar_sum sum;
    struct err err;
    int fd = memfd_create("pack", MFD_CLOEXEC);

    digest_sha256(data, size, hex);
    for (size_t i = 0; i < 4; i++)
        checksums_add(&sums, names[i], hex, size);
    checksums_write(&sums, &list);
    digest_sha256(list.data, list.len, digest);
    ABBA_ASSERT(tar_writer_new(&w, fd, "pack", 1, &err) == 0);
    snprintf(entry, sizeof entry, "abba-%.16s/SHA256SUMS", digest);
    ABBA_ASSERT(tar_writer_file(w, entry, list.len, &err) == 0 &&
                tar_writer_data(w, list.data, list.len, &err) == 0);
    for (size_t i = 0; i < 4; i++) {
        snprintf(entry, sizeof entry, "abba-%.16s/%s", digest, names[i]);
        ABBA_ASSERT(tar_writer_file(w, entry, size, &err) == 0 &&
                    (size == 0 || tar_writer_data(w, data, size, &err) == 0));
    }
    ABBA_ASSERT(tar_writer_finish(w, &sum, &err) == 0);
    tar_writer_free(w);
    checksums_release(&sums);
    buf_release(&list);
    return fd;
}

/* Changes the byte that the input's first two bytes choose. */
static void change(int fd, const uint8_t *how)
{
    off_t end = lseek(fd, 0, SEEK_END), at = (how[0] << 8 | how[1]) % end;
    uint8_t byte;

    ABBA_ASSERT(pread(fd, &byte, 1, at) == 1);
    byte = (uint8_t)(byte ^ how[2]);
    ABBA_ASSERT(pwrite(fd, &byte, 1, at) == 1);
    lseek(fd, 0, SEEK_SET);
}

static void unpack(int fd, bool must)
{
    const struct pack_limits limits = {1000, 1 << 22, 1000};
    struct pack_result result, again;
    struct err err = {0};
    char folder[100];

    snprintf(folder, sizeof folder, "%s/out", base);
    if (pack_read(fd, "pack", folder, NULL, &limits, NULL, &result, &err) < 0) {
        ABBA_ASSERT(err.msg[0] && !must && !files_exists(folder));
        return;
    }
    int sink = memfd_create("again", MFD_CLOEXEC);
    ABBA_ASSERT(pack_write(folder, sink, "again", 1, NULL, &again, &err) == 0);
    ABBA_ASSERT(strcmp(result.digest, again.digest) == 0 && result.files == again.files);
    close(sink);
    ABBA_ASSERT(files_remove_tree(folder, &err) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!base[0]) {
        snprintf(base, sizeof base, "/tmp/abba-fuzz-unpack-XXXXXX");
        ABBA_ASSERT(mkdtemp(base));
        atexit(remove_base);
    }
    if (size < 4 || data[0] != '+') {
        int fd = memory_file(data, size);

        unpack(fd, false);
        close(fd);
        return 0;
    }
    int fd = make_pack(data + 4, size - 4);

    if (data[3])
        change(fd, data + 1);
    lseek(fd, 0, SEEK_SET);
    unpack(fd, data[3] == 0);
    close(fd);
    return 0;
}
