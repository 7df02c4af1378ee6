# push and pull: archives carried to real servers and back, and what happens on a bad way.

load common
load servers

setup() {
    setup_folder
    plain_environment
    compare -q -n 2 --archive a true true
    [ "$status" = 0 ]
}

teardown() {
    stop_servers
    [ ! -d tmp ] || nothing_left
}

# An archive whose pack has several MB that do not shrink: programs print random bytes.
make_large() { # RUNS
    rm -rf a
    compare -q -n "$1" --archive a 'head -c 2000000 /dev/urandom' 'head -c 2000000 /dev/urandom'
    [ "$status" = 0 ]
}

use_s3() { # ADDRESS
    export AWS_ENDPOINT_URL=$1 AWS_ACCESS_KEY_ID=abba AWS_SECRET_ACCESS_KEY=geheim AWS_REGION=eu-1
}

push() {
    abba push --retry-pause 10ms a "$@"
}

pull() {
    abba pull --retry-pause 10ms "$@"
}

# The address of the last push.
address() {
    sed -n 's/^\(sent\|there\)  *\([^ ]*\) .*/\2/p' <<<"$output"
}

same() { # FOLDER
    diff -r a "$1" >&2
}

asked() { # FILE METHOD
    grep -c "^$2 \|\"$2 " "$1" || true
}

# There and back again, and a second push that sends nothing.
there_and_back() { # URL PUSH-OPTIONS...
    local url=$1 at
    shift
    push "$@" "$url"
    expect_status 0
    expect_out 'sent   '
    expect_no geheim
    at=$(address)
    [[ "$at" =~ /[0-9a-f]{64}\.tar\.zst$ ]] || fail "no address"
    push "$@" "$url"
    expect_status 0
    expect_out "there  $at (nothing was sent)"
    pull "$at" back
    expect_status 0
    same back
    abba verify back
    expect_status 0
    rm -rf back
    AT=$at
}

@test "nginx with WebDAV over TLS: there and back, folders are made, nothing twice" {
    make_authority
    start_nginx server
    export CURL_CA_BUNDLE=$PWD/ca.pem
    there_and_back "$DAV/deep/er"
    [ "$(asked access.log MKCOL)" = 2 ] || fail "$(<access.log)"
    [ "$(asked access.log PUT)" = 1 ] || fail "$(<access.log)"
    there_and_back "$DAV/"
    pull "$AT"
    expect_status 0
    same abba-*
}

@test "nginx asks for a password: it comes from netrc and is in no message" {
    make_authority
    printf 'me:%s\n' "$(openssl passwd -apr1 geheim)" >passwords
    start_nginx server "auth_basic x; auth_basic_user_file $PWD/passwords;"
    push --ca-file ca.pem "$DAV/"
    expect_status 2
    expect_err 'answers 401 (credentials are missing or wrong)'
    expect_err 'netrc'
    echo 'machine 127.0.0.1 login me password geheim' >home/.netrc
    push --ca-file ca.pem "$DAV/"
    expect_status 0
    expect_no geheim
    sed 's/geheim/wrong/' home/.netrc >netrc
    NETRC=$PWD/netrc pull --ca-file ca.pem "$(address)" back
    expect_status 2
    expect_err 'answers 401'
}

@test "a server that is not trusted gets nothing" {
    make_authority
    make_certificate old -1
    start_nginx old
    push --ca-file ca.pem "$DAV/"
    expect_status 2
    expect_err 'certificate has expired'
    push "$DAV/"
    expect_status 2
    expect_err 'not trusted'
    [ ! -s access.log ]
}

@test "a folder of this machine: there and back, by rename" {
    there_and_back "file://$PWD/st%20ore/x"
    [ "$(find 'st ore/x' -mindepth 1 | wc -l)" = 1 ]
    push file://elsewhere/x
    expect_status 2
    expect_err 'three slashes'
}

@test "plain http warns, once" {
    start_faulty
    push "$FAULTY/x"
    expect_status 0
    [ "$(grep -c 'http is neither encrypted' <<<"$err")" = 1 ] || fail
}

@test "S3: there and back, signed as botocore computes it" {
    start_faulty --keys abba:geheim
    use_s3 "$FAULTY"
    there_and_back 's3://bucket/some%20folder/a+b'
    grep -q 'PUT /bucket/some%20folder/a%2Bb/[0-9a-f]*.tar.zst 200' faulty.log
    there_and_back 's3://bucket'
}

