#!/bin/bash
# Proves which room of src/ includes which, that each library's header is included by one .c file
# alone, and that ARCHITECTURE.md, where there is one, names each file in the paragraph of its room: by
# its name, or as a part of another (NAME_part). Prints each breach as "file:line: what", and a summary; exit status 1 on a breach.
#
# usage: tests/layers.sh [FOLDER]     (default: src beside this script's folder)
set -u
src=${1:-src}
[ $# -gt 0 ] || cd "$(dirname "$0")/.." || exit 2
cd "$src" || exit 2

# shellcheck disable=SC2046
awk -v src="$src" '
BEGIN {
    # room: what it may include besides itself. A path with a slash is that header only.
    may["base"]    = ""
    may["model"]   = "base"
    may["plan"]    = "base model"
    may["net"]     = "base model"
    may["run"]     = "base model"
    may["measure"] = "base model"
    may["archive"] = "base model"
    may["series"]  = "base model plan net run measure archive"
    may["judge"]   = "base model archive/reader.h"
    may["report"]  = "base model"
    may["cli"]     = "base model plan net run measure archive series judge report"
    may["zygote"]  = "base/wire.h"
    may["preload"] = "base/heap_record.h"
    may["main"]    = "base cli"

    # Headers of the C library and the kernel; any other <header> is a library, which has one home.
    split("assert ctype errno fcntl fenv float getopt glob grp inttypes langinfo limits link elf " \
          "locale malloc math poll pthread pwd regex sched setjmp signal spawn stdalign stdarg " \
          "stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings syscall " \
          "sysexits termios time unistd utime wchar wctype fnmatch ftw dirent dlfcn execinfo " \
          "features endian byteswap mntent netdb paths search semaphore stdio_ext ucontext " \
          "cpuid immintrin x86intrin", names, " ")
    for (i in names) system_header[names[i] ".h"] = 1

    while ((getline line < "ARCHITECTURE.md") > 0) {
        mapped = 1
        if (line ~ /^\*\*[a-z]+\*\*/) { paragraph = substr(line, 3); sub(/\*\*.*/, "", paragraph) }
        if (line == "") paragraph = ""
        count = split(line, words, "`")
        for (i = 2; i <= count; i += 2) named[paragraph, words[i]] = 1
    }
}
# Whether the map has the file of a room, or what it is a part of.
function is_named(room, name) {
    while (!((room, name) in named))
        if (!sub(/_[^_]*$/, "", name)) return 0
    return 1
}
function breach(text) { print src "/" FILENAME ":" FNR ": " text; breaches++ }
function allowed(room, other, path, n, list, i) {
    n = split(may[room], list, " ")
    for (i = 1; i <= n; i++)
        if (list[i] == other || list[i] == path) return 1
    return 0
}
FNR == 1 {
    files++
    room = FILENAME
    if (sub(/\/.*/, "", room) == 0) room = "main"
    if (!(room in may)) breach("room \"" room "\" is not in the table")
    name = FILENAME; gsub(/^.*\/|\.[ch]$/, "", name)
    if (mapped && room != "main" && !is_named(room, name))
        breach("ARCHITECTURE.md does not name \"" name "\" in the paragraph of " room)
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    path = $0; sub(/^[^"]*"/, "", path); sub(/".*/, "", path)
    includes++
    other = path
    if (sub(/\/.*/, "", other) == 0) {
        breach("\"" path "\": write room/file.h, as seen from src")
        next
    }
    if (room == "main" && FILENAME != "main.c")
        breach("only main.c lies outside the rooms")
    if (other != room && !allowed(room, other, path))
        breach("\"" path "\": " room " may include " (may[room] == "" ? "nothing" : may[room]))
}
/^[ \t]*#[ \t]*include[ \t]*</ {
    path = $0; sub(/^[^<]*</, "", path); sub(/>.*/, "", path)
    if (path in system_header || path ~ /^(sys|linux|asm|arpa|net|netinet|bits|sanitizer)\//) next
    if (FILENAME !~ /\.c$/)
        breach("<" path ">: a library has its home in a .c file, not in a header")
    else if (path in home && home[path] != FILENAME)
        breach("<" path ">: its home is " src "/" home[path])
    else
        home[path] = FILENAME
}
END {
    libraries = 0
    for (path in home) libraries++
    printf "layers: %d files, %d includes, %d library headers, %d breaches\n",
        files, includes, libraries, breaches
    exit breaches != 0
}' $(find . -name '*.[ch]' | sed 's,^\./,,' | LC_ALL=C sort) </dev/null
