/*
 * refused: texts that a decoder takes, and texts that it must refuse with the right words.
 */
#ifndef ABBA_TESTS_REFUSED_H
#define ABBA_TESTS_REFUSED_H

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"

/* A text that must not be taken, and what its message or hint must hold. */
struct refusal {
    const char *text;
    const char *says;
};

/* Single quotes in `text` stand for double ones, so that JSON reads well here. */
static inline struct json *parse_quoted(const char *text, struct err *err)
{
    char *copy = xstrdup(text);
    struct json *tree;

    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    tree = json_parse(copy, strlen(copy), "f.json", err);
    free(copy);
    return tree;
}

typedef int decode_fn(const struct json *tree, struct arena *arena, struct err *err);

static inline void check_refused(decode_fn *decode, const struct refusal *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena arena = ARENA_INIT;
        struct err err = {0};
        struct json *tree = parse_quoted(list[i].text, &err);
        int status = tree ? decode(tree, &arena, &err) : -1;

        if (status == 0)
            print_error("taken: %s\n", list[i].text);
        assert_int_equal(status, -1);
        if (!strstr(err.msg, list[i].says) && !strstr(err.hint, list[i].says))
            print_error("%s\n  says: %s\n  hint: %s\n  not: %s\n", list[i].text, err.msg, err.hint,
                        list[i].says);
        assert_true(strstr(err.msg, list[i].says) || strstr(err.hint, list[i].says));
        assert_non_null(strstr(err.msg, "f.json"));
        assert_int_equal(err.code, ERR_CONFIG);
        json_free(tree);
        arena_release(&arena);
    }
}

static inline void check_taken(decode_fn *decode, const char *text)
{
    struct arena arena = ARENA_INIT;
    struct err err = {0};
    struct json *tree = parse_quoted(text, &err);

    if (!tree || decode(tree, &arena, &err) < 0)
        print_error("%s\n  refused: %s\n", text, err.msg);
    assert_string_equal(err.msg, "");
    json_free(tree);
    arena_release(&arena);
}

/* Defines decode() for check_refused, and taken(), which fails the test unless the text decodes. */
#define DECODES(type, decode_type)                                                                 \
    static int decode(const struct json *tree, struct arena *arena, struct err *err)               \
    {                                                                                              \
        type out;                                                                                  \
                                                                                                   \
        return decode_type(&out, tree, "f.json", arena, err);                                      \
    }                                                                                              \
    static type taken(const char *text, struct arena *arena)                                       \
    {                                                                                              \
        struct err err = {0};                                                                      \
        type out;                                                                                  \
        struct json *tree = parse_quoted(text, &err);                                              \
                                                                                                   \
        if (!tree || decode_type(&out, tree, "f.json", arena, &err) < 0)                           \
            fail_msg("%s: %s", text, err.msg);                                                     \
        json_free(tree);                                                                           \
        return out;                                                                                \
    }

#endif
