#include "plan/build.h"

#include "base/digest.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/spawn.h"
#include "base/text.h"
#include "base/words.h"
#include "model/decode.h"
#include "plan/compile_commands.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_DIGITS 40
#define LOG_LINES 15
#define LOG_TAIL_BYTES 4096
#define RECORD_MAX ((size_t)4 << 20)
#define SOURCE_DATE "SOURCE_DATE_EPOCH=315532800" /* 1980, the first year that zip knows */

/* A build while it is made or looked for. */
struct place {
    const char *root;   /* of all builds */
    const char *folder; /* of this one */
    const char *tree, *tmp, *log, *record;
};

/* ---- environment ---- */

/* Variables that say what compiles and how: they are part of the key and of the archive. */
static const char *const telling[] = {
    "AR",     "AS",      "CC", "CFLAGS",  "CPPFLAGS", "CXX",  "CXXFLAGS",        "FC",
    "FFLAGS", "GOFLAGS", "LD", "LDFLAGS", "LDLIBS",   "LIBS", "PKG_CONFIG_PATH", "RUSTFLAGS"};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* What would tell a build where it was started, or is set anew. */
static bool withheld(const char *setting)
{
    static const char *const begin[] = {
        "GIT_",    "ABBA_", "MAKEFLAGS=", "MAKELEVEL=",      "MFLAGS=",           "MAKEOVERRIDES=",
        "TMPDIR=", "PWD=",  "OLDPWD=",    "CCACHE_DISABLE=", "SOURCE_DATE_EPOCH="};

    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (begins(setting, begin[i]))
            return true;
    return false;
}

static void build_environment(const struct place *p, struct strings *env, struct arena *arena)
{
    for (char **e = environ; e && *e; e++)
        if (!withheld(*e))
            strings_add(env, arena, *e);
    strings_add(env, arena, arena_printf(arena, "TMPDIR=%s", p->tmp));
    strings_add(env, arena, arena_printf(arena, "PWD=%s", p->tree));
    strings_add(env, arena, arena_printf(arena, "GIT_CEILING_DIRECTORIES=%s", p->folder));
    strings_add(env, arena, SOURCE_DATE);
    strings_add(env, arena, "CCACHE_DISABLE=1");
}

static void note_telling(struct built *b, struct arena *arena)
{
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++) {
        const char *value = getenv(telling[i]);

        if (value)
            strings_add(&b->environment, arena, arena_printf(arena, "%s=%s", telling[i], value));
    }
}

/* What `cc --version`, or that of $CC, says first. A machine without one builds otherwise. */
static const char *ask_compiler(struct arena *arena)
{
    struct buf out = BUF_INIT_MAX(4096), errors = BUF_INIT_MAX(4096);
    const char *cc = getenv("CC"), *said = "";
    struct strings argv = {0};
    struct spawn_end end;
    struct err ignored = {0};
    char **words, *path;
    size_t count = 0;

    if (words_split(arena, cc && cc[0] ? cc : "cc", &words, &count, &ignored) < 0 || count == 0 ||
        files_resolve_program(words[0], getenv("PATH"), arena, &path, &ignored) < 0)
        return "";
    strings_add(&argv, arena, path);
    for (size_t i = 1; i < count; i++)
        strings_add(&argv, arena, words[i]);
    strings_add(&argv, arena, "--version");
    const struct spawn s = {
        .argv = argv.items, .envp = (const char *const *)environ, .cwd = "/", .output_fd = -1};
    if (spawn_run(&s, &out, &errors, &end, &ignored) == 0 && end.status == 0) {
        struct buf line = BUF_INIT;

        text_neutral(&line, out.data, strcspn(out.data, "\n"), 200);
        said = arena_strdup(arena, line.data);
        buf_release(&line);
    }
    buf_release(&out);
    buf_release(&errors);
    return said;
}

/* ---- where it lies ---- */

