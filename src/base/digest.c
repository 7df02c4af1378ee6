#include "base/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"

static void to_hex(const unsigned char raw[DIGEST_BYTES], char hex[DIGEST_HEX])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        hex[2 * i] = digits[raw[i] >> 4];
        hex[2 * i + 1] = digits[raw[i] & 15];
    }
    hex[2 * DIGEST_BYTES] = '\0';
}

/* The digest of the default provider cannot fail but for want of memory. */
static void must(int ok)
{
    if (!ok)
        mem_exhausted(0);
}

void digest_sha256_raw(const void *data, size_t len, unsigned char out[DIGEST_BYTES])
{
    must(EVP_Digest(data, len, out, NULL, EVP_sha256(), NULL));
}

void digest_sha256(const void *data, size_t len, char hex[DIGEST_HEX])
{
    unsigned char raw[DIGEST_BYTES];

    digest_sha256_raw(data, len, raw);
    to_hex(raw, hex);
}

void digest_begin(struct digest *d)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();

    must(context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL));
    d->context = context;
    d->size = 0;
}

void digest_add(struct digest *d, const void *data, size_t len)
{
    must(EVP_DigestUpdate(d->context, data, len));
    d->size += len;
}

void digest_finish(struct digest *d, char hex[DIGEST_HEX])
{
    unsigned char raw[DIGEST_BYTES];

    must(EVP_DigestFinal_ex(d->context, raw, NULL));
    to_hex(raw, hex);
    digest_abandon(d);
}

void digest_abandon(struct digest *d)
{
    EVP_MD_CTX_free(d->context);
    d->context = NULL;
}

int digest_sha256_fd(int fd, const char *name, char hex[DIGEST_HEX], uint64_t *size,
                     struct err *err)
{
    char piece[65536];
    struct digest d;
    ssize_t n;

    digest_begin(&d);
    while ((n = read(fd, piece, sizeof piece)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int saved = errno;
            digest_abandon(&d);
            return err_sys(err, ERR_SYSTEM, saved, "cannot read '%s'", name);
        }
        digest_add(&d, piece, (size_t)n);
    }
    if (size != NULL)
        *size = d.size;
    digest_finish(&d, hex);
    return 0;
}

int digest_sha256_file(const char *path, char hex[DIGEST_HEX], uint64_t *size, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot open '%s'", path);
    int rc = digest_sha256_fd(fd, path, hex, size, err);
    close(fd);
    return rc;
}

/* Feeds a part of a file to both; MD5's context may be NULL. */
static int feed_part(int fd, uint64_t offset, uint64_t bytes, EVP_MD_CTX *sha256, EVP_MD_CTX *md5,
                     struct err *err)
{
    char piece[65536];

    while (bytes) {
        size_t want = bytes < sizeof piece ? (size_t)bytes : sizeof piece;
        ssize_t n = pread(fd, piece, want, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return err_sys(err, ERR_SYSTEM, n < 0 ? errno : EIO, "cannot read a file");
        must(EVP_DigestUpdate(sha256, piece, (size_t)n));
        if (md5)
            must(EVP_DigestUpdate(md5, piece, (size_t)n));
        offset += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return 0;
}

int digest_part(int fd, uint64_t offset, uint64_t bytes, char sha256[DIGEST_HEX],
                char md5[DIGEST_MD5_HEX], struct err *err)
{
    unsigned char raw[EVP_MAX_MD_SIZE];
    EVP_MD_CTX *second = EVP_MD_CTX_new();
    struct digest d;

    digest_begin(&d);
    /* Where only approved algorithms are allowed (FIPS), there is no MD5. */
    if (second && EVP_DigestInit_ex(second, EVP_md5(), NULL) != 1) {
        EVP_MD_CTX_free(second);
        second = NULL;
    }
    int rc = feed_part(fd, offset, bytes, d.context, second, err);
    md5[0] = '\0';
    if (second && EVP_DigestFinal_ex(second, raw, NULL) == 1)
        for (int i = 0; i < 16; i++)
            snprintf(md5 + 2 * i, 3, "%02x", raw[i]);
    EVP_MD_CTX_free(second);
    digest_finish(&d, sha256);
    return rc;
}
