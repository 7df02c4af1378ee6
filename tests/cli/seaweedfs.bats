# push and pull against SeaweedFS, a real S3 store that checks signatures.
# `make seaweedfs` builds it; without it these tests are skipped.

load common
load servers
load s3_store

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
    by_botocore <<<'client.create_bucket(Bucket="bucket")'
}

@test "SeaweedFS: there and back in one piece and in parts, nothing twice, wrong keys are refused" {
    start_weed
    make_pack
    there_and_back_again
    wrong_keys_are_refused
}

@test "SeaweedFS: an upload that was begun is gone on with" {
    start_weed
    make_pack
    an_upload_is_gone_on_with
}
