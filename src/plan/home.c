#include "plan/home.h"

#include "base/buf.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN "${HOME}"

/* $HOME without trailing slashes, if it is worth hiding; *len is its length. */
static const char *home_folder(size_t *len)
{
    const char *home = getenv("HOME");

    *len = home ? strlen(home) : 0;
    while (*len > 1 && home[*len - 1] == '/')
        (*len)--;
    if (*len < 2 || home[0] != '/' || (*len == 5 && memcmp(home, "/root", 5) == 0))
        return NULL;
    return home;
}

/* Whether a path's component ends here: "/home/al" is not in "/home/alice". */
static bool component_ends(char next)
{
    return !isalnum((unsigned char)next) && next != '_' && next != '-' && next != '.';
}

static const char *replace(const char *text, const char *from, size_t from_len, const char *to,
                           size_t to_len, bool whole, struct arena *arena)
{
    struct buf out = BUF_INIT;
    const char *result = text;
    size_t kept = 0, i = 0;

    while (text[i]) {
        if (strncmp(text + i, from, from_len) != 0 ||
            (whole && !component_ends(text[i + from_len]))) {
            i++;
            continue;
        }
        buf_add(&out, text + kept, i - kept);
        buf_add(&out, to, to_len);
        i += from_len;
        kept = i;
    }
    if (kept) {
        buf_addstr(&out, text + kept);
        result = arena_strdup(arena, out.data);
    }
    buf_release(&out);
    return result;
}

const char *home_hide(const char *text, struct arena *arena)
{
    size_t len;
    const char *home = home_folder(&len);

    if (!text || !home)
        return text;
    return replace(text, home, len, TOKEN, strlen(TOKEN), true, arena);
}

const char *home_show(const char *text, struct arena *arena)
{
    size_t len;
    const char *home = home_folder(&len);

    if (!text || !home)
        return text;
    return replace(text, TOKEN, strlen(TOKEN), home, len, false, arena);
}
