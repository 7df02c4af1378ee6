# Programs that are named by an address and a SHA-256: fetched once, kept, checked every time.

load common
load servers

setup() {
    setup_folder
    plain_environment
    mkdir -p store
    cp "$ABBA_BUILD/cost/show" store/tool
    SHA=$(sha256sum store/tool | cut -c1-64)
}

teardown() {
    stop_servers
}

cached() {
    [ "$(sha256sum <"cache/abba/programs/$SHA/tool")" = "$SHA  -" ]
}

@test "a program is fetched over TLS, compared, and not fetched again" {
    make_authority
    start_nginx server
    cp store/tool www/tool
    compare -n 1 --ca-file ca.pem "$DAV/tool#sha256=$SHA" "$DAV/tool?token=geheim#sha256=$SHA"
    expect_status 0
    expect_out "$DAV/tool#sha256=${SHA:0:40}"
    expect_no geheim
    cached
    [ "$(grep -c 'GET /tool' access.log)" = 1 ] || fail "fetched more than once: $(<access.log)"
    stop_servers
    compare -n 1 -q "$DAV/tool#sha256=$SHA" true
    expect_status 0
}

@test "run takes such a program as baseline and candidate, and the archive says where from" {
    make_runner '{"metric": "value", "role": "only", "pattern": "value=(?<value>.*)", "unit": "count", "better": "lower"}'
    cp program store/p
    start_faulty --store store
    sha=$(sha256sum <program | cut -c1-64)
    abba run --no-lock t/p -b "old=$FAULTY/p#sha256=$sha" -c "new=$FAULTY/p?secret=geheim#sha256=$sha" \
        --candidate-arg x --archive a -n 2 --threshold value=5%
    [ "$status" = 0 ] || [ "$status" = 4 ] || fail "status"
    expect_err 'http is neither encrypted nor authenticated'
    grep -q "$FAULTY/p#sha256=$sha" a/series.json
    ! grep -rq geheim a || fail "a secret in the archive"
    abba verify a
    expect_status 0
}

@test "a variant's file may name an address" {
    start_faulty --store store
    echo "{\"variant\": \"far\", \"program\": \"$FAULTY/tool#sha256=$SHA\"}" >far.json
    make_runner '{"metric": "value", "role": "only", "pattern": "value=(?<value>.*)", "unit": "count", "better": "lower"}'
    abba run --no-lock t/p -b far.json -c ./program --plan
    expect_status 0
    cached
}

@test "without a SHA-256 nothing is fetched, and a hint says what is missing" {
    start_faulty --store store
    compare -n 1 "$FAULTY/tool" true
    expect_status 2
    expect_err "does not say what program it must be"
    expect_err "hint: $FAULTY/tool#sha256=HEX"
    compare -n 1 "$FAULTY/tool#sha256=12" true
    expect_status 2
    [ ! -s faulty.log ]
}

@test "what has another SHA-256 is never run, whether it arrives or lies in the cache" {
    start_faulty --store store --fault 'GET 1 wrong'
    compare -n 1 "$FAULTY/tool#sha256=$SHA" true
    expect_status 2
    expect_err "is not the program that was asked for: its SHA-256 is"
    [ -z "$(find cache -type f)" ]
    compare -n 1 -q "$FAULTY/tool#sha256=$SHA" true
    expect_status 0
    echo other >"cache/abba/programs/$SHA/tool"
    compare -n 1 -q "$FAULTY/tool#sha256=$SHA" true
    expect_status 0
    cached
}

@test "a cut connection is continued, a busy server asked again" {
    start_faulty --store store --fault 'GET 1 503/0' --fault 'GET 2 cut'
    compare -n 1 "$FAULTY/tool#sha256=$SHA" true
    expect_status 0
    expect_err "trying again in"
    cached
    [ "$(cut -d' ' -f3 faulty.log | tr '\n' ' ')" = '503 200 206 206 ' ] || fail "$(<faulty.log)"
}

@test "too large, too slow, not there, not trusted, no address: one message each" {
    make_authority
    make_certificate old -1
    start_nginx old
    start_faulty --store store --fault 'GET 1 404' --fault 'GET 9 hang'
    compare -n 1 --ca-file ca.pem "$DAV/tool#sha256=$SHA" true
    expect_status 2
    expect_err 'certificate has expired'
    compare -n 1 "$DAV/tool#sha256=$SHA" true
    expect_status 2
    expect_err 'the server is not trusted'
    expect_err '--ca-file FILE'
    compare -n 1 --ca-file missing.pem "$DAV/tool#sha256=$SHA" true
    expect_status 2
    expect_err "'missing.pem'"
    compare -n 1 "$FAULTY/tool#sha256=$SHA" true
    expect_status 2
    expect_err 'answers 404 (not found)'
    compare -n 1 --fetch-timeout 1s "$FAULTY/tool#sha256=$SHA" true
    expect_status 3
    expect_err 'imed out'
    stop_servers
    start_faulty --store store
    compare -n 1 --fetch-size 1kB "$FAULTY/tool#sha256=$SHA" true
    expect_status 3
    expect_err 'larger than the limit of 1kB'
    compare -n 1 --fetch-size 1 "$FAULTY/tool#sha256=$SHA" true
    expect_status 2
    expect_err "option '--fetch-size'"
    compare -n 1 "https://me:geheim@127.0.0.1/tool#sha256=$SHA" true
    expect_status 2
    expect_err 'holds a user or a password'
    expect_no geheim
    compare -n 1 "gopher://127.0.0.1/tool#sha256=$SHA" true
    expect_status 2
    expect_err "'gopher' is not supported"
}

@test "a full disk is said, and what has arrived is kept for the next time" {
    head -c 3000000 /dev/urandom >store/tool
    SHA=$(sha256sum store/tool | cut -c1-64)
    start_faulty --store store
    mkdir -p cache
    status=0
    output=$(ulimit -f 1000; "$ABBA" compare --no-lock -n 1 "$FAULTY/tool#sha256=$SHA" true 2>stderr.txt) ||
        status=$?
    # shellcheck disable=SC2034
    err=$(<stderr.txt)
    expect_status 3
    expect_err 'cannot write the file here'
    [ "$(stat -c %s "cache/abba/programs/$SHA/.arriving")" -gt 900000 ]
    compare -n 1 "$FAULTY/tool#sha256=$SHA" true
    cached
    [ "$(tail -n 1 faulty.log | cut -d' ' -f3)" = 206 ]
}
