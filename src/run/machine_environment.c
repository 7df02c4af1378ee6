/* The environment that series.json tells of: by an allowlist, so that no secret enters by a name
 * that nobody thought of. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/secrets.h"
#include "run/machine_look.h"

#define VALUE_MAX 2000

/* Those that end in '*' begin so. */
static const char *const allowed[] = {"PATH",
                                      "LANG",
                                      "LANGUAGE",
                                      "LC_*",
                                      "TZ",
                                      "TMPDIR",
                                      "LD_LIBRARY_PATH",
                                      "LD_PRELOAD",
                                      "LD_BIND_NOW",
                                      "GLIBC_TUNABLES",
                                      "MALLOC_*",
                                      "MIMALLOC_*",
                                      "JEMALLOC_*",
                                      "TCMALLOC_*",
                                      "OMP_*",
                                      "GOMP_*",
                                      "KMP_*",
                                      "MKL_NUM_THREADS",
                                      "OPENBLAS_NUM_THREADS",
                                      "GOMAXPROCS",
                                      "GOGC",
                                      "GODEBUG",
                                      "GOMEMLIMIT",
                                      "RAYON_NUM_THREADS",
                                      "TOKIO_WORKER_THREADS",
                                      "RUST_MIN_STACK",
                                      "JAVA_TOOL_OPTIONS",
                                      "NODE_OPTIONS",
                                      "UV_THREADPOOL_SIZE",
                                      "PYTHONHASHSEED",
                                      "PYTHONOPTIMIZE",
                                      "PYTHONMALLOC",
                                      "PERL_HASH_SEED",
                                      "OPENSSL_ia32cap",
                                      "OPENSSL_CONF",
                                      "ZSTD_CLEVEL",
                                      "ZSTD_NBTHREADS",
                                      "GZIP",
                                      "XZ_OPT"};

static bool is_allowed(const char *setting, size_t len)
{
    for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++) {
        const char *name = allowed[i];
        const size_t n = strlen(name);

        if (name[n - 1] == '*' ? len >= n && strncmp(setting, name, n - 1) == 0
                               : len == n && strncmp(setting, name, n) == 0)
            return true;
    }
    return false;
}

/* A variable may stand there twice; programs read the first. */
static bool is_taken(const struct machine *m, const char *name)
{
    for (size_t i = 0; i < m->environment_count; i++)
        if (strcmp(m->environment[i].name, name) == 0)
            return true;
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct machine_setting *)a)->name,
                  ((const struct machine_setting *)b)->name);
}

void look_at_environment(const struct look *l)
{
    struct machine *m = l->m;
    size_t count = 0;

    for (char **e = environ; e != NULL && *e != NULL; e++)
        count++;
    m->environment = arena_array(l->arena, count, sizeof(*m->environment));
    for (char **e = environ; e != NULL && *e != NULL; e++) {
        const size_t len = strcspn(*e, "=");
        const char *name, *value;

        if ((*e)[len] == '\0' || !is_allowed(*e, len))
            continue;
        name = arena_strndup(l->arena, *e, len);
        if (is_taken(m, name))
            continue;
        value = secrets_mask_setting(name, arena_strndup(l->arena, *e + len + 1, VALUE_MAX), NULL,
                                     l->arena);
        m->environment[m->environment_count++] = (struct machine_setting){name, value};
    }
    qsort(m->environment, m->environment_count, sizeof(*m->environment), by_name);
}
