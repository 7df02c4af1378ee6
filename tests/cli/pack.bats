#!/usr/bin/env bats
# Packs: one file of an archive, the way back, and what is refused on it.

setup() {
    load common
    setup_folder
    command -v zstd >/dev/null || skip "no zstd"
    sample=$ABBA_SOURCE/archive/sample/flow-quick
    cp -r "$sample" kept
}

# Makes bad.tar.zst of kept's files with a change in Python, on `items`: a list of [TarInfo, bytes].
craft() { # PYTHON
    "$ABBA" pack -q kept -o good.tar.zst
    zstd -qdc good.tar.zst >good.tar
    python3 - "$1" <<'END'
import io, sys, tarfile, copy
tar = tarfile.open("good.tar")
items = [[m, tar.extractfile(m).read()] for m in tar]
top = items[0][0].name.split("/")[0]
def new(name, data=b"", type=tarfile.REGTYPE, link=""):
    m = tarfile.TarInfo(name)
    m.type, m.linkname, m.size = type, link, len(data)
    return [m, data]
format = tarfile.USTAR_FORMAT
exec(sys.argv[1])
out = tarfile.open("bad.tar", "w", format=format)
for m, data in items:
    m.pax_headers = {}
    out.addfile(m, io.BytesIO(data))
out.close()
END
    zstd -qf bad.tar -o bad.tar.zst
    rm -f good.tar.zst good.tar bad.tar
}

# Nothing but the pack and what was there before is in the folder.
nothing_left() {
    [ -z "$(find . -name '*unpack*')" ] || fail "left: $(find . -name '*unpack*')"
    [ ! -e bad ] || fail "'bad' is there"
    [ -z "$(ls -A tmp)" ] || fail "left in tmp: $(ls tmp)"
}

refused() { # WORDS
    abba unpack bad.tar.zst
    expect_status 5
    expect_err "$1"
    nothing_left
}

@test "what was packed is unpacked to the same bytes, and is whole" {
    abba pack kept
    expect_status 0
    name=$(printf '%s' "$output" | sed -n 's/^pack *//p')
    [ "$(zstd -qdc kept.tar.zst | sha256sum | cut -c1-64)" = "$name" ]
    mv kept before
    abba unpack kept.tar.zst
    expect_status 0
    expect_out "$name"
    diff -r before kept
    abba verify kept
    expect_status 0
}

@test "the tar is the same bytes whatever times, modes, owners, order and place the files have" {
    abba pack -q kept -o one.tar.zst --level 1
    mkdir -p elsewhere
    python3 - "$sample" <<'END'
import os, shutil, sys
os.makedirs("elsewhere/other/raw")
for folder in ("raw", ""):
    for f in sorted(os.listdir(os.path.join(sys.argv[1], folder)), reverse=True):
        p = os.path.join(sys.argv[1], folder, f)
        if os.path.isfile(p):
            to = os.path.join("elsewhere/other", folder, f)
            shutil.copyfile(p, to)
            os.chmod(to, 0o600)
            os.utime(to, (1, 1))
END
    umask 077
    (cd elsewhere && TZ=Asia/Tokyo LC_ALL=C.UTF-8 "$ABBA" pack -q other/ -o - --level 9) >two.tar.zst
    zstd -qdc one.tar.zst >one.tar
    zstd -qdc two.tar.zst >two.tar
    cmp one.tar two.tar
    python3 - <<'END'
import tarfile
tar = tarfile.open("one.tar")
members = list(tar)
assert members[0].name.endswith("/SHA256SUMS")
names = [m.name.split("/", 1)[1] for m in members[1:]]
assert names == sorted(names)
for m in members:
    assert (m.mode, m.uid, m.gid, m.uname, m.gname, m.mtime) == (0o644, 0, 0, "", "", 315532800)
    assert m.isreg() and not m.pax_headers and not m.get_info()["linkname"]
END
}

@test "any tar that knows zstd unpacks it to a folder named after the archive" {
    abba pack -q kept
    digest=$(sha256sum <kept/SHA256SUMS)
    tar --zstd -xf kept.tar.zst
    (cd "abba-${digest:0:16}" && sha256sum -c --quiet SHA256SUMS)
}

