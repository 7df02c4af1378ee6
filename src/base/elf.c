#include "base/elf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

#define UNITS_MAX 64            /* compilation units that are asked for their producer */
#define NOTE_PACKAGE 0xcafe1a7e /* systemd.io/ELF_PACKAGE_METADATA */
#define BUILD_ID_MAX 64
#define PART_MAX ((uint64_t)4 << 20)   /* bytes of a note, of .dynamic, of .comment */
#define DEBUG_MAX ((uint64_t)64 << 20) /* bytes of all debugging information: it is read whole */

/* A text of the file, made harmless, once. */
static void add_compiler(struct elf_facts *facts, const char *text, size_t len, struct arena *arena)
{
    struct buf plain = BUF_INIT;

    if (len == 0 || facts->compilers.count == ELF_MAX_COMPILERS)
        return;
    text_neutral(&plain, text, len, 1000);
    if (!strings_has(&facts->compilers, plain.data))
        strings_add(&facts->compilers, arena, arena_strdup(arena, plain.data));
    buf_release(&plain);
}

/* ---- notes ---- */

static const char *hex(const unsigned char *bytes, size_t len, struct arena *arena)
{
    char *out = arena_alloc(arena, 2 * len + 1);

    for (size_t i = 0; i < len; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return out;
}

static const char *member(const struct json *tree, const char *key)
{
    const struct json *value = json_get(tree, key);

    return value && json_kind(value) == JSON_STRING ? json_string(value) : "";
}

/* {"type":"deb","name":"fsverity-utils","version":"1.3-1"} */
static const char *package(const char *text, size_t len, struct arena *arena)
{
    struct err ignored = {0};
    struct buf plain = BUF_INIT;
    const char *out = NULL;
    struct json *tree = json_parse(text, strnlen(text, len), "package", &ignored);

    if (!tree)
        return NULL;
    if (member(tree, "name")[0]) {
        buf_printf(&plain, "%s %s %s", member(tree, "type"), member(tree, "name"),
                   member(tree, "version"));
        out = arena_strdup(arena, plain.data);
    }
    buf_release(&plain);
    json_free(tree);
    return out;
}

static void take_note(const GElf_Nhdr *n, const char *name, const char *text,
                      struct elf_facts *facts, struct arena *arena)
{
    if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(name, "GNU", 4) == 0 &&
        n->n_descsz > 0 && n->n_descsz <= BUILD_ID_MAX && !facts->build_id)
        facts->build_id = hex((const unsigned char *)text, n->n_descsz, arena);
    else if (n->n_type == NOTE_PACKAGE && n->n_namesz == 4 && memcmp(name, "FDO", 4) == 0 &&
             !facts->package)
        facts->package = package(text, n->n_descsz, arena);
}

static void read_notes(Elf *elf, struct elf_facts *facts, struct arena *arena)
{
    size_t count = 0;

    if (elf_getphdrnum(elf, &count) != 0)
        return;
    for (size_t i = 0; i < count && i < 1000; i++) {
        GElf_Phdr ph;
        Elf_Data *data;
        GElf_Nhdr note;
        size_t at = 0, name_at, text_at;

        if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_NOTE || ph.p_filesz > PART_MAX)
            continue;
        data = elf_getdata_rawchunk(elf, (int64_t)ph.p_offset, ph.p_filesz,
                                    ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
        while (data && (at = gelf_getnote(data, at, &note, &name_at, &text_at)) > 0)
            take_note(&note, (const char *)data->d_buf + name_at,
                      (const char *)data->d_buf + text_at, facts, arena);
    }
}

/* ---- sections ---- */

/* $ORIGIN, or a folder that is not absolute: an empty one is the working folder. */
static bool is_relative(const char *path)
{
    while (true) {
        if (*path != '/')
            return true;
        path = strchr(path, ':');
        if (!path)
            return false;
        path++;
    }
}

static void take_dynamic(Elf *elf, size_t strings, const GElf_Dyn *dyn, struct elf_facts *facts,
                         struct arena *arena)
{
    const char *text = NULL;
    struct buf plain = BUF_INIT;

    if (dyn->d_tag == DT_SONAME || dyn->d_tag == DT_RPATH || dyn->d_tag == DT_RUNPATH ||
        dyn->d_tag == DT_NEEDED)
        text = elf_strptr(elf, strings, dyn->d_un.d_val);
    if (!text)
        return;
    if (dyn->d_tag == DT_SONAME && !facts->soname) {
        text_neutral(&plain, text, strlen(text), 300);
        facts->soname = arena_strdup(arena, plain.data);
        buf_release(&plain);
    } else if (dyn->d_tag == DT_NEEDED) {
        facts->depends_on_place |= strchr(text, '/') != NULL && is_relative(text);
    } else if (dyn->d_tag != DT_SONAME) {
        facts->depends_on_place |= strchr(text, '$') != NULL || is_relative(text);
    }
}