@test "S3: wrong keys, no keys, a session's token" {
    start_faulty --keys abba:another
    use_s3 "$FAULTY"
    push s3://bucket/x
    expect_status 2
    expect_err '403 (forbidden): SignatureDoesNotMatch: of a test'
    expect_err 'AWS_SECRET_ACCESS_KEY'
    expect_no geheim
    pull "s3://bucket/$(printf 'a%.0s' {1..64}).tar.zst"
    expect_status 2
    expect_no geheim
    unset AWS_SECRET_ACCESS_KEY
    push s3://bucket/x
    expect_status 2
    expect_err "there are no keys for 's3://bucket/x'"
    export AWS_SECRET_ACCESS_KEY=another AWS_SESSION_TOKEN=geheim2
    push s3://bucket/x
    expect_status 0
    expect_no geheim2
}

@test "S3: another region and a token that is over are refused by name, with what to check" {
    start_faulty --keys abba:geheim --region eu-2 --expired vorbei
    use_s3 "$FAULTY"
    push s3://bucket/x
    expect_status 2
    expect_err '400 (bad request): AuthorizationHeaderMalformed'
    expect_err 'AWS_REGION'
    AWS_REGION=eu-2 AWS_SESSION_TOKEN=vorbei push s3://bucket/x
    expect_status 2
    expect_err '400 (bad request): ExpiredToken'
    expect_err 'AWS_SESSION_TOKEN'
    expect_no vorbei
    AWS_REGION=eu-2 push s3://bucket/x
    expect_status 0
}

@test "S3: a large pack goes in parts; an interrupted push goes on where it was" {
    make_large 3
    start_faulty --keys abba:geheim --fault 'PUT 1 503' --fault 'PUT 1 cut'
    use_s3 "$FAULTY"
    there_and_back s3://bucket/x --part-size 5MiB
    [ "$(grep -c '^PUT .*partNumber=.* 200 ' faulty.log)" = 3 ] || fail "$(<faulty.log)"
    stop_servers
    # The third part fails for good; the next push sends that one alone.
    start_faulty --keys abba:geheim --fault 'PUT:partNumber=3 2 500'
    use_s3 "$FAULTY"
    push --tries 2 --part-size 5MiB s3://bucket/y
    expect_status 3
    expect_err 'the next push goes on there'
    push --part-size 5MiB s3://bucket/y
    expect_status 0
    expect_out 'sent   s3://bucket/y/'
    [ "$(grep -c '^PUT .* 200 ' faulty.log)" = 3 ] || fail "$(<faulty.log)"
    pull "$(address)" back
    expect_status 0
    same back
}

@test "a busy server and cut connections are met by further tries, a full one is not" {
    start_faulty --fault 'HEAD 1 500' --fault 'PUT 1 503/0' --fault 'PUT 1 cut'
    push "$FAULTY/x"
    expect_status 0
    [ "$(grep -c 'trying again in' <<<"$err")" = 3 ] || fail "three notes"
    stop_servers
    start_faulty --fault 'PUT 9 500'
    push --tries 3 "$FAULTY/x"
    expect_status 3
    expect_err 'answers 500 (internal error)'
    [ "$(grep -c '^PUT .* 500 ' faulty.log)" = 3 ] || fail "$(<faulty.log)"
    stop_servers
    start_faulty --fault 'PUT 9 507'
    push "$FAULTY/x"
    expect_status 3
    expect_err '507 (no space left there)'
    expect_no 'trying again'
}

@test "a server that takes a file and does not keep it is found out" {
    start_faulty --fault 'PUT 1 lose'
    push "$FAULTY/x"
    expect_status 3
    expect_err 'was sent, but it is not there as a whole'
}

@test "a slow server is left in time" {
    start_faulty --fault 'PUT 9 hang' --fault 'GET 9 hang'
    push --timeout 300ms "$FAULTY/x"
    expect_status 3
    expect_err 'imed out'
    pull --stall 1s --tries 1 "$FAULTY/x.tar.zst" back
    expect_status 3
    expect_err 'Operation too slow'
}

