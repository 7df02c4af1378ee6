/*
 * earlier: a series of the same plan that was run before, found beside the new archive.
 */
#ifndef ABBA_MODEL_EARLIER_H
#define ABBA_MODEL_EARLIER_H

struct earlier {
    const char *archive; /* name of its folder */
    const char *started; /* UTC, ISO 8601 */
    const char *verdict; /* as its report says; "unfinished" */
    const char *digest;  /* SHA-256 of its SHA256SUMS; "" if unfinished */
};

#endif
