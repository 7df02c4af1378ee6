#include "plan/program.h"

#include "base/elf.h"
#include "base/files.h"
#include "base/mem.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define HEAD_BYTES 256 /* BINPRM_BUF_SIZE of linux/binfmts.h: what the kernel looks at */

/* Whether formats beside ELF and scripts are registered (Documentation/admin-guide/binfmt-misc). */
static bool has_other_formats(void)
{
    DIR *dir = opendir("/proc/sys/fs/binfmt_misc");
    struct dirent *entry;
    bool found = false;

    if (!dir)
        return false;
    while ((entry = readdir(dir)))
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "register") != 0 &&
            strcmp(entry->d_name, "status") != 0)
            found = true;
    closedir(dir);
    return found;
}

/* "#! /usr/bin/env python3": the interpreter's path, as the kernel cuts it out. */
static int check_script(const char *path, char *head, struct err *err)
{
    char *interpreter = head + 2 + strspn(head + 2, " \t");

    interpreter[strcspn(interpreter, " \t\n")] = '\0';
    if (interpreter[0] == '\0')
        return err_set(err, ERR_CONFIG, "script '%s' names no interpreter behind '#!'", path);
    if (!files_exists(interpreter)) {
        size_t len = strlen(interpreter);

        err_set(err, ERR_CONFIG, "script '%s' has a bad interpreter: '%.200s' does not exist", path,
                interpreter);
        if (len && interpreter[len - 1] == '\r')
            err_hint(err, "its lines end in CR LF");
        return -1;
    }
    if (access(interpreter, X_OK) != 0)
        return err_set(err, ERR_CONFIG, "script '%s' has a bad interpreter: '%s' is not executable",
                       path, interpreter);
    return 0;
}

/* The dynamic linker of a 64-bit ELF file of this machine's byte order; others pass. */
static int check_elf(const char *path, int fd, const char *head, size_t len, struct err *err)
{
    char linker[200];
    Elf64_Ehdr eh;
    Elf64_Phdr ph;

    if (len < sizeof(eh) || head[EI_CLASS] != ELFCLASS64)
        return 0;
    memcpy(&eh, head, sizeof(eh));
    for (int i = 0; i < eh.e_phnum && eh.e_phentsize == sizeof(ph); i++) {
        off_t at = (off_t)(eh.e_phoff + (size_t)i * sizeof(ph));

        if (pread(fd, &ph, sizeof(ph), at) != (ssize_t)sizeof(ph))
            return 0;
        if (ph.p_type != PT_INTERP || ph.p_filesz == 0 || ph.p_filesz >= sizeof(linker))
            continue;
        if (pread(fd, linker, ph.p_filesz, (off_t)ph.p_offset) != (ssize_t)ph.p_filesz)
            return 0;
        linker[ph.p_filesz] = '\0';
        if (files_exists(linker))
            return 0;
        return err_set(err, ERR_CONFIG,
                       "program '%s' needs the dynamic linker '%s', which does "
                       "not exist",
                       path, linker);
    }
    return 0;
}

int program_check(const char *path, struct arena *arena, struct err *err)
{
    char *head = arena_alloc(arena, HEAD_BYTES + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;
    int status = 0;

    if (fd < 0)
        return 0;
    n = pread(fd, head, HEAD_BYTES, 0);
    if (n >= 2 && memcmp(head, "#!", 2) == 0)
        status = check_script(path, head, err);
    else if (n >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
        status = check_elf(path, fd, head, (size_t)n, err);
    else if (n >= 0 && !has_other_formats()) {
        status = err_set(err, ERR_CONFIG, "'%s' is no program: neither ELF nor a script", path);
        err_hint(err, "a script begins with #! and its interpreter");
    }
    close(fd);
    return status;
}

bool program_depends_on_place(const char *path)
{
    struct arena arena = ARENA_INIT;
    struct elf_facts facts = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        elf_look(fd, &facts, &arena);
        close(fd);
    }
    arena_release(&arena);
    return !facts.is_elf || facts.depends_on_place;
}

static bool is_dynamic(int fd)
{
    Elf64_Ehdr eh;
    Elf64_Phdr ph;
    bool dynamic = false;

    if (pread(fd, &eh, sizeof(eh), 0) == (ssize_t)sizeof(eh) &&
        memcmp(eh.e_ident, ELFMAG, SELFMAG) == 0 && eh.e_ident[EI_CLASS] == ELFCLASS64)
        for (int i = 0; i < eh.e_phnum && eh.e_phentsize == sizeof(ph) && !dynamic; i++)
            dynamic = pread(fd, &ph, sizeof(ph), (off_t)(eh.e_phoff + (size_t)i * sizeof(ph))) ==
                          (ssize_t)sizeof(ph) &&
                      ph.p_type == PT_INTERP;
    return dynamic;
}

bool program_is_dynamic(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool dynamic = fd >= 0 && is_dynamic(fd);

    if (fd >= 0)
        close(fd);
    return dynamic;
}

/* ---- preloading ---- */

/* The dynamic linker preloads nothing where a program gets other rights than its caller has
 * (ld.so(8), secure-execution mode). */
static bool gets_rights(int fd)
{
    char caps[64];
    struct stat st;

    if (fstat(fd, &st) != 0)
        return false;
    return ((st.st_mode & S_ISUID) && st.st_uid != getuid()) ||
           ((st.st_mode & S_ISGID) && st.st_gid != getgid()) ||
           (getuid() != 0 && fgetxattr(fd, "security.capability", caps, sizeof(caps)) > 0);
}

static struct preload_obstacle obstacle_of(int fd)
{
    static const char *const sanitizers[] = {"libasan.so", "libtsan.so",   "libhwasan.so",
                                             "liblsan.so", "libclang_rt.", NULL};
    unsigned char ident[EI_NIDENT];

    if (pread(fd, ident, sizeof(ident), 0) != (ssize_t)sizeof(ident) ||
        memcmp(ident, ELFMAG, SELFMAG) != 0)
        return (struct preload_obstacle){0};
    if (ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return (struct preload_obstacle){"its words have another size than the library's", false};
    if (!is_dynamic(fd))
        return (struct preload_obstacle){"it is a static program: nothing can be preloaded", false};
    if (elf_needs(fd, sanitizers))
        return (struct preload_obstacle){
            "a sanitizer watches its heap, and has to be the first to do so", true};
    if (gets_rights(fd))
        return (struct preload_obstacle){
            "it gets other rights than its caller's: nothing is preloaded to such programs", false};
    return (struct preload_obstacle){0};
}

struct preload_obstacle program_preload_obstacle(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct preload_obstacle found = {0};

    if (fd >= 0) {
        found = obstacle_of(fd);
        close(fd);
    }
    return found;
}
