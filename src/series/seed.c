#include "series/seed.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/digest.h"

uint64_t seed_of_pair(uint64_t series, const char *profile, uint64_t pair, const char *link)
{
    unsigned char sum[DIGEST_BYTES];
    struct buf text = BUF_INIT;
    uint64_t seed = 0;

    buf_printf(&text, "abba-crn-1|%" PRIu64 "|%s|%" PRIu64 "|%s", series, profile, pair, link);
    digest_sha256_raw(text.data, text.len, sum);
    buf_release(&text);
    for (int i = 0; i < 8; i++)
        seed = seed << 8 | sum[i];
    return seed;
}
