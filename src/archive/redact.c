#include "archive/redact.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define LEAST_LETTERS 3

static bool says_nothing(const char *word)
{
    static const char *const common[] = {"root",   "/root",     "localhost", "localdomain",
                                         "nobody", "127.0.0.1", "::1"};

    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (strcmp(word, common[i]) == 0)
            return true;
    return strlen(word) < LEAST_LETTERS;
}

void redaction_add(struct redaction *r, const char *from, const char *to)
{
    size_t at = 0, len = strlen(from);

    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->words[i].from, from) == 0)
            return;
    if (says_nothing(from))
        return;
    if (r->count == r->room) {
        r->room = r->room ? 2 * r->room : 8;
        r->words = xreallocarray(r->words, r->room, sizeof *r->words);
    }
    while (at < r->count && r->words[at].len >= len)
        at++;
    memmove(&r->words[at + 1], &r->words[at], (r->count - at) * sizeof *r->words);
    r->words[at] = (struct redact_word){xstrdup(from), len, to};
    r->count++;
}

void redaction_release(struct redaction *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->words[i].from);
    free(r->words);
    *r = (struct redaction){0};
}

/* ---- this host ---- */

static void add_host_name(struct redaction *r)
{
    char name[256];

    if (gethostname(name, sizeof name) < 0)
        return;
    name[sizeof name - 1] = '\0';
    redaction_add(r, name, "HOST");
    name[strcspn(name, ".")] = '\0';
    redaction_add(r, name, "HOST");
}

static void add_home(struct redaction *r, const char *home)
{
    char path[4096];
    size_t len = home ? strlen(home) : 0;

    while (len > 1 && home[len - 1] == '/')
        len--;
    if (len < 2 || len >= sizeof path || home[0] != '/')
        return;
    memcpy(path, home, len);
    path[len] = '\0';
    redaction_add(r, path, "HOME");
}

static void add_user(struct redaction *r)
{
    struct passwd entry, *found = NULL;
    char texts[4096];

    if (getpwuid_r(getuid(), &entry, texts, sizeof texts, &found) == 0 && found) {
        redaction_add(r, found->pw_name, "USER");
        add_home(r, found->pw_dir);
    }
    add_home(r, getenv("HOME"));
}

static void add_address(struct redaction *r, const struct sockaddr *sa)
{
    char text[INET6_ADDRSTRLEN];
    const void *address = NULL;

    if (sa && sa->sa_family == AF_INET)
        address = &((const struct sockaddr_in *)(const void *)sa)->sin_addr;
    else if (sa && sa->sa_family == AF_INET6)
        address = &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
    if (address && inet_ntop(sa->sa_family, address, text, sizeof text))
        redaction_add(r, text, "ADDRESS");
}

void redaction_add_host(struct redaction *r)
{
    struct ifaddrs *list = NULL;

    add_host_name(r);
    add_user(r);
    if (getifaddrs(&list) < 0)
        return;
    for (const struct ifaddrs *i = list; i; i = i->ifa_next)
        if (!(i->ifa_flags & IFF_LOOPBACK))
            add_address(r, i->ifa_addr);
    freeifaddrs(list);
}

/* ---- texts ---- */

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* The next place at or after `from` where the word stands by itself, or NULL. */
static const char *find_word(const struct redact_word *w, const char *text, size_t len, size_t from)
{
    while (from < len) {
        const char *at = memmem(text + from, len - from, w->from, w->len);

        if (!at)
            return NULL;
        size_t start = (size_t)(at - text), end = start + w->len;
        if ((start == 0 || !in_word(text[start - 1])) && (end == len || !in_word(text[end])))
            return at;
        from = start + 1;
    }
    return NULL;
}

/* Adds the text with one word replaced. */
static void replace(const struct redact_word *w, const char *text, size_t len, const char *first,
                    struct buf *out)
{
    size_t done = 0;

    for (const char *at = first; at; at = find_word(w, text, len, done)) {
        size_t start = (size_t)(at - text);

        buf_add(out, text + done, start - done);
        buf_addstr(out, w->to);
        done = start + w->len;
    }
    buf_add(out, text + done, len - done);
}

bool redaction_apply(const struct redaction *r, const char *text, size_t len, struct buf *out)
{
    struct buf now = BUF_INIT, next = BUF_INIT;
    bool changed = false;

    for (size_t i = 0; i < r->count; i++) {
        const char *first = find_word(&r->words[i], text, len, 0);

        if (!first)
            continue;
        buf_clear(&next);
        replace(&r->words[i], text, len, first, &next);
        struct buf old = now;
        now = next;
        next = old;
        text = now.data;
        len = now.len;
        changed = true;
    }
    if (changed)
        buf_add(out, text, len);
    buf_release(&now);
    buf_release(&next);
    return changed;
}
