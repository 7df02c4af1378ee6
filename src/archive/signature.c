#include "archive/signature.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "archive/checksums.h"
#include "archive/folder.h"
#include "archive/names.h"
#include "base/buf.h"
#include "base/files.h"
#include "base/spawn.h"
#include "base/strings.h"
#include "base/text.h"

#define PROGRAM "ssh-keygen"
#define SIGNATURE_MAX ((size_t)64 << 10)
#define SAID_MAX ((size_t)64 << 10)

/* One call of ssh-keygen. */
struct call {
    struct arena arena;
    struct strings argv;
    struct buf out, said; /* standard output, standard error */
    int status;           /* as wait(2) has it */
};

static int call_begin(struct call *c, const char *what, struct err *err)
{
    char *program;

    *c = (struct call){.arena = ARENA_INIT};
    buf_init(&c->out, SIGNATURE_MAX);
    buf_init(&c->said, SAID_MAX);
    if (files_resolve_program(PROGRAM, getenv("PATH"), &c->arena, &program, err) < 0) {
        err_set(err, ERR_USAGE, "signatures need '" PROGRAM "', which is not installed");
        return err_hint(err, "Debian and Ubuntu have it in openssh-client");
    }
    strings_add(&c->argv, &c->arena, program);
    strings_add(&c->argv, &c->arena, "-Y");
    strings_add(&c->argv, &c->arena, what);
    return 0;
}

static void call_end(struct call *c)
{
    buf_release(&c->out);
    buf_release(&c->said);
    arena_release(&c->arena);
}

static void add(struct call *c, const char *option, const char *value)
{
    strings_add(&c->argv, &c->arena, option);
    strings_add(&c->argv, &c->arena, value);
}

/* This process' environment, but never a question on the terminal. */
static const char *const *environment(struct arena *arena)
{
    struct strings env = {0};

    for (char **e = environ; e && *e; e++)
        if (strncmp(*e, "SSH_ASKPASS", 11) != 0)
            strings_add(&env, arena, *e);
    strings_add(&env, arena, "SSH_ASKPASS=/bin/false");
    strings_add(&env, arena, "SSH_ASKPASS_REQUIRE=force");
    return env.items;
}

