/*
 * A program that does little but allocate. Prints the seconds that it took.
 *
 * usage: heap_load mixed|tight THREADS TIMES
 *
 * mixed: each thread keeps a thousand blocks and replaces one at a time, of sizes that programs ask
 * for, written to as a program would. tight: one block of 64 bytes, freed at once and never
 * touched, the least that an allocator ever does.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCKS 1024
#define THREADS_MAX 64

static long replacements;

/* Mostly small, some hundreds of bytes, a few kilobytes. */
static size_t size_of(uint32_t random)
{
    return random % 64 == 0  ? 1024 + random % 4096
           : random % 8 == 0 ? 128 + random % 512
                             : 16 + random % 112;
}

static void *work_tight(void *arg)
{
    (void)arg;
    for (long i = 0; i < replacements; i++) {
        void *volatile p = malloc(64);

        free(p);
    }
    return NULL;
}

static void *work_mixed(void *arg)
{
    char *block[BLOCKS] = {0};
    uint32_t random = 2463534242u + (uint32_t)(uintptr_t)arg;

    for (long i = 0; i < replacements; i++) {
        random ^= random << 13, random ^= random >> 17, random ^= random << 5;
        char **b = &block[random % BLOCKS];
        size_t size = size_of(random >> 10);

        free(*b);
        *b = malloc(size);
        if (!*b)
            abort();
        (*b)[0] = (*b)[size - 1] = (char)i;
    }
    for (size_t i = 0; i < BLOCKS; i++)
        free(block[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    struct timespec a, b;
    const char *kind = argc > 3 ? argv[1] : "";
    void *(*work)(void *) = strcmp(kind, "tight") == 0 ? work_tight : work_mixed;
    int count = argc > 3 ? atoi(argv[2]) : 0;

    replacements = argc > 3 ? atol(argv[3]) : 0;
    if (count < 1 || count > THREADS_MAX || replacements < 1)
        return fprintf(stderr, "usage: heap_load mixed|tight THREADS TIMES\n"), 2;
    clock_gettime(CLOCK_MONOTONIC, &a);
    (void)!access("/abba/window/begin", F_OK);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i) != 0)
            return perror("pthread_create"), 1;
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    (void)!access("/abba/window/end", F_OK);
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf("%.6f\n", (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9);
    return 0;
}