static void read_dynamic(Elf *elf, Elf_Scn *section, const GElf_Shdr *sh, struct elf_facts *facts,
                         struct arena *arena)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Dyn dyn;

    for (int i = 0; data && i < 100000 && gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++)
        take_dynamic(elf, sh->sh_link, &dyn, facts, arena);
}

static void read_comment(Elf_Scn *section, struct elf_facts *facts, struct arena *arena)
{
    Elf_Data *data = elf_getdata(section, NULL);
    const char *text = data ? data->d_buf : NULL;
    size_t len;

    for (size_t at = 0; text && at < data->d_size; at += len + 1) {
        len = strnlen(text + at, data->d_size - at);
        add_compiler(facts, text + at, len, arena);
    }
}

/* `debug_bytes` gets the size of all debugging information. */
static void read_sections(Elf *elf, bool comments, uint64_t *debug_bytes, struct elf_facts *facts,
                          struct arena *arena)
{
    Elf_Scn *section = NULL;
    size_t names = 0;
    GElf_Shdr sh;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        const char *name;

        if (!gelf_getshdr(section, &sh))
            continue;
        name = elf_strptr(elf, names, sh.sh_name);
        if (name && sh.sh_type != SHT_NOBITS &&
            (strncmp(name, ".debug_", 7) == 0 || strncmp(name, ".zdebug_", 8) == 0))
            *debug_bytes += sh.sh_size;
        if (sh.sh_size > PART_MAX)
            continue;
        if (sh.sh_type == SHT_DYNAMIC && !comments)
            read_dynamic(elf, section, &sh, facts, arena);
        else if (name && strcmp(name, ".comment") == 0 && comments)
            read_comment(section, facts, arena);
    }
}

/* ---- debugging information ---- */

static void read_producers(Elf *elf, struct elf_facts *facts, struct arena *arena)
{
    Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;

    if (!dwarf)
        return;
    for (int i = 0; i < UNITS_MAX; i++) {
        Dwarf_Attribute attribute;
        const char *text;

        if (dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) != 0)
            break;
        text = dwarf_formstring(dwarf_attr(&die, DW_AT_producer, &attribute));
        if (text)
            add_compiler(facts, text, strlen(text), arena);
    }
    dwarf_end(dwarf);
}

static bool dynamic_needs(Elf *elf, Elf_Scn *section, size_t strings, const char *const names[])
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Dyn dyn;

    for (int i = 0; data && i < 100000 && gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
        const char *text = dyn.d_tag == DT_NEEDED ? elf_strptr(elf, strings, dyn.d_un.d_val) : NULL;

        for (size_t k = 0; text && names[k]; k++)
            if (strncmp(text, names[k], strlen(names[k])) == 0)
                return true;
    }
    return false;
}

bool elf_needs(int fd, const char *const names[])
{
    Elf_Scn *section = NULL;
    bool needs = false;
    GElf_Shdr sh;
    Elf *elf;

    if (elf_version(EV_CURRENT) == EV_NONE || !(elf = elf_begin(fd, ELF_C_READ, NULL)))
        return false;
    while (!needs && (section = elf_nextscn(elf, section)) != NULL)
        needs = gelf_getshdr(section, &sh) && sh.sh_type == SHT_DYNAMIC && sh.sh_size <= PART_MAX &&
                dynamic_needs(elf, section, sh.sh_link, names);
    elf_end(elf);
    return needs;
}

void elf_look(int fd, struct elf_facts *facts, struct arena *arena)
{
    uint64_t debug_bytes = 0;
    Elf *elf;

    *facts = (struct elf_facts){0};
    if (elf_version(EV_CURRENT) == EV_NONE || !(elf = elf_begin(fd, ELF_C_READ, NULL)))
        return;
    if (elf_kind(elf) == ELF_K_ELF) {
        facts->is_elf = true;
        read_notes(elf, facts, arena);
        read_sections(elf, false, &debug_bytes, facts, arena);
        if (debug_bytes > 0 && debug_bytes <= DEBUG_MAX)
            read_producers(elf, facts, arena);
        if (facts->compilers.count == 0)
            read_sections(elf, true, &debug_bytes, facts, arena);
    }
    elf_end(elf);
}
