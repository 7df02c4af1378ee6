#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- UTF-8 ---- */

static bool continues(const char *p, size_t n, size_t bytes)
{
    if (n < bytes)
        return false;
    for (size_t i = 1; i < bytes; i++) {
        if (((unsigned char)p[i] & 0xC0) != 0x80)
            return false;
    }
    return true;
}

/* Well-formed sequences are those of The Unicode Standard, table 3-7. */
size_t text_decode(const char *p, size_t n, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)p;
    unsigned char c = s[0];

    if (c < 0x80) {
        *code = c;
        return 1;
    }
    if (c >= 0xC2 && c <= 0xDF && continues(p, n, 2)) {
        *code = (uint32_t)(c & 0x1F) << 6 | (s[1] & 0x3F);
        return 2;
    }
    if (c >= 0xE0 && c <= 0xEF && continues(p, n, 3)) {
        *code = (uint32_t)(c & 0x0F) << 12 | (uint32_t)(s[1] & 0x3F) << 6 | (s[2] & 0x3F);
        return *code >= 0x800 && (*code < 0xD800 || *code > 0xDFFF) ? 3 : 0;
    }
    if (c >= 0xF0 && c <= 0xF4 && continues(p, n, 4)) {
        *code = (uint32_t)(c & 0x07) << 18 | (uint32_t)(s[1] & 0x3F) << 12 |
                (uint32_t)(s[2] & 0x3F) << 6 | (s[3] & 0x3F);
        return *code >= 0x10000 && *code <= 0x10FFFF ? 4 : 0;
    }
    return 0;
}

void text_encode(struct buf *out, uint32_t code)
{
    char s[4];

    if (code < 0x80) {
        buf_addch(out, (char)code);
    } else if (code < 0x800) {
        s[0] = (char)(0xC0 | code >> 6);
        s[1] = (char)(0x80 | (code & 0x3F));
        buf_add(out, s, 2);
    } else if (code < 0x10000) {
        s[0] = (char)(0xE0 | code >> 12);
        s[1] = (char)(0x80 | (code >> 6 & 0x3F));
        s[2] = (char)(0x80 | (code & 0x3F));
        buf_add(out, s, 3);
    } else {
        s[0] = (char)(0xF0 | code >> 18);
        s[1] = (char)(0x80 | (code >> 12 & 0x3F));
        s[2] = (char)(0x80 | (code >> 6 & 0x3F));
        s[3] = (char)(0x80 | (code & 0x3F));
        buf_add(out, s, 4);
    }
}

bool text_is_utf8(const char *p, size_t n)
{
    uint32_t code;

    while (n > 0) {
        size_t bytes = text_decode(p, n, &code);
        if (bytes == 0)
            return false;
        p += bytes;
        n -= bytes;
    }
    return true;
}

