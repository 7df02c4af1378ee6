# push and pull against SeaweedFS, a real S3 store that checks signatures.
# `make seaweedfs` builds it; without it these tests are skipped.

load common
load servers

setup() {
    WEED=$ABBA_BUILD/servers/weed
    [ -x "$WEED" ] || skip "no SeaweedFS here: make seaweedfs builds it (Go, many minutes)"
    setup_folder
    plain_environment
}

teardown() {
    stop_servers
}

# Ports of its own, whose gRPC neighbours (10000 higher) exist too.
low_port() {
    python3 - <<'END'
import random, socket
while True:
    port = random.randrange(20000, 30000)
    with socket.socket() as a, socket.socket() as b:
        try:
            a.bind(("127.0.0.1", port)), b.bind(("127.0.0.1", port + 10000))
        except OSError:
            continue
        print(port)
        break
END
}

start_weed() {
    local s3
    cat >s3.json <<'END'
{"identities": [{"name": "abba", "credentials": [{"accessKey": "abba", "secretKey": "geheim"}],
                 "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}
END
    mkdir -p data
    s3=$(low_port)
    "$WEED" server -dir=data -ip=127.0.0.1 -ip.bind=127.0.0.1 -master.port="$(low_port)" \
        -volume.port="$(low_port)" -volume.max=8 -master.volumeSizeLimitMB=64 -filer \
        -filer.port="$(low_port)" -s3 -s3.port="$s3" -s3.config=s3.json \
        >weed.log 2>&1 3>&- &
    export AWS_ENDPOINT_URL=http://127.0.0.1:$s3 AWS_REGION=us-east-1
    export AWS_ACCESS_KEY_ID=abba AWS_SECRET_ACCESS_KEY=geheim
    started $! "$s3"
    wait_for make_bucket
}

make_bucket() {
    python3 - 2>bucket.log <<'END'
import os
import botocore.session
from botocore.config import Config
client = botocore.session.get_session().create_client(
    "s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"],
    config=Config(retries={"max_attempts": 1}, connect_timeout=2, read_timeout=5))
client.create_bucket(Bucket="bucket")
END
}

@test "SeaweedFS: there and back in one piece and in parts, nothing twice, wrong keys are refused" {
    start_weed
    compare -q -n 3 --archive a 'head -c 2000000 /dev/urandom' 'head -c 2000000 /dev/urandom'
    for options in '--part-size 1GiB' '--part-size 5MiB'; do
        folder="s3://bucket/some%20folder/${options: -4}+x"
        # shellcheck disable=SC2086
        abba push $options a "$folder"
        expect_status 0
        expect_out 'sent   '
        at=$(sed -n 's/^sent  *\([^ ]*\) .*/\1/p' <<<"$output")
        # shellcheck disable=SC2086
        abba push $options a "$folder"
        expect_status 0
        expect_out 'nothing was sent'
        abba pull "$at" back
        expect_status 0
        diff -r a back
        rm -rf back
    done
    AWS_SECRET_ACCESS_KEY=wrong abba push a s3://bucket/other
    expect_status 2
    expect_err 'SignatureDoesNotMatch'
    expect_no wrong
    AWS_ACCESS_KEY_ID=nobody abba pull "$at" back
    expect_status 2
    abba pull "${at%/*}/$(printf 'a%.0s' {1..64}).tar.zst" back
    expect_status 2
    expect_err 'NoSuchKey'
}

@test "SeaweedFS: an upload that was begun is gone on with" {
    start_weed
    compare -q -n 3 --archive a 'head -c 2000000 /dev/urandom' 'head -c 2000000 /dev/urandom'
    abba pack a -o p.tar.zst
    name=$(sed -n 's/^pack  *//p' <<<"$output").tar.zst
    python3 - "$name" <<'END'
import os, sys
import botocore.session
client = botocore.session.get_session().create_client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"])
key = "x/" + sys.argv[1]
upload = client.create_multipart_upload(Bucket="bucket", Key=key)["UploadId"]
with open("p.tar.zst", "rb") as f:
    part = f.read(5 << 20)
client.upload_part(Bucket="bucket", Key=key, UploadId=upload, PartNumber=1, Body=part)
END
    abba push --part-size 5MiB a s3://bucket/x
    expect_status 0
    size=$(stat -c %s p.tar.zst)
    expect_out "sent   s3://bucket/x/$name ($(python3 -c "
n = $size - (5 << 20); print('%.3gMB' % (n / 1e6))")"
    abba pull "s3://bucket/x/$name" back
    expect_status 0
    diff -r a back
}
