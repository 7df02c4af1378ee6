#include "base/secrets.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

/* ---- names ---- */

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Whether `word` stands in the name; `alone`: between what is no letter. */
static bool has_word(const char *name, size_t len, const char *word, bool alone)
{
    size_t n = strlen(word);

    for (size_t at = 0; at + n <= len; at++)
        if (strncasecmp(name + at, word, n) == 0 &&
            (!alone || ((at == 0 || !isalpha((unsigned char)name[at - 1])) &&
                        (at + n == len || !isalpha((unsigned char)name[at + n])))))
            return true;
    return false;
}

bool secrets_name(const char *name, size_t len)
{
    static const char *const parts[] = {
        "token",       "secret",      "passw",         "passphrase", "credential", "apikey",
        "api_key",     "api-key",     "accesskey",     "access_key", "access-key", "privatekey",
        "private_key", "private-key", "authorization", "cookie",     "signature"};
    static const char *const words[] = {"auth", "pwd", "pass", "sas", "jwt"};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (has_word(name, len, parts[i], false))
            return true;
    if (len == 3 && strncasecmp(name, "pwd", 3) == 0) /* the working folder */
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_word(name, len, words[i], true))
            return true;
    return false;
}

/* A count, a switch or a {placeholder} is none, whatever its name: --max-tokens 100. */
static bool is_plain(const char *value, size_t len)
{
    static const char *const plain[] = {"true", "false", "yes", "no", "on", "off", "none"};

    if (len <= 4 && strspn(value, "0123456789") >= len)
        return true;
    if (len > 2 && value[0] == '{' && value[len - 1] == '}' && !memchr(value, '"', len))
        return true;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strlen(plain[i]) == len && strncasecmp(value, plain[i], len) == 0)
            return true;
    return false;
}

/* ---- one text ---- */

struct masking {
    const char *text;
    size_t done; /* of the text: it is in `out` */
    struct buf out;
    struct strings *found;
    struct arena *arena;
};

static void mask(struct masking *m, size_t at, size_t len)
{
    static const size_t n = sizeof SECRETS_MASK - 1;

    if (at < m->done || is_plain(m->text + at, len) ||
        (len == n && memcmp(m->text + at, SECRETS_MASK, n) == 0))
        return;
    buf_add(&m->out, m->text + m->done, at - m->done);
    buf_addstr(&m->out, SECRETS_MASK);
    if (m->found)
        strings_add(m->found, m->arena, arena_strndup(m->arena, m->text + at, len));
    m->done = at + len;
}

static size_t value_length(const char *value)
{
    if (*value == '"' || *value == '\'')
        return 1 + strcspn(value + 1, *value == '"' ? "\"" : "'");
    return strcspn(value, " \t\r\n&;,\"'`<>#");
}

/* "scheme://user:password@": user and password. */
static void mask_user(struct masking *m, size_t at)
{
    const char *from = m->text + at + 3;
    size_t len = strcspn(from, "/?# \t\r\n\"'");

    while (len > 0 && from[len - 1] != '@')
        len--;
    if (len > 1)
        mask(m, at + 3, len - 1);
}

/* The name in front of '=' or ':' at `at`. */
static bool names_a_secret(const struct masking *m, size_t at)
{
    size_t start = at, end = at;

    if (end > 0 && (m->text[end - 1] == '"' || m->text[end - 1] == '\'')) /* "token": ... */
        start = --end;
    while (start > 0 && is_name_char(m->text[start - 1]))
        start--;
    return start < end && secrets_name(m->text + start, end - start);
}

static void mask_assigned(struct masking *m, size_t at)
{
    const char *text = m->text;
    bool header = text[at] == ':';
    size_t from = at + 1;

    if ((header && strncmp(text + at, "://", 3) == 0) || !names_a_secret(m, at))
        return;
    while (header && text[from] == ' ')
        from++;
    size_t quote = text[from] == '"' || text[from] == '\'';
    size_t len = header && !quote ? strcspn(text + from, "\r\n\"'") : value_length(text + from);
    if (len > quote)
        mask(m, from + quote, len - quote);
}

