#include "plan/compile_commands.h"

#include "base/buf.h"
#include "base/files.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/words.h"

#include <string.h>

#define FILE_MAX ((size_t)16 << 20)
#define COMMANDS_MAX 200
#define BYTES_MAX ((size_t)64 << 10)
#define COMMAND_MAX 4000

struct collection {
    const char *tree;
    struct strings *commands;
    size_t *cut, bytes;
    struct arena *arena;
};

/* One command, the tree as ".", made harmless. */
static void add_command(struct collection *c, const char *text, size_t len)
{
    struct buf shown = BUF_INIT;
    size_t tree = strlen(c->tree);

    for (const char *p = text; p < text + len;) {
        const char *at = memmem(p, (size_t)(text + len - p), c->tree, tree);
        const char *end = at ? at : text + len;

        text_neutral(&shown, p, (size_t)(end - p), COMMAND_MAX);
        if (at)
            buf_addch(&shown, '.');
        p = at ? at + tree : end;
    }
    c->bytes += shown.len;
    if (c->commands->count < COMMANDS_MAX && c->bytes <= BYTES_MAX)
        strings_add(c->commands, c->arena, arena_strdup(c->arena, shown.data));
    else
        ++*c->cut;
    buf_release(&shown);
}

/* ---- compile_commands.json (clang.llvm.org/docs/JSONCompilationDatabase.html) ---- */

static void add_arguments(struct collection *c, const struct json *list)
{
    struct buf text = BUF_INIT;

    for (const struct json *item = json_first(list); item; item = json_next(item)) {
        const char *word = json_kind(item) == JSON_STRING ? json_string(item) : "";

        if (text.len)
            buf_addch(&text, ' ');
        words_quote(&text, &word, 1);
    }
    add_command(c, text.data, text.len);
    buf_release(&text);
}

static bool from_database(struct collection *c, const char *file)
{
    struct buf text = BUF_INIT;
    struct err ignored = {0};
    struct json *root = NULL;

    if (files_exists(file) && files_read(file, FILE_MAX, &text, &ignored) == 0)
        root = json_parse(text.data, text.len, file, &ignored);
    for (const struct json *entry = root ? json_first(root) : NULL; entry;
         entry = json_next(entry)) {
        const struct json *command = json_get(entry, "command");
        const struct json *arguments = json_get(entry, "arguments");

        if (command && json_kind(command) == JSON_STRING)
            add_command(c, json_string(command), strlen(json_string(command)));
        else if (arguments && json_kind(arguments) == JSON_ARRAY)
            add_arguments(c, arguments);
    }
    json_free(root);
    buf_release(&text);
    return c->commands->count > 0;
}

/* ---- the log ---- */

/* Whether a line's first word is a compiler or linker, with or without a target and a version. */
static bool compiles(const char *line, size_t len)
{
    static const char *const names[] = {"cc", "gcc", "clang", "c++",      "g++", "clang++",
                                        "ar", "ld",  "rustc", "gfortran", "c99", "c11"};
    const char *end = memchr(line, ' ', len), *word = line;

    if (!end)
        return false;
    for (const char *p = line; p < end; p++)
        word = *p == '/' ? p + 1 : word;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        const char *at = memmem(word, (size_t)(end - word), names[i], n);

        if (at && (at == word || at[-1] == '-') && (at + n == end || at[n] == '-'))
            return true;
    }
    return false;
}

static void from_log(struct collection *c, const char *log)
{
    struct buf text = BUF_INIT;
    struct err ignored = {0};

    if (files_read(log, FILE_MAX, &text, &ignored) < 0)
        return;
    for (const char *line = text.data; *line;) {
        size_t len = strcspn(line, "\n");

        if (compiles(line, len))
            add_command(c, line, len);
        line += len + (line[len] == '\n');
    }
    buf_release(&text);
}

void compile_commands_find(const char *tree, const char *log, struct strings *commands, size_t *cut,
                           struct arena *arena)
{
    struct collection c = {.tree = tree, .commands = commands, .cut = cut, .arena = arena};

    if (from_database(&c, files_join(arena, tree, "compile_commands.json")) ||
        from_database(&c, files_join(arena, tree, "build/compile_commands.json")))
        return;
    from_log(&c, log);
}