size_t text_characters(const char *s)
{
    size_t n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

/* ---- hostile text ---- */

#define ELLIPSIS "\u2026"
#define ZERO_WIDTH_SPACE "\u200B"
#define REPLACEMENT 0xFFFD

/* The harmless form of the character at p; returns how many bytes it stands for. */
static size_t neutral_char(const char *p, size_t n, char out[16])
{
    uint32_t code;
    size_t bytes = text_decode(p, n, &code);

    if (bytes == 0) {
        snprintf(out, 16, "\\x%02x", (unsigned char)*p);
        return 1;
    }
    if (code == '\n' || code == '\t' || code == '\r')
        snprintf(out, 16, "\\%c", code == '\n' ? 'n' : code == '\t' ? 't' : 'r');
    else if (code == '\\')
        snprintf(out, 16, "\\\\");
    else if (code < 0x80 && text_is_unseen(code))
        snprintf(out, 16, "\\x%02x", code);
    else if (text_is_unseen(code))
        snprintf(out, 16, "\\u{%x}", code);
    else
        snprintf(out, 16, "%.*s", (int)bytes, p);
    return bytes;
}

void text_neutral(struct buf *out, const char *p, size_t n, size_t max)
{
    const size_t ellipsis = sizeof ELLIPSIS - 1;
    size_t start = out->len;
    size_t fits = start; /* where to cut, so that the ellipsis still fits */
    char piece[16];

    while (n > 0) {
        size_t bytes = neutral_char(p, n, piece);
        buf_addstr(out, piece);
        size_t used = out->len - start;
        if (max > 0 && used > max) {
            buf_truncate(out, fits);
            if (fits - start + ellipsis <= max)
                buf_addstr(out, ELLIPSIS);
            return;
        }
        if (max == 0 || used + ellipsis <= max)
            fits = out->len;
        p += bytes;
        n -= bytes;
    }
}

/* ---- markup ---- */

/* One character of any text, with U+FFFD for what is not UTF-8 and for what shows nothing. */
static size_t next_char(const char *s, uint32_t *code)
{
    size_t bytes = text_decode(s, strnlen(s, 4), code);

    if (bytes == 0) {
        *code = REPLACEMENT;
        return 1;
    }
    if (*code == '\n' || *code == '\r' || *code == '\t')
        *code = ' ';
    else if (text_is_unseen(*code))
        *code = REPLACEMENT;
    return bytes;
}

/*
 * Punctuation is escaped by a backslash (CommonMark 2.4). Mentions, references, issue numbers and
 * bare links are found by GitHub in the text that results, so there a zero-width space parts them.
 */
static void markdown_char(struct buf *out, uint32_t code)
{
    if (code == '<')
        buf_addstr(out, "&lt;");
    else if (code == '>')
        buf_addstr(out, "&gt;");
    else if (code == '&')
        buf_addstr(out, "&amp;");
    else if (code == '@' || code == ':')
        buf_printf(out, "%c" ZERO_WIDTH_SPACE, (char)code);
    else if (code == '#')
        buf_addstr(out, "\\#" ZERO_WIDTH_SPACE);
    else if (code < 0x80 && code != 0 && strchr("\\`*_{}[]()!|~+-=\"'$^", (int)code) != NULL)
        buf_printf(out, "\\%c", (char)code);
    else
        text_encode(out, code);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Whether a reference begins with or goes on after the character at `s`: GitLab's !1, $1, &1,
 * ~label, %milestone; "GH-1" and other trackers' "KEY-1", which both services know. */
static bool begins_reference(const char *start, const char *s)
{
    char before = s > start ? s[-1] : ' ';

    if (strchr("!$&", *s))
        return is_digit(s[1]);
    if (strchr("~%", *s))
        return (is_digit(s[1]) || is_letter(s[1]) || s[1] == '"') && !is_digit(before);
    return *s == '-' && is_digit(s[1]) && before >= 'A' && before <= 'Z';
}

/* GitHub makes links of words that start with "www.". */
static bool starts_www(const char *s)
{
    return strncasecmp(s, "www.", 4) == 0;
}

void text_markdown(struct buf *out, const char *s)
{
    const char *start = s;
    uint32_t code;

    while (*s != '\0') {
        if (starts_www(s)) {
            buf_printf(out, "%.3s" ZERO_WIDTH_SPACE, s);
            s += 3;
            continue;
        }
        bool reference = begins_reference(start, s);
        s += next_char(s, &code);
        markdown_char(out, code);
        if (reference)
            buf_addstr(out, ZERO_WIDTH_SPACE);
    }
}

static size_t longest_run(const char *s, char c)
{
    size_t longest = 0;
    size_t run = 0;

    for (; *s != '\0'; s++) {
        run = *s == c ? run + 1 : 0;
        if (run > longest)
            longest = run;
    }
    return longest;
}

/* A pipe ends a table cell even inside a code span; GitHub takes "\|" there for a plain pipe. */
void text_markdown_code(struct buf *out, const char *s)
{
    size_t ticks = longest_run(s, '`') + 1;
    size_t len = strlen(s);
    bool space = len == 0 || s[0] == '`' || s[len - 1] == '`' || (s[0] == ' ' && s[len - 1] == ' ');
    uint32_t code;

    buf_fill(out, '`', ticks);
    if (space)
        buf_addch(out, ' ');
    while (*s != '\0') {
        s += next_char(s, &code);
        if (code == '|')
            buf_addch(out, '\\');
        text_encode(out, code);
    }
    if (space)
        buf_addch(out, ' ');
    buf_fill(out, '`', ticks);
}

/* XML 1.0, production 2 (Char). */
static bool xml_can_hold(uint32_t code)
{
    if (code < 0x20)
        return code == '\t' || code == '\n' || code == '\r';
    return code != 0xFFFE && code != 0xFFFF;
}

void text_xml(struct buf *out, const char *s)
{
    uint32_t code;

    while (*s != '\0') {
        size_t bytes = text_decode(s, strnlen(s, 4), &code);
        s += bytes > 0 ? bytes : 1;
        if (bytes == 0 || !xml_can_hold(code))
            continue;
        if (code == '<')
            buf_addstr(out, "&lt;");
        else if (code == '>')
            buf_addstr(out, "&gt;");
        else if (code == '&')
            buf_addstr(out, "&amp;");
        else if (code == '"')
            buf_addstr(out, "&quot;");
        else if (code == '\'')
            buf_addstr(out, "&#39;");
        else if (code < 0x20)
            buf_printf(out, "&#%u;", code);
        else
            text_encode(out, code);
    }
}

/* ---- likeness of words ---- */

#define WORD_MAX 64

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;

    return m < c ? m : c;
}

/* Optimal string alignment: the Levenshtein table with swaps of neighbours, three rows of it. */
size_t text_distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1];
    size_t la = strlen(a);
    size_t lb = strlen(b);

    if (la > WORD_MAX || lb > WORD_MAX)
        return SIZE_MAX;
    size_t *before = rows[0];
    size_t *above = rows[1];
    size_t *row = rows[2];
    for (size_t j = 0; j <= lb; j++)
        row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *spare = before;
        before = above;
        above = row;
        row = spare;
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = least(above[j] + 1, row[j - 1] + 1, above[j - 1] + !same);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]) && before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
    }
    return row[lb];
}

/* Near enough: at most one edit in three letters, or one is the other's beginning. */
const char *text_nearest(const char *word, const char *const list[], size_t n)
{
    const char *best = NULL;
    size_t best_distance = SIZE_MAX;
    size_t len = strlen(word);

    for (size_t i = 0; i < n; i++) {
        size_t other = strlen(list[i]);
        size_t shorter = len < other ? len : other;
        size_t distance = text_distance(word, list[i]);
        bool beginning = shorter >= 3 && strncasecmp(word, list[i], shorter) == 0;
        size_t near = (len > other ? len : other) / 3;
        bool meant = beginning || distance <= (near > 0 ? near : 1);
        if (len > 0 && meant && distance < best_distance) {
            best = list[i];
            best_distance = distance;
        }
    }
    return best;
}