@test "a pack goes through pipes, and a digest names archive or pack" {
    "$ABBA" pack kept -o - 2>stderr.txt | "$ABBA" unpack -q - again --digest "$(sha256sum <kept/SHA256SUMS | cut -c1-64)"
    diff -r kept again
    "$ABBA" pack -q kept
    "$ABBA" unpack -q kept.tar.zst third --digest "sha256:$(zstd -qdc kept.tar.zst | sha256sum | cut -c1-64)"
    mv kept.tar.zst bad.tar.zst
    abba unpack bad.tar.zst --digest "$(printf '0%.0s' $(seq 64))"
    expect_status 5
    expect_err "the digest of 'bad.tar.zst' is"
    nothing_left
    abba unpack bad.tar.zst --digest 12
    expect_status 2
}

@test "nothing is written over, and a folder must be known" {
    touch kept.tar.zst
    abba pack kept
    expect_status 2
    expect_err "exists already"
    rm kept.tar.zst
    abba pack -q kept
    abba unpack kept.tar.zst
    expect_status 2
    expect_err "'kept' exists already"
    mv kept.tar.zst kept.pack
    abba unpack kept.pack
    expect_status 2
    expect_err "no folder is given"
}

@test "only a whole archive is packed" {
    cp -r kept other
    rm other/SHA256SUMS
    abba pack other
    expect_status 3
    expect_err "unfinished"
    cp -r kept third
    printf x >>third/raw/000001-sender.stdout
    abba pack third
    expect_status 5
    expect_err "000001-sender.stdout' is not the file that SHA256SUMS lists"
    [ ! -e third.tar.zst ]
    cp -r kept fourth
    touch fourth/raw/more
    abba pack fourth
    expect_status 5
    expect_err "SHA256SUMS lists others"
    rm fourth/raw/more kept/raw/000001-sender.stdout
    abba pack kept
    expect_status 5
    ln -s /etc/passwd kept/raw/000001-sender.stdout
    abba pack kept
    expect_status 5
    mkdir empty
    abba pack empty
    expect_status 5
    expect_err "is not an archive"
    abba pack nowhere
    expect_status 5
    [ -z "$(find . -name '*.new-*' -o -name '*.tar.zst')" ]
}

@test "absolute paths, .., links, devices and folders are refused" {
    craft 'items.insert(1, new("/etc/evil", b"x"))'
    refused "has an absolute path"
    craft 'items.insert(1, new(top + "/../../evil", b"x"))'
    refused "leads out of its folder"
    craft 'items.insert(1, new(top + "/./x", b"x"))'
    refused "leads out of its folder"
    craft 'items.insert(1, new(top + "/raw", type=tarfile.SYMTYPE, link="/tmp"))'
    refused "is a link"
    craft 'items.insert(1, new(top + "/raw/x", type=tarfile.LNKTYPE, link=top + "/SHA256SUMS"))'
    refused "is a link"
    for type in CHRTYPE BLKTYPE FIFOTYPE DIRTYPE; do
        craft "items.insert(1, new(top + '/raw/x', type=tarfile.$type))"
        refused "is not a regular file"
    done
}

@test "what is missing, too much, twice, in another order, changed or in another format is refused" {
    craft 'del items[5]'
    refused "should be"
    craft 'del items[-1]'
    refused "is missing"
    craft 'items.append(items[-1])'
    refused "is not listed"
    craft 'items.append(new(top + "/evil.sh", b"x"))'
    refused "is not listed"
    craft 'items[3], items[4] = items[4], items[3]'
    refused "should be"
    craft 'items[0], items[1] = items[1], items[0]'
    refused "does not come first"
    craft 'items[7][1] = b"X" + items[7][1][1:]'
    refused "is not the file that SHA256SUMS lists"
    craft 'items[0][1] = items[0][1].replace(b"a", b"b", 1)'
    refused "is not in the folder that its digest names"
    craft 'items = [new("other/" + m.name.split("/", 1)[1], d) for m, d in items]'
    refused "is not in the folder that its digest names"
    craft 'format = tarfile.PAX_FORMAT; items[2][0].name = top + "/raw/" + "x" * 150'
    refused "is not plain ustar"
    craft 'items = []'
    refused "no pack"
}

@test "a list that leads elsewhere is refused" {
    for path in ../evil /etc/evil raw/../../evil raw//x .hidden raw/.x 'a b' SHA256SUMS; do
        craft '
import hashlib
text = b"%s  '"$path"'\n" % (b"0" * 64)
folder = "abba-" + hashlib.sha256(text).hexdigest()[:16]
items = [new(folder + "/SHA256SUMS", text), new(folder + "/x", b"x")]'
        refused "a path that abba never makes"
    done
}

