# What holds of every S3 store that checks signatures. The caller has started one with a bucket "bucket"
# and set AWS_*; needs common.bash.
# shellcheck disable=SC2154 # $status, $output, $err are those of abba

make_pack() { # an archive whose pack has 12 MB
    compare -q -n 3 --archive a 'head -c 2000000 /dev/urandom' 'head -c 2000000 /dev/urandom'
    [ "$status" = 0 ]
}

# In one piece and in parts: there and back, and a second push sends nothing. $at is the last address.
there_and_back_again() {
    local options folder
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
}

# The store itself refuses wrong keys, and says what is not there. $at is of a pack.
wrong_keys_are_refused() {
    AWS_SECRET_ACCESS_KEY=wrong abba push a s3://bucket/other
    expect_status 2
    expect_err '403 (forbidden): SignatureDoesNotMatch'
    expect_no wrong
    AWS_SECRET_ACCESS_KEY=wrong abba push --part-size 5MiB a s3://bucket/other
    expect_status 2
    expect_err SignatureDoesNotMatch
    AWS_SECRET_ACCESS_KEY=wrong abba pull "$at" back
    expect_status 2
    AWS_ACCESS_KEY_ID=nobody abba pull "$at" back
    expect_status 2
    [ ! -e back ]
    abba pull "${at%/*}/$(printf 'a%.0s' {1..64}).tar.zst" back
    expect_status 2
    expect_err 'NoSuchKey'
}

# By botocore, of which this is a client: python on standard input, with `client`.
by_botocore() {
    AWS_REQUEST_CHECKSUM_CALCULATION=when_required python3 - "$@" 2>botocore.log <<END || { cat botocore.log; return 1; }
import os, sys
import botocore.session
from botocore.config import Config
client = botocore.session.get_session().create_client(
    "s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"], verify=os.environ.get("CURL_CA_BUNDLE"),
    config=Config(retries={"max_attempts": 1}, connect_timeout=2, read_timeout=20))
$(cat)
END
}

# Another client has sent the first of three parts: the push sends the other two.
an_upload_is_gone_on_with() {
    abba pack a -o p.tar.zst
    name=$(sed -n 's/^pack  *//p' <<<"$output").tar.zst
    by_botocore "$name" <<'END'
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
