#include "base/words.h"

#include <string.h>

struct splitter {
    const char *text;
    const char *at;
    struct buf word;
    bool in_word; /* an empty quoted word is a word too */
    struct err *err;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static int fault(struct splitter *s, const char *at, const char *what)
{
    return err_set(s->err, ERR_USAGE, "%s at column %zu of the command", what,
                   (size_t)(at - s->text) + 1);
}

static int single_quotes(struct splitter *s)
{
    const char *start = s->at++;
    const char *end = strchr(s->at, '\'');

    if (end == NULL)
        return fault(s, start, "single quote without its end");
    buf_add(&s->word, s->at, (size_t)(end - s->at));
    s->at = end + 1;
    return 0;
}

/* Inside double quotes a backslash keeps its meaning only before $ ` " \ and newline. */
static int double_quotes(struct splitter *s)
{
    const char *start = s->at++;

    for (; *s->at != '"'; s->at++) {
        if (*s->at == '\0')
            return fault(s, start, "double quote without its end");
        if (*s->at == '\\' && s->at[1] != '\0' && strchr("$`\"\\\n", s->at[1]) != NULL) {
            s->at++;
            if (*s->at == '\n')
                continue;
        }
        buf_addch(&s->word, *s->at);
    }
    s->at++;
    return 0;
}

static int backslash(struct splitter *s)
{
    if (s->at[1] == '\0')
        return fault(s, s->at, "backslash with nothing after it");
    if (s->at[1] != '\n') {
        buf_addch(&s->word, s->at[1]);
        s->in_word = true;
    }
    s->at += 2;
    return 0;
}

static int take(struct splitter *s)
{
    switch (*s->at) {
    case '\'':
        s->in_word = true;
        return single_quotes(s);
    case '"':
        s->in_word = true;
        return double_quotes(s);
    case '\\':
        return backslash(s);
    default:
        s->in_word = true;
        buf_addch(&s->word, *s->at++);
        return 0;
    }
}

/* The next word into s->word; 1, or 0 at the end, or -1. */
static int next_word(struct splitter *s)
{
    buf_clear(&s->word);
    s->in_word = false;
    for (;;) {
        if (*s->at == '\0')
            return s->in_word;
        if (is_blank(*s->at)) {
            s->at++;
            if (s->in_word)
                return 1;
        } else if (take(s) < 0) {
            return -1;
        }
    }
}

int words_split(struct arena *arena, const char *text, char ***words, size_t *count,
                struct err *err)
{
    struct splitter s = {.text = text, .at = text, .word = BUF_INIT, .err = err};
    /* Each word but the last has a blank behind it. */
    char **list = arena_array(arena, strlen(text) / 2 + 2, sizeof *list);
    size_t n = 0;
    int rc;

    while ((rc = next_word(&s)) > 0)
        list[n++] = arena_strndup(arena, s.word.data, s.word.len);
    buf_release(&s.word);
    if (rc < 0)
        return -1;
    *words = list;
    *count = n;
    return 0;
}

char words_shell_character(const char *text)
{
    char quote = '\0';

    for (; *text != '\0'; text++) {
        if (quote == '\0' && (*text == '\'' || *text == '"'))
            quote = *text;
        else if (*text == quote)
            quote = '\0';
        else if (*text == '\\' && quote != '\'' && text[1] != '\0')
            text++;
        else if (quote == '\0' && strchr("|&;<>()$`*?[~", *text) != NULL)
            return *text;
        else if (quote == '"' && (*text == '$' || *text == '`'))
            return *text;
    }
    return '\0';
}

static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_^";

    return *word != '\0' && word[strspn(word, plain)] == '\0';
}

static void quote_word(struct buf *out, const char *word)
{
    if (is_plain(word)) {
        buf_addstr(out, word);
        return;
    }
    buf_addch(out, '\'');
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            buf_addstr(out, "'\\''");
        else
            buf_addch(out, *word);
    }
    buf_addch(out, '\'');
}

void words_quote(struct buf *out, const char *const words[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_addch(out, ' ');
        quote_word(out, words[i]);
    }
}