@test "a pack that is no archive inside is refused" {
    craft '
import hashlib
text = b"%s  x\n" % hashlib.sha256(b"x").hexdigest().encode()
folder = "abba-" + hashlib.sha256(text).hexdigest()[:16]
items = [new(folder + "/SHA256SUMS", text), new(folder + "/x", b"x")]'
    refused "'series.json' is missing"
}

@test "cut packs, packs that go on, and other files are refused" {
    "$ABBA" pack -q kept -o good.tar.zst
    zstd -qdc good.tar.zst >good.tar
    for n in 0 1 100 9999 $(($(stat -c %s good.tar.zst) - 1)); do
        head -c "$n" good.tar.zst >bad.tar.zst
        refused "'bad.tar.zst'"
    done
    head -c -5120 good.tar | zstd -q >bad.tar.zst
    refused "is cut off"
    { cat good.tar; printf x; } | zstd -q >bad.tar.zst
    refused "goes on behind its end"
    { cat good.tar; head -c 10240 /dev/zero; } | zstd -q >bad.tar.zst
    refused "goes on behind its end"
    { cat good.tar.zst; echo more; } >bad.tar.zst
    refused "'bad.tar.zst'"
    head -c 100000 /dev/urandom >bad.tar.zst
    refused "'bad.tar.zst'"
    gzip -c good.tar >bad.tar.zst
    refused "'bad.tar.zst'"
    mkdir dir.tar.zst
    abba unpack dir.tar.zst
    expect_status 5
    expect_err "is a folder"
    abba unpack nowhere.tar.zst
    expect_status 5
}

@test "bombs are refused: by size, by ratio, by the size of the list" {
    abba pack -q kept -o bad.tar.zst
    abba unpack bad.tar.zst --max-size 100kB
    expect_status 5
    expect_err "holds more than the 100000 bytes that are allowed"
    nothing_left
    abba unpack bad.tar.zst --max-size 100
    expect_status 2
    python3 - <<'END' | zstd -q >bad.tar.zst
import hashlib, sys, tarfile
size = 400 << 20
h = hashlib.sha256()
zeros = bytes(1 << 20)
for i in range(400):
    h.update(zeros)
text = b"%s  raw/000001-a.stdout\n" % h.hexdigest().encode()
folder = "abba-" + hashlib.sha256(text).hexdigest()[:16]
out = sys.stdout.buffer
def put(name, size):
    m = tarfile.TarInfo(folder + "/" + name)
    m.size = size
    out.write(m.tobuf(tarfile.USTAR_FORMAT))
put("SHA256SUMS", len(text))
out.write(text + bytes(512 - len(text)))
put("raw/000001-a.stdout", size)
for i in range(400):
    out.write(zeros)
out.write(bytes(10240))
END
    refused "grows more than 1000 times"
    craft 'items[0] = new(top + "/SHA256SUMS", bytes(257 * 1000 * 1000))'
    refused "is too large"
}

@test "a full disk leaves nothing, and says so" {
    abba pack -q kept -o bad.tar.zst
    status=0
    (ulimit -f 8; "$ABBA" unpack bad.tar.zst) 2>stderr.txt || status=$?
    expect_status 3
    grep -q "File too large" stderr.txt
    nothing_left
    status=0
    (ulimit -f 8; "$ABBA" pack kept) 2>stderr.txt || status=$?
    expect_status 3
    grep -q "cannot write" stderr.txt
    [ -z "$(find . -name 'kept.tar.zst*')" ]
}

unpacking() {
    compgen -G 'bad.unpack-*' >/dev/null
}

@test "a signal while it unpacks leaves nothing and is raised again" {
    abba pack -q kept -o bad.tar.zst
    mkfifo slow
    "$ABBA" unpack slow bad 2>stderr.txt &
    pid=$!
    exec 9>slow
    head -c 60000 bad.tar.zst >&9
    wait_for unpacking
    kill -TERM "$pid"
    tail -c +60001 bad.tar.zst >&9 || true
    exec 9>&-
    status=0
    wait "$pid" || status=$?
    expect_status 143
    nothing_left
}
