#!/bin/sh
# test_serve.sh PROGRAM: a server as a process: what signals do to it.
. "$(dirname "$0")/../support/program.sh"
command -v openssl >/dev/null || { echo "skipped: no openssl to make certificates with" >&2; exit 77; }
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT

# certificate NAME [DAYS]: signed by itself, for 127.0.0.1
certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days "${2:-30}" -subj "/CN=$1" \
        -keyout "$dir/key.pem" -out "$dir/cert.pem" >/dev/null 2>&1 && chmod 600 "$dir/key.pem"
}

# logged TEXT: within a minute
logged() {
    for moment in $(seq 600); do
        ! grep -q -- "$1" "$dir/log" || return 0
        sleep 0.1
    done
    cp "$dir/log" "$out"
    complain "the log does not say '$1'"
}

# start LINE...: a helper on free ports, with these lines in its file
start() {
    printf '%s\n' '[helper]' 'listen = 127.0.0.1:0' 'operations = 127.0.0.1:0' 'database = sqlite:h.db' \
        'datastore_key = h.key' "$@" >"$dir/helper.ini"
    (cd "$dir" && exec "$program" serve helper --config helper.ini) 2>"$dir/log" &
    server=$!
    logged server.started
    operations=$(sed -n 's/.*operations_port=\([0-9]*\).*/\1/p' "$dir/log")
    port=$(sed -n 's/.*server.started.* port=\([0-9]*\).*/\1/p' "$dir/log")
}

stop() {
    kill -TERM "$server"
    wait "$server"
    code=$?
    [ $code -eq 0 ] || complain "ended with $code"
    server=
}

# shows NAME: the certificate that a client is given
shows() {
    openssl s_client -connect "127.0.0.1:$port" </dev/null 2>/dev/null | grep -q "subject=CN *= *$1" ||
        complain "the certificate is not $1's"
}

begin one_mistake_is_one
verb=serve
expect 2 "sotto serve: 1 mistake" helper --listen nowhere
says_not mistakes
expect 2 "sotto serve: 2 mistakes" helper --listen nowhere --operations nowhere

begin hangup_reloads_the_certificate
certificate first
start 'certificate = cert.pem' 'private_key = key.pem'
shows first
# expiry SECONDS: what the metric says, give or take a minute
expiry() {
    python3 -c 'import sys, urllib.request
lines = urllib.request.urlopen("http://127.0.0.1:%s/metrics" % sys.argv[1]).read().decode().splitlines()
end, = [float(l.split()[1]) for l in lines if l.startswith("sotto_certificate_expiry_seconds ")]
sys.exit(abs(end - float(sys.argv[2])) > 60)' "$operations" "$1" >"$out" 2>&1 || complain "the metric has another end"
}
expiry $(($(date +%s) + 30 * 86400))
certificate second 60
kill -HUP "$server"
logged 'server.reloaded'
shows second
expiry $(($(date +%s) + 60 * 86400))
echo "no certificate" >"$dir/cert.pem"
kill -HUP "$server"
logged 'server.reload_failed.*holds no certificate'
shows second
stop

begin hangup_ends_no_plain_server
start
kill -HUP "$server"
logged 'server.nothing_to_reload'
kill -HUP "$server"
kill -0 "$server" || complain "the server is gone"
stop
grep -q 'server.stopped signal=15' "$dir/log" || complain "no orderly end"

begin every_service_is_looked_after
printf 'leader http://127.0.0.1:1/\n' >"$dir/relay-gateways.txt"
printf '%s\n' '[relay]' 'listen = 127.0.0.1:0' 'operations = 127.0.0.1:0' >"$dir/relay.ini"
(cd "$dir" && exec "$program" serve relay --config relay.ini) 2>"$dir/log" &
server=$!
logged server.started
operations=$(sed -n 's/.*operations_port=\([0-9]*\).*/\1/p' "$dir/log")
printf '%s\n' '[relay]' "operations = 127.0.0.1:$operations" >"$dir/relay.ini"
verb=admin
expect 0 "gateways: 1" health --config "$dir/relay.ini"
expect 0 "written; the datastore key is not in it" backup "$dir/copy.db" --config "$dir/relay.ini"
[ -s "$dir/copy.db" ] || complain "no copy was written"
expect 2 "relay.ini is the file of a relay, which has no tasks" gc --config "$dir/relay.ini"
expect 2 "relay.ini is the file of a relay, which has no HPKE keys" keys list --config "$dir/relay.ini"
expect 0 "drained" drain --config "$dir/relay.ini"
wait "$server" || complain "the server did not end well"
server=

finish