/* "Bearer abc" */
static void mask_scheme(struct masking *m, size_t at)
{
    static const char *const schemes[] = {"Bearer ", "Basic "};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t n = strlen(schemes[i]), len;

        if (strncasecmp(m->text + at, schemes[i], n) != 0)
            continue;
        len = strspn(m->text + at + n,
                     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=");
        if (len >= 8)
            mask(m, at + n, len);
    }
}

/* Tokens that are known by their beginning. */
static void mask_known(struct masking *m, size_t at)
{
    static const struct {
        const char *begin;
        size_t least; /* characters after it */
    } known[] = {{"ghp_", 20},        {"gho_", 20},   {"ghu_", 20},  {"ghs_", 20},
                 {"ghr_", 20},        {"glpat-", 16}, {"xoxb-", 16}, {"xoxp-", 16},
                 {"github_pat_", 20}, {"hf_", 20},    {"npm_", 20},  {"pypi-", 20},
                 {"AKIA", 16},        {"ASIA", 16},   {"sk-", 20},   {"eyJ", 30}};
    const char *from = m->text + at;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].begin), len;

        if (strncmp(from, known[i].begin, n) != 0)
            continue;
        len = strspn(from, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.");
        if (len >= n + known[i].least)
            mask(m, at, len);
    }
}

static void mask_private_key(struct masking *m, size_t at)
{
    const char *from = m->text + at, *end = strstr(from, "-----END");

    if (strncmp(from, "-----BEGIN", 10) != 0 || !strstr(from, "PRIVATE KEY"))
        return;
    mask(m, at, end ? (size_t)(end - from) : strlen(from));
}

static void look_at(struct masking *m, size_t at)
{
    const char *p = m->text + at;
    bool word_begins = at == 0 || !is_name_char(p[-1]);

    if (strncmp(p, "://", 3) == 0)
        mask_user(m, at);
    else if (*p == '=' || *p == ':')
        mask_assigned(m, at);
    else if (*p == '-' && strncmp(p, "-----BEGIN", 10) == 0)
        mask_private_key(m, at);
    else if (word_begins) {
        mask_scheme(m, at);
        mask_known(m, at);
    }
}

const char *secrets_mask(const char *text, struct strings *found, struct arena *arena)
{
    struct masking m = {.text = text, .out = BUF_INIT, .found = found, .arena = arena};
    const char *masked = text;

    for (size_t at = 0; text[at]; at++)
        if (at >= m.done)
            look_at(&m, at);
    if (m.done > 0) {
        buf_addstr(&m.out, text + m.done);
        masked = arena_strdup(arena, m.out.data);
    }
    buf_release(&m.out);
    return masked;
}

/* ---- a whole value ---- */

static const char *mask_whole(const char *text, size_t at, struct strings *found,
                              struct arena *arena)
{
    struct masking m = {.text = text, .out = BUF_INIT, .found = found, .arena = arena};
    const char *masked = text;

    mask(&m, at, strlen(text + at));
    if (m.done > 0)
        masked = arena_strdup(arena, m.out.data);
    buf_release(&m.out);
    return masked;
}

const char *secrets_mask_setting(const char *name, const char *value, struct strings *found,
                                 struct arena *arena)
{
    if (value[0] && secrets_name(name, strlen(name)))
        return mask_whole(value, 0, found, arena);
    return secrets_mask(value, found, arena);
}

/* "--api-token", and nothing behind it. */
static bool asks_for_secret(const char *item)
{
    return item[0] == '-' && !strpbrk(item, "= :") && secrets_name(item, strlen(item));
}

const char *secrets_mask_item(const struct strings *items, size_t at, struct strings *found,
                              struct arena *arena)
{
    const char *item = items->items[at], *before = at > 0 ? items->items[at - 1] : "";
    size_t name = strspn(item, "-");
    const char *equals = strchr(item, '=');

    if (asks_for_secret(before) && item[0] != '-')
        return mask_whole(item, 0, found, arena);
    if ((strcmp(before, "-u") == 0 || strcmp(before, "--user") == 0) && strchr(item, ':'))
        return mask_whole(item, 0, found, arena);
    if (equals && equals[1] && equals > item + name &&
        strspn(item + name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.") ==
            (size_t)(equals - item) - name &&
        secrets_name(item + name, (size_t)(equals - item) - name))
        return mask_whole(item, (size_t)(equals - item) + 1, found, arena);
    return secrets_mask(item, found, arena);
}
