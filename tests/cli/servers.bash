# Real servers of the tests that carry something, on loopback, each in a process of its own that the
# test ends by its number. Needs common.bash.
# shellcheck disable=SC2034

SERVERS=()

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Keeps what this machine has set from leading anywhere but where the test wants it.
plain_environment() {
    local name
    for name in http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy NETRC \
        CURL_CA_BUNDLE SSL_CERT_FILE ABBA_TOKEN "${!AWS_@}"; do
        unset "$name"
    done
    mkdir -p home
    export XDG_CACHE_HOME=$PWD/cache
}

# An authority (ca.pem) and what it vouches for: server.pem for 127.0.0.1 and localhost.
make_authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
        -subj '/CN=abba tests' -keyout ca.key -out ca.pem 2>/dev/null &&
        make_certificate server 2
}

make_certificate() { # NAME DAYS
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
        -keyout "$1.key" -out "$1.csr" 2>/dev/null &&
        openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days "$2" \
            -extfile <(echo 'subjectAltName=IP:127.0.0.1,DNS:localhost') -out "$1.pem" 2>/dev/null
}

listens() { # PORT
    (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

started() { # PID PORT
    SERVERS+=("$1")
    wait_for listens "$2" || {
        cat ./*.log >&2
        return 1
    }
}

# nginx with WebDAV over TLS: $DAV is its address, www/ its folder. NAME of the certificate; more
# lines for its server block.
start_nginx() { # NAME [LINES]
    local port
    port=$(free_port)
    mkdir -p www temp
    cat >nginx.conf <<END
daemon off; master_process off; pid $PWD/nginx.pid; error_log $PWD/nginx.log;
events {}
http {
    access_log $PWD/access.log; client_body_temp_path $PWD/temp/body;
    proxy_temp_path $PWD/temp/p; fastcgi_temp_path $PWD/temp/f;
    uwsgi_temp_path $PWD/temp/u; scgi_temp_path $PWD/temp/s;
    client_max_body_size 64m;
    server {
        listen 127.0.0.1:$port ssl;
        ssl_certificate $PWD/$1.pem; ssl_certificate_key $PWD/$1.key;
        root $PWD/www;
        location / { dav_methods PUT DELETE MKCOL MOVE; create_full_put_path off; }
        ${2-}
    }
}
END
    PATH=$PATH:/usr/sbin nginx -p "$PWD" -c nginx.conf -e nginx.log 2>nginx-out.log >&2 3>&- &
    DAV=https://127.0.0.1:$port
    started $! "$port"
}

# tests/servers/faulty.py: $FAULTY is its address, faulty.log what it was asked.
start_faulty() { # ARGUMENTS
    local port
    port=$(free_port)
    : >faulty.log
    python3 "$ABBA_SOURCE/tests/servers/faulty.py" --port "$port" --log faulty.log "$@" \
        2>faulty-out.log >&2 3>&- &
    FAULTY=http://127.0.0.1:$port
    started $! "$port"
}

# tests/servers/forge.py: $FORGE is its address, forge.log what it was asked, forge.json what it has.
start_forge() { # TOKEN ARGUMENTS
    local port
    port=$(free_port)
    : >forge.log
    python3 "$ABBA_SOURCE/tests/servers/forge.py" --port "$port" --log forge.log --state forge.json \
        --token "$@" 2>forge-out.log >&2 3>&- &
    FORGE=http://127.0.0.1:$port
    started $! "$port"
}

stop_servers() {
    local pid
    for pid in "${SERVERS[@]}"; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    SERVERS=()
}
