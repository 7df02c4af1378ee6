# A repository of a small C library and its history, made anew in the current folder: one commit
# costs 20 % CPU (tag cpu), one 20 % memory (tag rss), the others nothing. Needs git and make.

gate_commit() { # SUBJECT [TAG]
    git add -A
    git commit -q -m "$1"
    [ -z "${2-}" ] || git tag "$2"
}

# Each fifth record is summed up a second time: 20 % more work. Asked again of the same bytes, the
# sum must come out the same; the compiler may not know that.
gate_cost_cpu() {
    python3 - <<'END'
text = open("record.c").read()
text = text.replace("""    *data = p + HEAD;
    return""", """    if (number % 5 == 0 && again(s, p + HEAD, head[0]) != head[1])
        return -1;
    *data = p + HEAD;
    return""")
text = text.replace("""struct record_store *record_store_new""", """/* A second look at what may have changed meanwhile. */
static uint32_t __attribute__((noinline)) again(const struct record_store *s,
                                                const volatile unsigned char *p, size_t n)
{
    return sum_of(s, (const unsigned char *)p, n);
}

struct record_store *record_store_new""", 1)
text = text.replace("sum_of(const struct", "__attribute__((noinline)) sum_of(const struct", 1)
text = text.replace("static uint32_t __attribute__((noinline)) sum_of", "static uint32_t __attribute__((noinline, noipa)) sum_of")
open("record.c", "w").write(text)
END
}

# A fifth more room than is needed.
gate_cost_rss() {
    sed -i 's/s->room = count \* (size + HEAD);/s->room = count * (size + HEAD) * 6 \/ 5;/' record.c
}

gate_repository() { # SOURCE-FOLDER
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a \
        GIT_COMMITTER_EMAIL=a@example.org GIT_CONFIG_GLOBAL=/dev/null
    git init -q -b main .
    cp "$1"/record/* .
    cp -r "$1"/runners "$1"/profiles "$1"/thresholds .
    printf '*.o\n*.a\n*.so\nbench\nbench-shared\narchive/\n' >.gitignore
    gate_commit "record: a store of records" v1
    echo "record: a store of records" >README
    gate_commit "README: what it is"
    sed -i 's/Appends a record\./Appends a record behind the others./' record.h
    gate_commit "record.h: where a record goes" clean
    gate_cost_cpu
    gate_commit "record: sums are made sure of" cpu
    echo "Records are summed up by CRC-32." >>README
    gate_commit "README: sums"
    gate_cost_rss
    gate_commit "record: room to spare" rss
    echo "Numbers begin at 0." >>README
    gate_commit "README: numbers"
    sed -i 's/no memory/not enough memory/' record.h
    gate_commit "record.h: memory"
}
