#!/usr/bin/env bats
# Archives that anyone can check: verify, digests, signatures.

setup() {
    load common
    setup_folder
    command -v ssh-keygen >/dev/null || skip "no ssh-keygen (openssh-client)"
    mkdir -p home && export HOME=$PWD/home
    unset SSH_AUTH_SOCK
    ssh-keygen -q -t ed25519 -N '' -C test -f key
    echo "someone@example.org $(cat key.pub)" >allowed
}

signed() {
    compare -n 6 --archive a --sign key true true
    expect_status 0
}

@test "a signed archive names its signer" {
    signed
    abba verify a --signer allowed
    expect_status 0
    expect_out "signed by someone@example.org"
    # the same with ssh-keygen alone
    ssh-keygen -Y verify -f allowed -I someone@example.org -n abba-archive -s a/SHA256SUMS.sig \
        <a/SHA256SUMS
    (cd a && sha256sum --quiet -c SHA256SUMS)
}

@test "without --signer the signature must fit, and whose it is stays open" {
    signed
    abba verify a
    expect_status 0
    expect_out "SHA256:$(ssh-keygen -lf key.pub | sed 's/.*SHA256:\([^ ]*\).*/\1/')"
    expect_err "--signer"
    abba verify a --digest "$(sha256sum <a/SHA256SUMS | cut -d' ' -f1)"
    expect_status 0
    expect_no "rewritten"
}

@test "a consistent forgery is found by the signature and by the digest only" {
    local digest
    signed
    digest=$(sha256sum <a/SHA256SUMS | cut -d' ' -f1)
    ssh-keygen -q -t ed25519 -N '' -C forger -f other
    # the whole archive made again, with other samples, and signed by somebody else
    mv a was
    compare -n 6 --archive a --sign other true true
    abba verify a
    expect_status 0
    abba verify a --digest "$digest"
    expect_status 5
    expect_err "not $digest"
    abba verify a --signer allowed
    expect_status 5
    expect_err "not by a signer that is allowed"
    # the old signature does not fit either
    cp was/SHA256SUMS.sig a/
    abba verify a
    expect_status 5
    expect_err "does not sign SHA256SUMS"
    abba verify a --signer allowed
    expect_status 5
}

@test "any of several files of signers will do" {
    signed
    ssh-keygen -q -t ed25519 -N '' -f other
    echo "else@example.org $(cat other.pub)" >others
    abba verify a --signer others
    expect_status 5
    abba verify a --signer others --signer allowed
    expect_status 0
    expect_out "signed by someone@example.org"
}

@test "an unsigned archive does not pass for a signed one" {
    compare -n 6 --archive a true true
    abba verify a --signer allowed
    expect_status 5
    expect_err "is not signed"
}

@test "a signature that is damaged is found" {
    signed
    local n size
    size=$(stat -c %s a/SHA256SUMS.sig)
    cp a/SHA256SUMS.sig whole
    for n in 0 40 100 $((size / 2)) $((size - 40)); do
        cp whole a/SHA256SUMS.sig
        printf '!' | dd of=a/SHA256SUMS.sig bs=1 seek="$n" conv=notrunc status=none
        abba verify a
        expect_status 5
    done
    : >a/SHA256SUMS.sig
    abba verify a
    expect_status 5
    rm a/SHA256SUMS.sig
    ln -s ../whole a/SHA256SUMS.sig
    abba verify a
    expect_status 5
    expect_err "is a link"
}

@test "problems of keys are told before anything runs" {
    compare -n 6 --archive a --sign nothing true true
    expect_status 2
    expect_err "no key 'nothing'"
    chmod 644 key
    compare -n 6 --archive a --sign key true true
    expect_status 2
    expect_err "too open"
    chmod 600 key
    ssh-keygen -q -p -N secret -f key
    compare -n 6 --archive a --sign key true true
    expect_status 2
    expect_err "passphrase"
    echo nonsense >text
    chmod 600 text
    compare -n 6 --archive a --sign text true true
    expect_status 2
    expect_err "cannot sign"
    [ ! -e a ]
    compare -n 6 --sign key true true
    expect_status 2
    expect_err "no archive to sign"
}

@test "problems of the file of signers are told" {
    signed
    abba verify a --signer nothing
    expect_status 2
    expect_err "nothing"
    echo "not such a file" >bad
    abba verify a --signer bad
    expect_status 5
    expect_err "not by a signer that is allowed"
}

@test "a key that an agent has signs without its private file" {
    eval "$(ssh-agent -s)" >/dev/null
    ssh-add -q key
    mv key away
    compare -n 6 --archive a --sign key.pub true true
    kill "$SSH_AGENT_PID"
    expect_status 0
    abba verify a --signer allowed
    expect_status 0
}

@test "without ssh-keygen signing is refused and a signature is not judged" {
    signed
    mkdir bin
    PATH=$PWD/bin abba verify a
    expect_status 0
    expect_out "not checked"
    PATH=$PWD/bin abba verify a --signer allowed
    expect_status 2
    expect_err "openssh-client"
    PATH=$PWD/bin compare -n 6 --archive b --sign key /bin/true /bin/true
    expect_status 2
    expect_err "openssh-client"
}
