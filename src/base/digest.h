/*
 * digest: SHA-256 (FIPS 180-4) by OpenSSL's libcrypto, as 64 lower-case hex digits.
 */
#ifndef ABBA_BASE_DIGEST_H
#define ABBA_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define DIGEST_HEX 65 /* 64 digits and the NUL */
#define DIGEST_BYTES 32

void digest_sha256(const void *data, size_t len, char hex[DIGEST_HEX]);
void digest_sha256_raw(const void *data, size_t len, unsigned char out[DIGEST_BYTES]);

/* Digest and size (may be NULL) of a file. Errors are ERR_SYSTEM with errno. */
int digest_sha256_file(const char *path, char hex[DIGEST_HEX], uint64_t *size, struct err *err);

/* The same from an open descriptor, from its current position to its end. */
int digest_sha256_fd(int fd, const char *name, char hex[DIGEST_HEX], uint64_t *size,
                     struct err *err);

/* SHA-256 and MD5 (what S3 calls ETag) of a part of a file. ERR_SYSTEM, also where it ends early.
 */
#define DIGEST_MD5_HEX 33
int digest_part(int fd, uint64_t offset, uint64_t bytes, char sha256[DIGEST_HEX],
                char md5[DIGEST_MD5_HEX], struct err *err);

/* In pieces. digest_finish writes the digest and frees; digest_abandon frees only. */
struct digest {
    void *context; /* EVP_MD_CTX */
    uint64_t size; /* bytes so far */
};

void digest_begin(struct digest *d);
void digest_add(struct digest *d, const void *data, size_t len);
void digest_finish(struct digest *d, char hex[DIGEST_HEX]);
void digest_abandon(struct digest *d);

#endif