/* Bytes as a file that a child can open by number; -1 with the error. */
static int in_memory(const struct buf *bytes, struct err *err)
{
    int fd = memfd_create("abba-signed", 0);

    if (fd >= 0 && files_write_all(fd, bytes->data, bytes->len) == 0 && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    err_sys(err, ERR_SYSTEM, errno, "cannot hand text to " PROGRAM);
    if (fd >= 0)
        close(fd);
    return -1;
}

/* `input`: a file, from its start; -1: nothing. */
static int call_run(struct call *c, int input, struct err *err)
{
    struct spawn s = {.argv = c->argv.items,
                      .envp = environment(&c->arena),
                      .input_fd = input > 0 ? input : 0,
                      .output_fd = -1};
    struct spawn_end end = {0};

    if (input > 0 && lseek(input, 0, SEEK_SET) < 0)
        return err_sys(err, ERR_SYSTEM, errno, "cannot hand text to " PROGRAM);
    int rc = spawn_run(&s, &c->out, &c->said, &end, err);
    c->status = end.status;
    return rc;
}

static bool well(const struct call *c)
{
    return WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0;
}

/* The first line of what ssh-keygen said, harmless; lines of '@' only frame a warning. */
static const char *first_line(const struct call *c, struct arena *arena)
{
    const char *at = c->said.len ? c->said.data : "";
    struct buf plain = BUF_INIT;

    while (*at == '@' || *at == '\r' || *at == '\n')
        at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n');
    text_neutral(&plain, at, strcspn(at, "\r\n"), 300);
    const char *line = arena_strdup(arena, plain.len ? plain.data : "it said nothing");
    buf_release(&plain);
    return line;
}

/* ---- signing ---- */

static int sign(const char *key, int text, struct buf *signature, enum err_code code,
                struct err *err)
{
    struct call c;
    int rc = call_begin(&c, "sign", err);

    if (rc == 0) {
        add(&c, "-n", SIGNATURE_NAMESPACE);
        add(&c, "-f", key);
        rc = call_run(&c, text, err);
    }
    if (rc == 0 && (!well(&c) || c.out.len == 0)) {
        err_set(err, code, "the key '%s' cannot sign: %s", key, first_line(&c, &c.arena));
        rc = err_hint(err, "a private key that only its owner can read, without a passphrase or "
                           "with its passphrase known to an ssh-agent");
    }
    if (rc == 0)
        buf_add(signature, c.out.data, c.out.len);
    call_end(&c);
    return rc;
}

int signature_try(const char *key, struct err *err)
{
    struct buf text = BUF_INIT, signature = BUF_INIT;
    int rc = -1;

    if (!files_exists(key)) {
        err_set(err, ERR_USAGE, "no key '%s'", key);
    } else {
        buf_addstr(&text, "a try\n");
        int fd = in_memory(&text, err);
        if (fd >= 0) {
            rc = sign(key, fd, &signature, ERR_USAGE, err);
            close(fd);
        }
    }
    buf_release(&text);
    buf_release(&signature);
    return rc;
}

int signature_make(const char *folder, const char *key, struct err *err)
{
    struct buf signature = BUF_INIT;
    struct folder f;
    int rc = -1, list;

    if (folder_open(&f, folder, err) < 0)
        return -1;
    list = folder_file(&f, CHECKSUMS_NAME, NULL, err);
    if (list >= 0) {
        rc = sign(key, list, &signature, ERR_SYSTEM, err);
        close(list);
    }
    if (rc == 0)
        rc = folder_replace(&f, ARCHIVE_SIGNATURE, signature.data, signature.len, err);
    folder_release(&f);
    buf_release(&signature);
    return rc;
}

/* ---- checking ---- */

bool signature_is_there(const char *folder)
{
    struct folder f;
    struct err ignored = {0};
    bool there;

    if (folder_open(&f, folder, &ignored) < 0)
        return false;
    there = folder_has(&f, ARCHIVE_SIGNATURE);
    folder_release(&f);
    return there;
}

/* What is checked: the list, and its signature as a file in memory. */
struct signed_list {
    const char *folder;
    int list; /* the file */
    struct buf signature;
    int fd;
    char path[32]; /* of that one */
};

static int list_open(struct signed_list *l, const char *folder, struct err *err)
{
    struct folder f;
    int rc;

    *l = (struct signed_list){.folder = folder, .list = -1, .fd = -1};
    buf_init(&l->signature, 0);
    if (folder_open(&f, folder, err) < 0)
        return -1;
    l->list = folder_file(&f, CHECKSUMS_NAME, NULL, err);
    rc = l->list < 0 ? -1 : 0;
    if (rc == 0 && !folder_has(&f, ARCHIVE_SIGNATURE))
        rc = err_set(err, ERR_ARCHIVE, "'%s' is not signed: it has no " ARCHIVE_SIGNATURE, folder);
    if (rc == 0)
        rc = folder_read(&f, ARCHIVE_SIGNATURE, SIGNATURE_MAX, &l->signature, err);
    folder_release(&f);
    if (rc == 0 && (l->fd = in_memory(&l->signature, err)) < 0)
        rc = -1;
    snprintf(l->path, sizeof l->path, "/dev/fd/%d", l->fd);
    return rc;
}

static void list_close(struct signed_list *l)
{
    if (l->fd >= 0)
        close(l->fd);
    if (l->list >= 0)
        close(l->list);
    buf_release(&l->signature);
}

static int unfit(const struct signed_list *l, const struct call *c, const char *what,
                 struct err *err)
{
    struct arena arena = ARENA_INIT;

    err_set(err, ERR_ARCHIVE, "'%s/" ARCHIVE_SIGNATURE "' %s: %s", l->folder, what,
            first_line(c, &arena));
    arena_release(&arena);
    return -1;
}

/* Good "abba-archive" signature with ED25519 key SHA256:0123... */
static const char *fingerprint(const struct call *c, struct arena *arena)
{
    const char *at = c->out.len ? strstr(c->out.data, "SHA256:") : NULL;

    return at ? arena_strndup(arena, at, strcspn(at, " \r\n")) : "an unnamed key";
}

static int check_any(struct signed_list *l, const char **who, struct arena *arena, struct err *err)
{
    struct err none = {0};
    struct call c;
    int rc = 0;

    *who = NULL;
    if (call_begin(&c, "check-novalidate", &none) < 0) {
        call_end(&c);
        return 0;
    }
    add(&c, "-n", SIGNATURE_NAMESPACE);
    add(&c, "-s", l->path);
    rc = call_run(&c, l->list, err);
    if (rc == 0 && !well(&c))
        rc = unfit(l, &c, "does not sign " CHECKSUMS_NAME, err);
    if (rc == 0)
        *who = fingerprint(&c, arena);
    call_end(&c);
    return rc;
}

/* The names that the file has for the signature's key, one a line. */
static int find_names(struct signed_list *l, const char *signers, struct buf *names,
                      struct err *err)
{
    struct call c;
    int rc = call_begin(&c, "find-principals", err);

    if (rc == 0) {
        add(&c, "-f", signers);
        add(&c, "-s", l->path);
        rc = call_run(&c, -1, err);
    }
    if (rc == 0 && (!well(&c) || c.out.len == 0)) {
        unfit(l, &c, "is not by a signer that is allowed", err);
        rc = err_hint(err, "'%s' names those that are", signers);
    }
    if (rc == 0)
        buf_add(names, c.out.data, c.out.len);
    call_end(&c);
    return rc;
}

static int check_name(struct signed_list *l, const char *signers, const char *name, struct err *err)
{
    struct call c;
    int rc = call_begin(&c, "verify", err);

    if (rc == 0) {
        add(&c, "-n", SIGNATURE_NAMESPACE);
        add(&c, "-f", signers);
        add(&c, "-I", name);
        add(&c, "-s", l->path);
        rc = call_run(&c, l->list, err);
    }
    if (rc == 0 && !well(&c))
        rc = unfit(l, &c, "does not sign " CHECKSUMS_NAME, err);
    call_end(&c);
    return rc;
}

static int check_allowed(struct signed_list *l, const char *signers, const char **who,
                         struct arena *arena, struct err *err)
{
    struct buf names = BUF_INIT, plain = BUF_INIT;
    int rc = find_names(l, signers, &names, err);

    if (rc == 0) {
        const char *name = arena_strndup(arena, names.data, strcspn(names.data, "\r\n"));

        rc = check_name(l, signers, name, err);
        text_neutral(&plain, name, strlen(name), 200);
        *who = arena_strdup(arena, plain.data);
    }
    buf_release(&names);
    buf_release(&plain);
    return rc;
}

int signature_check(const char *folder, const char *signers, const char **who, struct arena *arena,
                    struct err *err)
{
    struct signed_list l;
    struct buf text = BUF_INIT;
    int rc = 0;

    if (signers && files_read(signers, (size_t)1 << 20, &text, err) < 0) {
        err->code = ERR_USAGE;
        rc = -1;
    }
    buf_release(&text);
    if (rc < 0)
        return -1;
    rc = list_open(&l, folder, err);
    if (rc == 0)
        rc = signers ? check_allowed(&l, signers, who, arena, err) : check_any(&l, who, arena, err);
    list_close(&l);
    return rc;
}
