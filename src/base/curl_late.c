/*
 * curl_late: libcurl, loaded when it is first called. It brings some thirty libraries with it, one
 * of which tests itself for 10 ms whenever a program starts; most runs of abba never send anything.
 * The functions below have libcurl's names and pass calls on; its header describes them, which is
 * left out here: only pointers, ints and, as variable arguments, pointers and 64-bit integers go
 * through.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

_Static_assert(sizeof(long) == sizeof(void *) && sizeof(int64_t) == sizeof(void *),
               "a variable argument is passed on as a pointer, whatever it is");

#define FAILED_INIT 2 /* CURLE_FAILED_INIT */

/* libcurl's function, or NULL where there is no libcurl. */
static void *find(const char *name)
{
    static void *library;

    if (!library)
        library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, name) : NULL;
}

/* PASS(result, fallback, function, (parameters), (arguments)) */
#define PASS(result, fallback, function, parameters, arguments)                                    \
    result function parameters;                                                                    \
    result function parameters                                                                     \
    {                                                                                              \
        result(*late) parameters;                                                                  \
                                                                                                   \
        *(void **)(void *)&late = find(#function);                                                 \
        return late ? late arguments : (fallback);                                                 \
    }

#define PASS_VOID(function)                                                                        \
    void function(void *p);                                                                        \
    void function(void *p)                                                                         \
    {                                                                                              \
        void (*late)(void *);                                                                      \
                                                                                                   \
        *(void **)(void *)&late = find(#function);                                                 \
        if (late)                                                                                  \
            late(p);                                                                               \
    }

/* One variable argument. */
#define PASS_OPTION(function)                                                                      \
    int function(void *handle, int option, ...);                                                   \
    int function(void *handle, int option, ...)                                                    \
    {                                                                                              \
        int (*late)(void *, int, ...);                                                             \
        va_list ap;                                                                                \
        void *value;                                                                               \
                                                                                                   \
        va_start(ap, option);                                                                      \
        value = va_arg(ap, void *);                                                                \
        va_end(ap);                                                                                \
        *(void **)(void *)&late = find(#function);                                                 \
        return late ? late(handle, option, value) : FAILED_INIT;                                   \
    }

PASS(int, FAILED_INIT, curl_global_init, (long flags), (flags))
PASS(void *, NULL, curl_easy_init, (void), ())
PASS_VOID(curl_easy_reset)
PASS_VOID(curl_easy_cleanup)
PASS_OPTION(curl_easy_setopt)
PASS_OPTION(curl_easy_getinfo)
PASS(int, FAILED_INIT, curl_easy_perform, (void *handle), (handle))
PASS(const char *, "libcurl is missing", curl_easy_strerror, (int code), (code))
PASS(void *, NULL, curl_slist_append, (void *list, const char *text), (list, text))
PASS_VOID(curl_slist_free_all)

PASS(void *, NULL, curl_url, (void), ())
PASS_VOID(curl_url_cleanup)
PASS(int, FAILED_INIT, curl_url_set, (void *url, int part, const char *text, unsigned flags),
     (url, part, text, flags))
PASS(int, FAILED_INIT, curl_url_get, (void *url, int part, char **text, unsigned flags),
     (url, part, text, flags))
PASS_VOID(curl_free)