@test "a cut pull goes on, in the same call and in the next one" {
    make_large 1
    push "file://$PWD/store"
    name=$(basename "$(address)")
    start_faulty --store store --fault 'GET 2 cut'
    pull "$FAULTY/$name" back
    expect_status 0
    same back
    [ "$(cut -d' ' -f3 faulty.log | tr '\n' ' ')" = '200 206 206 ' ] || fail "$(<faulty.log)"
    stop_servers
    rm -rf back
    start_faulty --store store --fault 'GET 1 cut'
    pull --tries 1 "$FAULTY/$name" back
    expect_status 3
    expect_err "kept in './.abba-pull-"
    [ ! -e back ]
    pull "$FAULTY/$name" back
    expect_status 0
    same back
    [ -z "$(find . -name '.abba-pull-*')" ]
    [ "$(tail -n 1 faulty.log | cut -d' ' -f3)" = 206 ]
}

@test "a pack that is not the one that was asked for is refused, and nothing is kept of it" {
    push "file://$PWD/store"
    name=$(basename "$(address)")
    start_faulty --store store --fault 'GET 1 wrong'
    pull "$FAULTY/$name" back
    expect_status 5
    [ -z "$(find . -name '.abba-pull-*')" ] && [ ! -e back ]
    cp "store/$name" "store/other.tar.zst"
    stop_servers
    start_faulty --store store
    pull "$FAULTY/other.tar.zst#sha256=$(printf 'a%.0s' {1..64})" back
    expect_status 5
    [ ! -e back ]
    pull "$FAULTY/$name" back --digest "$(printf 'b%.0s' {1..64})"
    expect_status 5
    expect_err 'the digest is'
    [ ! -e back ]
    pull "$FAULTY/other.tar.zst" back
    expect_status 0
    expect_err 'cannot be seen'
    same back
}

# Runs the words with 1 MB of disk in small/, which is gone afterwards.
with_small_disk() {
    unshare -rm sh -c 'mount -t tmpfs -o size=1m none small && exec "$@"' sh "$@"
}

@test "a full disk is said, here and at the store, and the next pull goes on" {
    make_large 1
    push "file://$PWD/store"
    name=$(basename "$(address)")
    start_faulty --store store
    status=0
    output=$(ulimit -f 1000; "$ABBA" pull "$FAULTY/$name" back 2>stderr.txt) || status=$?
    err=$(<stderr.txt)
    expect_status 3
    expect_err 'cannot write the file here'
    pull "$FAULTY/$name" back
    expect_status 0
    same back
    [ "$(tail -n 1 faulty.log | cut -d' ' -f3)" = 206 ]
    mkdir small
    with_small_disk true 2>unshare.txt || skip "the rest: no user and mount namespaces here"
    for words in "pull $FAULTY/$name small/back" "push a file://$PWD/small"; do
        status=0
        # shellcheck disable=SC2086
        with_small_disk "$ABBA" $words >out.txt 2>stderr.txt || status=$?
        err=$(<stderr.txt)
        expect_status 3
        expect_err 'No space left on device'
    done
    status=0
    TMPDIR=$PWD/small with_small_disk "$ABBA" push a "$FAULTY/x" 2>stderr.txt || status=$?
    err=$(<stderr.txt)
    expect_status 3
    expect_err 'No space left on device'
    expect_err 'TMPDIR'
}

@test "a signal ends a push at once and leaves no draft" {
    start_faulty --fault 'PUT 9 hang'
    "$ABBA" push a "$FAULTY/x" 2>stderr.txt &
    pid=$!
    wait_for grep -q '^PUT .* hang' faulty.log
    kill -TERM $pid
    status=0
    wait $pid || status=$?
    [ "$status" = 143 ]
    nothing_left
}

@test "what cannot be carried is said in one message" {
    start_faulty
    local url
    for url in nonsense ftp://h/x https:// "https://me:geheim@h/x" "$FAULTY/x.tar.zst" s3:///x; do
        push "$url"
        expect_status 2
        expect_no geheim
    done
    push --part-size 1MiB "$FAULTY/x"
    expect_status 2
    expect_err "the least is 5MiB"
    for url in nonsense "$FAULTY" "$FAULTY/" "$FAULTY/x#sha256=1" "$FAULTY/none.tar.zst"; do
        pull "$url" back
        expect_status 2
        [ ! -e back ]
    done
    mkdir there
    pull "$FAULTY/x.tar.zst" there
    expect_status 2
    expect_err "'there' exists already"
    abba push missing "$FAULTY/x"
    expect_status 5
    sed -i 's/true/frue/' a/series.json
    push "$FAULTY/x"
    expect_status 5
    rm a/SHA256SUMS
    push "$FAULTY/x"
    expect_status 3
    [ "$(asked faulty.log PUT)" = 0 ]
}
