# A repository of a small C library and its history, made anew in the current folder: one commit
# costs 20 % CPU (tag cpu), one 20 % memory (tag rss), the others nothing. Needs git and make.

gate_commit() { # SUBJECT [TAG]
    git add -A
    git commit -q -m "$1"
    [ -z "${2-}" ] || git tag "$2"
}

# Two of seven records are summed up once more when they are read: 20 % of all work.
gate_cost_cpu() {
    python3 - <<'END'
text = open("record.c").read()
text = text.replace("""    *data = p + HEAD;
    return""", """    if (number % 7 < 2 && record_sum(p + HEAD, head[0]) != head[1])
        return -1; /* it changed meanwhile */
    *data = p + HEAD;
    return""")
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
