/* A library that allocates when it is loaded, and when it is asked to. */
#include <stdlib.h>

void plugin_work(long count, size_t size);

static void *volatile kept;

/* Before the program's own first line, and more than a loader has to spare. */
__attribute__((constructor)) static void loaded(void)
{
    kept = malloc(1000000);
    if (!kept)
        abort();
}

void plugin_work(long count, size_t size)
{
    for (long i = 0; i < count; i++) {
        void *volatile p = malloc(size);

        free(p);
    }
}