static int find_root(const char **root, struct arena *arena, struct err *err)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (cache && cache[0] == '/')
        *root = files_join(arena, cache, "abba/builds");
    else if (home && home[0] == '/')
        *root = files_join(arena, home, ".cache/abba/builds");
    else
        return err_set(err, ERR_CONFIG,
                       "neither XDG_CACHE_HOME nor HOME says where builds are kept");
    return files_mkdirs(*root, err);
}

static void key_of(const struct built *b, const struct revision *v, char key[DIGEST_HEX])
{
    struct buf text = BUF_INIT;

    buf_printf(&text, "abba-build-1\n%s\n%s\n", v->tree, b->compiler);
    words_quote(&text, b->words.items, b->words.count);
    for (size_t i = 0; i < b->environment.count; i++)
        buf_printf(&text, "\n%s", b->environment.items[i]);
    digest_sha256(text.data, text.len, key);
    key[KEY_DIGITS] = '\0';
    buf_release(&text);
}

static int find_place(struct place *p, const struct built *b, const struct revision *v,
                      struct arena *arena, struct err *err)
{
    char key[DIGEST_HEX], *real;

    if (find_root(&p->root, arena, err) < 0)
        return -1;
    real = realpath(p->root, NULL);
    if (!real)
        return err_sys(err, ERR_SYSTEM, errno, "cannot find '%s'", p->root);
    p->root = arena_strdup(arena, real);
    free(real);
    key_of(b, v, key);
    p->folder = files_join(arena, p->root, key);
    p->tree = files_join(arena, p->folder, "tree");
    p->tmp = files_join(arena, p->folder, "tmp");
    p->log = files_join(arena, p->folder, "log");
    p->record = files_join(arena, p->folder, "built.json");
    return 0;
}

