#include "archive/lab_sums.h"

#include <stdio.h>
#include <unistd.h>

#include "archive/names.h"

/* `f` may be the folder of an archive; the file is listed as `path`. */
static int add_file(const struct folder *f, const char *name, const char *path,
                    struct checksums *out, struct err *err)
{
    char hex[DIGEST_HEX];
    uint64_t size;
    int fd = folder_file(f, name, &size, err);

    if (fd < 0)
        return -1;
    int rc = digest_sha256_fd(fd, path, hex, &size, err);
    close(fd);
    if (rc == 0)
        checksums_add(out, path, hex, size);
    return rc;
}

static int add_archive(const struct folder *f, const struct lab_comparison *c,
                       struct checksums *out, struct err *err)
{
    struct folder archive = FOLDER_NONE;
    char path[400];
    int rc = 0;

    if (!folder_has(f, c->folder))
        return 0;
    snprintf(path, sizeof path, "%s/%s", f->path, c->folder);
    if (folder_open(&archive, path, err) < 0)
        return -1;
    snprintf(path, sizeof path, "%s/" CHECKSUMS_NAME, c->folder);
    if (folder_has(&archive, CHECKSUMS_NAME))
        rc = add_file(&archive, CHECKSUMS_NAME, path, out, err);
    folder_release(&archive);
    return rc;
}

int lab_sums(const struct folder *f, const struct lab *lab, struct checksums *out, struct err *err)
{
    if (add_file(f, LAB_FILE, LAB_FILE, out, err) < 0)
        return -1;
    if (folder_has(f, ARCHIVE_REPORT) && add_file(f, ARCHIVE_REPORT, ARCHIVE_REPORT, out, err) < 0)
        return -1;
    for (size_t i = 0; i < lab->comparison_count; i++)
        if (add_archive(f, &lab->comparisons[i], out, err) < 0)
            return -1;
    checksums_sort(out);
    return 0;
}
