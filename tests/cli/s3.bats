# push and pull against rclone's S3 server, over TLS: it checks signatures and the time of requests.
# `make s3` builds it; without it these tests are skipped.

load common
load servers
load s3_store

setup() {
    S3=$ABBA_BUILD/servers/s3
    [ -x "$S3" ] || skip "no S3 store here: make s3 builds it (Go)"
    setup_folder
    plain_environment
    make_authority
}

teardown() {
    stop_servers
}

start_s3() { # NAME-OF-CERTIFICATE
    local port
    port=$(free_port)
    mkdir -p data/bucket
    "$S3" serve s3 --addr "127.0.0.1:$port" --auth-key abba,geheim --cert "$1.pem" --key "$1.key" \
        --config '' --vfs-cache-mode off data >s3.log 2>&1 3>&- &
    export AWS_ENDPOINT_URL=https://127.0.0.1:$port AWS_REGION=eu-central-1
    export AWS_ACCESS_KEY_ID=abba AWS_SECRET_ACCESS_KEY=geheim CURL_CA_BUNDLE=$PWD/ca.pem
    started $! "$port"
}

@test "a real S3 store: there and back in one piece and in parts, nothing twice, wrong keys are refused" {
    start_s3 server
    make_pack
    there_and_back_again
    wrong_keys_are_refused
    [ -z "$(find data/bucket/other -type f 2>/dev/null)" ]
}

@test "a real S3 store: an upload that was begun is gone on with" {
    start_s3 server
    make_pack
    an_upload_is_gone_on_with
}

@test "a real S3 store: a push that was killed is gone on with, and sends only what is missing" {
    start_s3 server
    make_pack
    "$ABBA" push --part-size 5MiB a s3://bucket/y >push.log 2>&1 &
    push=$!
    part_is_there() {
        by_botocore <<'END'
uploads = client.list_multipart_uploads(Bucket="bucket").get("Uploads", [])
assert any(client.list_parts(Bucket="bucket", Key=u["Key"], UploadId=u["UploadId"]).get("Parts")
           for u in uploads)
END
    }
    ended() { ! kill -0 $push 2>/dev/null; }
    part_is_there_or_ended() { part_is_there || ended; }
    wait_for part_is_there_or_ended
    kill -KILL $push 2>/dev/null || true
    wait $push || true
    abba push --part-size 5MiB a s3://bucket/y
    expect_status 0
    address=$(sed -En 's/^(sent|there)  *([^ ]*) .*/\2/p' <<<"$output")
    abba pull "$address" back
    expect_status 0
    diff -r a back
}

@test "a real S3 store: a bucket that is not there is said" {
    start_s3 server
    make_pack
    for size in 1GiB 5MiB; do
        abba push --part-size $size a s3://nosuch/x
        expect_status 2
        expect_err 'NoSuchBucket'
        expect_err 'make it first'
    done
}

@test "a real S3 store: a clock that is wrong is what the message says" {
    make_pack
    S3_CLOCK_AHEAD=1h start_s3 server
    abba push a s3://bucket/x
    expect_status 2
    expect_err 'RequestTimeTooSkewed'
    expect_err 'the clocks of this machine and of the store are apart'
    expect_no geheim
    stop_servers
    S3_CLOCK_AHEAD=-1h start_s3 server
    abba push --part-size 5MiB a s3://bucket/x
    expect_status 2
    expect_err 'RequestTimeTooSkewed'
    [ -z "$(find data/bucket -type f)" ]
}

@test "a real S3 store: nothing goes to one whose certificate has expired or that nobody vouches for" {
    make_pack
    make_certificate old -1
    start_s3 old
    abba push a s3://bucket/x
    expect_status 2
    expect_err 'certificate has expired'
    unset CURL_CA_BUNDLE
    abba push a s3://bucket/x
    expect_status 2
    expect_err 'not trusted'
    [ -z "$(find data/bucket -type f)" ]
}

@test "a real S3 store: what was changed there is refused when it is pulled" {
    start_s3 server
    make_pack
    abba push a s3://bucket/x
    expect_status 0
    at=$(sed -n 's/^sent  *\([^ ]*\) .*/\1/p' <<<"$output")
    stored=data/bucket/x/${at##*/}
    printf X | dd of="$stored" bs=1 seek=1000000 conv=notrunc 2>/dev/null
    abba pull "$at" back
    expect_status 5
    [ ! -e back ]
    truncate -s 1000000 "$stored"
    abba pull "$at" back
    expect_status 5
    [ ! -e back ]
}