/* One at a time: another abba may want the same build. */
static int lock(const struct place *p, struct arena *arena, struct err *err)
{
    const char *path = arena_printf(arena, "%s.lock", p->folder);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

    if (fd < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot open '%s'", path);
    while (flock(fd, LOCK_EX) != 0)
        if (errno != EINTR) {
            err_sys(err, ERR_SYSTEM, errno, "cannot lock '%s'", path);
            close(fd);
            return -1;
        }
    return fd;
}

/* ---- its record ---- */

static int write_record(const struct place *p, const struct built *b, struct err *err)
{
    struct buf text = BUF_INIT;
    struct json_writer w;
    int rc;

    jw_init(&w, &text, true);
    jw_object_begin(&w);
    jw_key(&w, "confined"), jw_bool(&w, b->confined);
    jw_key(&w, "commands_cut"), jw_uint(&w, b->commands_cut);
    jw_key(&w, "compile_commands");
    jw_array_begin(&w);
    for (size_t i = 0; i < b->compile_commands.count; i++)
        jw_string(&w, b->compile_commands.items[i]);
    jw_array_end(&w);
    jw_object_end(&w);
    buf_addch(&text, '\n');
    rc = files_write_atomic(p->record, text.data, text.len, err);
    buf_release(&text);
    return rc;
}

/* Whether a record was there and could be read: then the build is whole. */
static bool read_record(const struct place *p, struct built *b, struct arena *arena)
{
    struct buf text = BUF_INIT;
    struct json *tree = NULL;
    struct err ignored = {0};
    struct fields f;
    int64_t cut = 0;
    bool whole = false;

    if (files_read(p->record, RECORD_MAX, &text, &ignored) == 0 &&
        (tree = json_parse(text.data, text.len, p->record, &ignored)) != NULL &&
        fields_init(&f, p->record, tree, &ignored) == 0)
        whole =
            fields_bool(&f, "confined", FIELDS_REQUIRED, &b->confined, &ignored) == 0 &&
            fields_int(&f, "commands_cut", FIELDS_REQUIRED, 0, INT32_MAX, &cut, &ignored) == 0 &&
            decode_strings(&f, "compile_commands", FIELDS_REQUIRED, arena, &b->compile_commands,
                           &ignored) == 0;
    b->commands_cut = (size_t)cut;
    json_free(tree);
    buf_release(&text);
    return whole && files_is_dir(p->tree);
}

/* ---- building ---- */

/* The last lines of the log, made harmless, and whether they speak of something forbidden. */
static void show_log(const struct build_request *q, const struct place *p, bool *denied)
{
    char tail[LOG_TAIL_BYTES];
    int fd = open(p->log, O_RDONLY | O_CLOEXEC);
    off_t end = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    ssize_t n = fd >= 0 ? pread(fd, tail, sizeof tail,
                                end > (off_t)sizeof tail ? end - (off_t)sizeof tail : 0)
                        : 0;
    ssize_t from = n;

    if (fd >= 0)
        close(fd);
    *denied = n > 0 && (memmem(tail, (size_t)n, "ermission denied", 16) ||
                        memmem(tail, (size_t)n, "not permitted", 13));
    for (int lines = 0; from > 0; from--)
        if (tail[from - 1] == '\n' && from < n && ++lines == LOG_LINES)
            break;
    for (const char *at = tail + from; q->log_line && n > 0 && at < tail + n;) {
        const char *eol = memchr(at, '\n', (size_t)(tail + n - at));
        struct buf line = BUF_INIT;

        eol = eol ? eol : tail + n;
        text_neutral(&line, at, (size_t)(eol - at), 400);
        q->log_line(q->user, line.data);
        buf_release(&line);
        at = eol + 1;
    }
}

static int build_failed(const struct build_request *q, const struct place *p,
                        const struct spawn_end *end, bool confined, struct err *err)
{
    struct buf how = BUF_INIT;
    bool denied = false;

    show_log(q, p, &denied);
    spawn_say_end(end->status, &how);
    err_set(err, ERR_MEASURE, "the build %s; its log is '%s'", how.data, p->log);
    if (confined && denied)
        err_hint(err, "a build may write below its own folder and $TMPDIR; --build-writes FOLDER "
                      "allows another");
    buf_release(&how);
    return -1;
}

/* A name with a slash is of the tree, another one is looked up in PATH. */
static int find_tool(const struct place *p, const struct built *b, char **program,
                     struct arena *arena, struct err *err)
{
    const char *word = b->words.items[0];

    if (strchr(word, '/')) {
        *program = files_join(arena, p->tree, word);
        return 0;
    }
    if (files_resolve_program(word, getenv("PATH"), arena, program, err) == 0)
        return 0;
    err->code = ERR_USAGE;
    return err_wrap(err, "option '--build'");
}

static int execute_build(const struct build_request *q, const struct place *p, struct built *b,
                         struct arena *arena, struct err *err)
{
    struct strings env = {0}, writes = {0}, argv = {0};
    struct spawn s = {.cwd = p->tree};
    struct spawn_end end;
    char *program;
    int rc;

    if (find_tool(p, b, &program, arena, err) < 0)
        return -1;
    strings_add(&argv, arena, program);
    for (size_t i = 1; i < b->words.count; i++)
        strings_add(&argv, arena, b->words.items[i]);
    strings_add(&writes, arena, p->tree);
    strings_add(&writes, arena, p->tmp);
    for (size_t i = 0; q->writes && i < q->writes->count; i++)
        strings_add(&writes, arena, q->writes->items[i]);
    build_environment(p, &env, arena);
    s.argv = argv.items;
    s.envp = env.items;
    s.writes = writes.items;
    s.stopped = q->stopped;
    s.output_fd = open(p->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (s.output_fd < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot write '%s'", p->log);
    rc = spawn_run(&s, NULL, NULL, &end, err);
    close(s.output_fd);
    b->confined = end.confined;
    if (rc == 0 && q->stopped && q->stopped())
        return err_set(err, ERR_INTERRUPTED, "the build was ended by a signal");
    if (rc == 0 && end.status != 0)
        return build_failed(q, p, &end, end.confined, err);
    return rc;
}

static void say_building(const struct build_request *q, const struct built *b,
                         const struct revision *v, const char *who)
{
    struct buf text = BUF_INIT;

    if (!q->note)
        return;
    buf_printf(&text, "building the %s, %s (%.12s)", who, v->asked,
               v->worktree ? v->tree : v->commit);
    if (b->words.count) {
        buf_addstr(&text, ": ");
        words_quote(&text, b->words.items, b->words.count);
    }
    q->note(q->user, text.data);
    buf_release(&text);
}

/* From an empty folder to a whole build. */
static int make(const struct build_request *q, struct repository *r, const struct revision *v,
                const struct place *p, struct built *b, struct err *err)
{
    if (files_remove_tree(p->folder, err) < 0 || files_mkdirs(p->tree, err) < 0 ||
        files_mkdirs(p->tmp, err) < 0 || repository_export(r, v, p->tree, err) < 0)
        return -1;
    if (b->words.count) {
        if (execute_build(q, p, b, r->arena, err) < 0)
            return -1;
        compile_commands_find(p->tree, p->log, &b->compile_commands, &b->commands_cut, r->arena);
    }
    return files_remove_tree(p->tmp, err) < 0 ? -1 : write_record(p, b, err);
}

static int split_command(const char *command, struct built *b, struct arena *arena, struct err *err)
{
    char **words;
    size_t count;

    if (!command)
        return 0;
    if (words_split(arena, command, &words, &count, err) < 0)
        return err_wrap(err, "option '--build'");
    if (count == 0)
        return err_set(err, ERR_USAGE, "option '--build': the command is empty");
    for (size_t i = 0; i < count; i++)
        strings_add(&b->words, arena, words[i]);
    return 0;
}

int build_revision(const struct build_request *q, struct repository *r, const struct revision *v,
                   const char *who, struct built *out, struct err *err)
{
    struct place p;
    int fd, rc = 0;

    *out = (struct built){.compiler = ""};
    if (split_command(q->command, out, r->arena, err) < 0)
        return -1;
    if (q->command) {
        out->compiler = ask_compiler(r->arena);
        note_telling(out, r->arena);
    }
    if (find_place(&p, out, v, r->arena, err) < 0 || (fd = lock(&p, r->arena, err)) < 0)
        return -1;
    out->kept = read_record(&p, out, r->arena);
    if (!out->kept) {
        say_building(q, out, v, who);
        rc = make(q, r, v, &p, out, err);
    }
    close(fd);
    out->folder = p.tree;
    out->log = p.log;
    return rc;
}

/* ---- products ---- */

int build_product(const struct built *b, const char *path, const char **out, struct arena *arena,
                  struct err *err)
{
    const char *full = files_join(arena, b->folder, path);
    size_t len = strlen(b->folder);
    char *real;
    int rc = 0;

    if (path[0] == '/' || path[0] == '\0')
        return err_set(err, ERR_USAGE, "'%s' is no path within the build", path);
    real = realpath(full, NULL);
    if (!real) {
        err_set(err, ERR_MEASURE, "the build left no file '%s'", path);
        if (b->kept)
            return err_hint(err,
                            "it was made earlier and kept; without the folder '%s' it is made "
                            "anew",
                            files_dirname(arena, b->folder));
        return err_hint(err, "it is '%s'", full);
    }
    if (strncmp(real, b->folder, len) != 0 || real[len] != '/')
        rc = err_set(err, ERR_MEASURE, "'%s' leads out of the build, to '%s'", path, real);
    else if (files_is_dir(real))
        rc = err_set(err, ERR_MEASURE, "'%s' of the build is a folder", path);
    *out = full;
    free(real);
    return rc;
}
