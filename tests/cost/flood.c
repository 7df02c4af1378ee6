/*
 * flood BYTES lines|line|binary [stderr]: writes BYTES: numbered lines of 64 bytes, one line
 * without an end, or all byte values in turn. With "lines" the last line is "last".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 65536

static char chunk[CHUNK];

static void fill(const char *how, uint64_t done)
{
    if (strcmp(how, "binary") == 0) {
        for (size_t i = 0; i < CHUNK; i++)
            chunk[i] = (char)(i & 255);
    } else if (strcmp(how, "line") == 0) {
        memset(chunk, 'x', CHUNK);
    } else {
        memset(chunk, '.', CHUNK);
        for (size_t i = 0; i < CHUNK; i += 64) {
            char number[32];
            int n =
                snprintf(number, sizeof(number), "%llu ", (unsigned long long)(done / 64 + i / 64));

            memcpy(chunk + i, number, (size_t)n);
            chunk[i + 63] = '\n';
        }
    }
}

static int put(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, p, n);

        if (done < 0)
            return -1;
        p += done;
        n -= (size_t)done;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const uint64_t bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    const char *how = argc > 2 ? argv[2] : "lines";
    const int fd = argc > 3 ? STDERR_FILENO : STDOUT_FILENO;
    const int numbered = strcmp(how, "lines") == 0;

    fill(how, 0);
    for (uint64_t done = 0; done < bytes;) {
        size_t n = bytes - done < CHUNK ? (size_t)(bytes - done) : CHUNK;

        if (numbered && done > 0)
            fill(how, done);
        if (put(fd, chunk, n) < 0)
            return 1;
        done += n;
    }
    return numbered && put(fd, "last\n", 5) < 0;
}
