/*
 * elf: what an executable file or a library says of itself: build id, name, compiler.
 *
 * By elfutils' libelf and libdw. A file that is no ELF, or a damaged one, says nothing; that is no
 * error. Only the beginning of debugging information is read, never that of another file.
 */
#ifndef ABBA_BASE_ELF_H
#define ABBA_BASE_ELF_H

#include <stdbool.h>

#include "base/mem.h"
#include "base/strings.h"

#define ELF_MAX_COMPILERS 8 /* different ones that are kept */

struct elf_facts {
    bool is_elf;
    const char *build_id; /* GNU build id, lower-case hex; NULL: none */
    const char *soname;   /* DT_SONAME; NULL: none */
    const char *package;  /* "deb zlib1g 1:1.3" of .note.package; NULL: none */
    /* DW_AT_producer of compilation units ("GNU C17 12.2.0 -mtune=generic -O2"); without debugging
     * information the texts of .comment ("GCC: (Debian 12.2.0-14) 12.2.0"). */
    struct strings compilers;
    /* Its libraries are looked for beside itself ($ORIGIN) or from where it is started: what it
     * loads depends on where the file lies. */
    bool depends_on_place;
};

/* Looks into an open file, from its beginning. Texts belong to the arena. */
void elf_look(int fd, struct elf_facts *facts, struct arena *arena);

/* Whether it is linked with a library whose name begins with one of `names` (NULL at the end). */
bool elf_needs(int fd, const char *const names[]);

#endif
