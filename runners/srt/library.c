#include "library.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

enum { OLDEST = 0x010402 };

const char *library_default(void)
{
    return "libsrt.so." TEXT(SRT_VERSION_MAJOR) "." TEXT(SRT_VERSION_MINOR);
}

/* ---- which file ---- */

static bool is_folder(const char *name)
{
    struct stat st;

    return stat(name, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The one libsrt in a folder, or in its lib folders: all names must lead to the same file. */
static int find_in_folder(const char *folder, char path[PATH_MAX], struct err *e)
{
    static const char *const below[] = {"", "lib/", "lib64/", "lib/*-linux-gnu*/"};
    char pattern[PATH_MAX + 64], real[PATH_MAX];
    glob_t found;

    path[0] = '\0';
    for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
        snprintf(pattern, sizeof(pattern), "%s/%slibsrt*.so*", folder, below[i]);
        if (glob(pattern, 0, NULL, &found))
            continue;
        for (size_t k = 0; k < found.gl_pathc; k++) {
            if (!realpath(found.gl_pathv[k], real))
                continue;
            if (path[0] && strcmp(path, real) != 0) {
                err_set(e, "'%s' holds more than one libsrt: '%s' and '%s'; name the file", folder,
                        path, real);
                globfree(&found);
                return -1;
            }
            memcpy(path, real, sizeof(real));
        }
        globfree(&found);
    }
    return path[0] ? 0 : err_set(e, "no libsrt*.so in '%s' or its lib folders", folder);
}

/* ---- loading ---- */

static int find_functions(struct library *lib, void *handle, const char *name, struct err *e)
{
    const char *missing = NULL;

#define FIND(function)                                                                             \
    *(void **)&lib->function = dlsym(handle, "srt_" #function);                                    \
    if (!lib->function && !missing)                                                                \
        missing = "srt_" #function;
    LIBRARY_FUNCTIONS(FIND)
#undef FIND
    if (!lib->startup || !lib->getversion)
        return err_set(e, "'%s' is no libsrt: it has no function '%s'", name,
                       lib->startup ? "srt_getversion" : "srt_startup");
    if (missing)
        return err_set(e, "'%s' lacks the function '%s': 1.4.2 or later is needed", name, missing);
    return 0;
}

static void find_path(struct library *lib, const char *name)
{
    Dl_info info;

    if (!dladdr(*(void **)&lib->startup, &info) || !realpath(info.dli_fname, lib->path))
        snprintf(lib->path, sizeof(lib->path), "%s", name);
}

static int start(struct library *lib, struct err *e)
{
    lib->number = lib->getversion();
    snprintf(lib->version, sizeof(lib->version), "%u.%u.%u", lib->number >> 16 & 0xff,
             lib->number >> 8 & 0xff, lib->number & 0xff);
    if (lib->number < OLDEST)
        return err_set(e, "'%s' is libsrt %s: 1.4.2 or later is needed", lib->path, lib->version);
    lib->setloglevel(LOG_CRIT); /* what matters comes back as errors */
    if (lib->startup() < 0)
        return library_error(lib, e, "libsrt does not start");
    return 0;
}

int library_open(struct library *lib, const char *name, struct err *e)
{
    char inside[PATH_MAX];
    void *handle;

    if (is_folder(name)) {
        if (find_in_folder(name, inside, e))
            return -1;
        name = inside;
    }
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return err_set(e, "cannot load the library '%s': %s", name, dlerror());
    if (find_functions(lib, handle, name, e))
        return -1;
    find_path(lib, name);
    return start(lib, e);
}

/* ---- words ---- */

int library_error(const struct library *lib, struct err *e, const char *fmt, ...)
{
    char why[256];
    int system = 0;
    size_t used;
    va_list ap;

    lib->getlasterror(&system);
    snprintf(why, sizeof(why), "%s", lib->getlasterror_str());
    va_start(ap, fmt);
    vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
    va_end(ap);
    why[strcspn(why, "\n")] = '\0';
    used = strlen(why);
    if (used && why[used - 1] == '.')
        why[used - 1] = '\0';
    used = strlen(e->msg);
    snprintf(e->msg + used, sizeof(e->msg) - used, ": %s%s%s%s", why, system > 0 ? " (" : "",
             system > 0 ? strerror(system) : "", system > 0 ? ")" : "");
    return -1;
}

void library_reject_text(const struct library *lib, int reason, char *out, size_t size)
{
    static const char *const names[] = {
        "UNKNOWN",    "SYSTEM",     "PEER",    "RESOURCE",  "ROGUE",     "BACKLOG",
        "IPE",        "CLOSE",      "VERSION", "RDVCOOKIE", "BADSECRET", "UNSECURE",
        "MESSAGEAPI", "CONGESTION", "FILTER",  "GROUP",     "TIMEOUT",   "CRYPTO",
    };
    const char *name = "user-defined";

    if (reason >= 0 && (size_t)reason < sizeof(names) / sizeof(names[0]))
        name = names[reason];
    else if (reason == REJECT_UNAUTHORIZED)
        name = "UNAUTHORIZED";
    else if (reason >= 1000 && reason < 2000)
        name = "predefined";
    snprintf(out, size, "SRT reject reason %s (%d): %s", name, reason,
             reason == REJECT_UNAUTHORIZED ? "the secret in the streamid is missing or wrong"
                                           : lib->rejectreason_str(reason));
}
