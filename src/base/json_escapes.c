#include "base/json_escapes.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"

int json_hex4(const char *p, const char *end)
{
    int code = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        if (c >= '0' && c <= '9')
            code = code * 16 + (c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            code = code * 16 + ((c | 32) - 'a' + 10);
        else
            return -1;
    }
    return code;
}

static char undone_escape(char c)
{
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return c;
    }
}

/* A \uXXXX, at its hex digits; returns behind it, or behind the low half of a pair. */
static const char *undo_unicode(const char *p, const char *end, struct buf *out)
{
    uint32_t code = (uint32_t)json_hex4(p, end);

    p += 4;
    if (code >= 0xD800 && code <= 0xDBFF) {
        uint32_t low = (uint32_t)json_hex4(p + 2, end);
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        p += 6;
    }
    text_encode(out, code);
    return p;
}

int json_undo_escapes(const char *text, size_t len, struct buf *out)
{
    const char *end = text + len;

    for (const char *p = text; p < end;) {
        const char *plain = memchr(p, '\\', (size_t)(end - p));
        if (plain == NULL)
            plain = end;
        buf_add(out, p, (size_t)(plain - p));
        if (plain == end)
            break;
        p = plain + 2;
        if (plain[1] == 'u')
            p = undo_unicode(p, end, out);
        else
            buf_addch(out, undone_escape(plain[1]));
    }
    return out->overflow ? -1 : 0;
}
