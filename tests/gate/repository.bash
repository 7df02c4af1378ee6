# Repositories with a history, made anew in the current folder: one commit costs 20 % CPU (tag cpu),
# one 20 % memory (tag rss), the others nothing. Needs git and make. gate_repository is a small C
# library and runs of its own that take a fifth of a second; gate_flow_repository is the flow runner's
# protocol, a library and its program, for the quick profiles that come with abba.

gate_author() {
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a \
        GIT_COMMITTER_EMAIL=a@example.org GIT_CONFIG_GLOBAL=/dev/null
}

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
    gate_author
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

# A text of a file that must be there once becomes another.
gate_change() { # FILE OLD NEW
    python3 -c 'import sys
name, old, new = sys.argv[1:]
text = open(name).read()
assert text.count(old) == 1, f"{name}: {text.count(old)} times: {old}"
open(name, "w").write(text.replace(old, new))' "$@"
}

# Sums of datagrams, which both roles make, are taken a byte at a time in most of each, which
# is a fifth of all work at 50 Mbit/s on an idle machine, and more where caches are cold.
gate_flow_cost_cpu() {
    gate_change flow/checksum.c "for (; len >= 8; len -= 8" "for (; len >= 1200; len -= 8"
}

# The sender's streams keep more room than their window needs: a fifth of both roles' memory.
gate_flow_cost_rss() {
    gate_change flow/out_stream.c "bytes = s->stride * slots;" "bytes = s->stride * slots * 8 / 5;"
}

gate_flow_repository() { # SOURCE-TREE
    gate_author
    git init -q -b main .
    mkdir flow common
    cp "$1"/runners/flow/*.[ch] flow/
    cp "$1"/runners/common/*.[ch] common/
    cp "$1"/tests/gate/flow.mk Makefile
    printf 'build/\narchive/\n' >.gitignore
    gate_commit "flow: messages over UDP" v1
    echo "flow: messages over UDP" >README
    gate_commit "README: what it is"
    gate_change flow/checksum.c "bits reversed */" "bits reversed: RFC 9260, appendix A */"
    gate_commit "checksum: where the polynomial is from" clean
    gate_flow_cost_cpu
    gate_commit "checksum: words where it pays" cpu
    echo "Datagrams carry a CRC-32C." >>README
    gate_commit "README: sums"
    gate_flow_cost_rss
    gate_commit "out_stream: room to spare" rss
    echo "Streams are numbered from 0." >>README
    gate_commit "README: numbers"
    gate_change flow/out_stream.h "until it was acknowledged" "until it has been acknowledged"
    gate_commit "out_stream.h: a tense"
}
