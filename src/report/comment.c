#include "report/comment.h"

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <string.h>

#define MAX_NAME 100 /* bytes of a name in a marker */
#define ROOM_FOR_NOTE 120
#define CLOSING "</details>"

/* Letters, digits and what cannot end an HTML comment. */
static char harmless(char c)
{
    static const char also[] = " ./_";
    bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');

    return plain || (c && strchr(also, c)) ? c : '_';
}

void comment_marker(const char *name, struct buf *out)
{
    buf_addstr(out, "<!-- abba: ");
    for (size_t i = 0; name[i] && i < MAX_NAME; i++)
        buf_addch(out, harmless(name[i]));
    buf_addstr(out, " -->");
}

/* A report as it is taken over, line by line. */
struct taking {
    struct buf *out;
    size_t end;     /* of `out`, at most */
    size_t depth;   /* of open <details> */
    size_t dropped; /* bytes */
};

static bool begins(const char *line, size_t len, const char *word)
{
    return len >= strlen(word) && memcmp(line, word, strlen(word)) == 0;
}

/* Folds open and close on lines of their own: no text of a child's begins a line. */
static void count_folds(const char *line, size_t len, size_t *depth)
{
    if (begins(line, len, "<details"))
        ++*depth;
    else if (begins(line, len, CLOSING) && *depth > 0)
        --*depth;
}

/* False: it does not fit, and so nothing behind it does. */
static bool take_line(struct taking *t, const char *line, size_t len)
{
    size_t depth = t->depth;

    if (len > COMMENT_MAX_LINE) {
        t->dropped += len;
        return true;
    }
    count_folds(line, len, &depth);
    if (t->out->len + len + 1 + depth * sizeof("\n" CLOSING "\n") > t->end)
        return false;
    buf_add(t->out, line, len);
    buf_addch(t->out, '\n');
    t->depth = depth;
    return true;
}

static void take_lines(struct taking *t, const char *text, size_t size)
{
    while (size > 0) {
        const char *newline = memchr(text, '\n', size);
        size_t len = newline ? (size_t)(newline - text) : size;
        size_t whole = newline ? len + 1 : len;

        if (!take_line(t, text, len))
            break;
        text += whole;
        size -= whole;
    }
    t->dropped += size;
    for (; t->depth > 0; t->depth--)
        buf_addstr(t->out, "\n" CLOSING "\n");
}

void comment_make(const char *name, const char *markdown, size_t len, const char *end, size_t max,
                  struct buf *out)
{
    struct taking t = {.out = out, .end = out->len + max - strlen(end) - ROOM_FOR_NOTE};

    ABBA_ASSERT(max >= COMMENT_MIN_BYTES && strlen(end) <= 500);
    comment_marker(name, out);
    buf_addch(out, '\n');
    take_lines(&t, markdown, len);
    buf_addch(out, '\n');
    if (t.dropped)
        buf_printf(out, "%zu bytes of detail are left out here; the archive has them.\n\n",
                   t.dropped);
    buf_printf(out, "%s\n", end);
}
