#!/bin/bash
# What a formatter and a compiler do not say: shell scripts through shellcheck, the layout through
# clang-format, and words that this code does not use. clang-tidy is `make tidy`.
# Prints each finding as "file:line: what"; exit status 1 if there is one.
set -u
cd "$(dirname "$0")/.." || exit 2
status=0

mapfile -t sources < <(find src tests runners -name '*.[ch]' 2>/dev/null | LC_ALL=C sort)
mapfile -t scripts < <({
    find tests runners .ci -name '*.sh' -o -name '*.bats' -o -name '*.bash'
    find tests runners .ci -type f -exec awk 'FNR == 1 && /^#!.*[\/ ](ba)?sh/ { print FILENAME } { exit }' {} \;
} 2>/dev/null | LC_ALL=C sort -u)

# One line a finding; `make format` mends them.
clang-format --dry-run -Werror "${sources[@]}" 2>&1 |
    sed -nE 's/:[0-9]+: error: code should be clang-formatted.*/: layout (make format)/p' | uniq
[ "${PIPESTATUS[0]}" = 0 ] || status=1
# SC1091: a helper that bats loads is checked by itself.
shellcheck -x -e SC1091 "${scripts[@]}" || status=1

# Code without its comments, strings and characters, line numbers kept.
bare() {
    awk '{
        line = $0; out = ""
        while (line != "") {
            if (inside) {
                if (!match(line, /\*\//)) { line = ""; break }
                line = substr(line, RSTART + 2); inside = 0
            } else if (match(line, /"([^"\\]|\\.)*"|'"'"'([^'"'"'\\]|\\.)*'"'"'|\/\*|\/\//)) {
                token = substr(line, RSTART, 2)
                out = out substr(line, 1, RSTART - 1)
                if (token == "//") { line = ""; break }
                if (token == "/*") inside = 1; else out = out "\"\""
                line = substr(line, RSTART + RLENGTH)
            } else { out = out line; line = "" }
        }
        print out
    }' "$1"
}

# finds FILE REGEX WHY
finds() {
    local hits
    hits=$(bare "$1" | grep -nE "(^|[^A-Za-z0-9_.>])($2)" | sed "s|^\([0-9]*\):.*|$1:\1: $3|")
    [ -z "$hits" ] || { printf '%s\n' "$hits" && status=1; }
}

for file in "${sources[@]}"; do
    case $file in
    tests/*) continue ;; # a test may need what the program must not
    esac
    finds "$file" '(strcpy|strcat|v?sprintf|strtok|gets|atoi|atol|atoll|atof|system|popen|alloca|strncpy|strncat|rand|srand) *\(' \
        'banned function'
    finds "$file" 'setlocale *\(' 'numbers are read and written in the C locale: no setlocale'
    case $file in
    src/main.c | src/zygote/* | src/preload/* | runners/*) ;;
    *) finds "$file" 'exit *\(' 'only main exits' ;;
    esac
    case $file in
    src/main.c | src/cli/* | src/zygote/* | src/preload/* | runners/*) ;;
    src/base/err.c | src/base/mem.c) ;; # the last words of an assertion, and of no memory
    *)
        finds "$file" '(v?printf|puts|putchar|perror) *\(' 'only cli prints'
        finds "$file" '(v?fprintf|fwrite|fputs|fputc|putc) *\(.*\bstd(out|err)\b' 'only cli prints'
        ;;
    esac
done
echo "lint: ${#sources[@]} sources, ${#scripts[@]} scripts, $([ $status = 0 ] && echo clean || echo findings)"
exit $status
