/* Whatever the text: words that were split are given back by quoting and splitting; and text is
 * made harmless. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/words.h"

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check_words(const char *text)
{
    struct arena arena = ARENA_INIT;
    struct buf quoted = BUF_INIT;
    struct err err = {0};
    char **words, **back;
    size_t count, again;

    words_shell_character(text);
    if (words_split(&arena, text, &words, &count, &err) == 0) {
        words_quote(&quoted, (const char *const *)words, count);
        must(words_split(&arena, quoted.data, &back, &again, &err) == 0);
        must(again == count && back[count] == NULL);
        for (size_t i = 0; i < count; i++)
            must(strcmp(words[i], back[i]) == 0);
        must(words_shell_character(quoted.data) == '\0');
    } else {
        must(strstr(err.msg, "at column ") != NULL);
    }
    buf_release(&quoted);
    arena_release(&arena);
}

static void check_neutral(const char *p, size_t n, size_t max)
{
    struct buf b = BUF_INIT;
    uint32_t code;

    text_neutral(&b, p, n, max);
    must(max == 0 || b.len <= max);
    must(text_is_utf8(b.data, b.len));
    for (size_t i = 0; i < b.len;) {
        i += text_decode(b.data + i, b.len - i, &code);
        must(!text_is_unseen(code));
    }
    buf_release(&b);
}

static void check_markup(const char *s)
{
    struct buf b = BUF_INIT;

    text_xml(&b, s);
    must(text_is_utf8(b.data, b.len) && strchr(b.data, '<') == NULL && strchr(b.data, '"') == NULL);
    buf_clear(&b);
    text_markdown(&b, s);
    must(text_is_utf8(b.data, b.len) && strpbrk(b.data, "<>\n\r\x1b") == NULL);
    buf_clear(&b);
    text_markdown_code(&b, s);
    must(text_is_utf8(b.data, b.len) && strpbrk(b.data, "\n\r\x1b") == NULL);
    buf_release(&b);
}

static void check_width(const char *s, size_t width)
{
    struct buf b = BUF_INIT;

    text_truncate(&b, s, width);
    must(text_width(b.data) <= width);
    buf_clear(&b);
    text_pad_right(&b, s, width);
    must(text_width(b.data) >= width);
    buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    size_t max = size > 0 ? data[0] : 0;

    memcpy(text, data, size);
    text[size] = '\0';
    check_words(text);
    check_neutral((const char *)data, size, max);
    check_markup(text);
    check_width(text, max);
    must(text_distance(text, text) == 0 || strlen(text) > 64);
    free(text);
    return 0;
}
