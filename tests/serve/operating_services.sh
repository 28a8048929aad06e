#!/bin/sh
# operating_services.sh docs/operating.md SOTTO: types every ```sh block of sections 10 to 16 in an empty directory. It checks what
# an operator would see: health, metrics by the names that the page has, backups, and the way down. Only the ports are others.
command -v curl >/dev/null || { echo "skipped: no curl, which the page uses"; exit 77; }
command -v openssl >/dev/null || { echo "skipped: no openssl, which the page uses"; exit 77; }
services="gateway relay log witness issuer attester aggregator"
ports=15
. "$(dirname "$0")/operating_head.sh"
export base services page

# port_of SERVICE: where it listens; its operations port is the next one
port_of() {
    number=$base
    for service in $services; do
        [ "$service" = "$1" ] && break
        number=$((number + 2))
    done
    echo $number
}

renamed="s/127\.0\.0\.1:8787/127.0.0.1:$((base + 14))/" # the leader's, where nobody is
for pair in gateway:8801 relay:8802 log:8791 witness:8792 issuer:8793 attester:8794 aggregator:8795; do
    port=$(port_of "${pair%:*}")
    renamed="$renamed;s/127\.0\.0\.1:${pair#*:}/127.0.0.1:$port/"
    renamed="$renamed;s/^\[${pair%:*}\]\$/[${pair%:*}]\noperations = 127.0.0.1:$((port + 1))/"
done
awk '/^## / { on = /^## 1[0-6]/ } /^```sh$/ { run = on; next } /^```/ { run = 0 } run' "$page" |
    sed -e "$renamed" -e 's/^sotto admin health /look /' -e 's/ &$/ \& echo $! >> pids/' \
        -e 's/^sotto recipe publish /confirmed; &/' -e 's/^for service in relay /running; &/' >"$directory/page.sh"
[ "$(wc -l <"$directory/page.sh")" -gt 70 ] || fail "the page has lost its commands"

cat >"$directory/between.sh" <<'END'
# On a busy machine a witness has not cosigned after the page's pause.
confirmed() {
    for moment in $(seq 600); do
        ! grep -q 'log.confirmed' log.log || return 0
        sleep 0.1
    done
    return 1
}

# While all seven run: what the page says of each.
running() {
    for service in $services; do
        port=$(sed -n 's/^operations = 127.0.0.1://p' "$service.ini")
        curl --fail --silent --show-error "http://127.0.0.1:$port/metrics" -o metrics
        curl --fail --silent --show-error "http://127.0.0.1:$port/healthz" >>healthz
        awk -v name="$service" '/^## / { on = $0 ~ "[.] An? " name "$" } on && /^\| `sotto_/' "$page" | cut -d '|' -f 2 |
            grep -o 'sotto_[a-z_]*' >named || { echo "no metrics of the $service on the page"; exit 1; }
        while read -r metric; do
            grep -q "^$metric[ {]" metrics || { echo "the $service has no metric $metric"; exit 1; }
        done <named
        sotto admin health --json --config "$service.ini" >>ready.json
        sotto admin backup "$service-backup.db" --config "$service.ini"
        sotto admin migrate --config "$service.ini"
    done
}
END
cd "$directory" || exit 1
types between.sh page.sh

expect 8 '^ready$'
expect 8 '^drained$' # the log once more, for its witness
expect 7 '^written; the datastore key is not in it'
expect 4 '^schema 1 is now 1$'
expect 1 '^schema 2 is now 2$'
expect 2 '^schema 5 is now 5$'
expect 1 '^logs: 1$'
expect 1 '^target https://leader.example/: does not answer: '
expect 1 '"target https://leader.example/: does not answer: ' ready.json
expect 1 'does not answer' ready.json # gateway and issuer do
expect 1 '^400$' # of the gateway, through the relay
expect 1 '^recipe.bundle$'
expect 2 '^0 recipe '
expect 7 '^ok$' healthz
expect 7 '"reached": true, "ready": true' ready.json
expect 1 '^keys.bundle$'
expect 1 '^a tree of 2 entries, 2 bundles, '
grep -q '^c2sp.org/tlog-proof@v1$' entry.proof || fail "no proof of an entry"
grep -q '"analysis":"com.example.keyboard-ngrams"' keys.json || fail "the list has no key"
for file in issuer.sign log-signing.key witness-signing.key log.token issuer.operator-token attester.issuer-token gateway-backup.db; do
    [ "$(stat -c %a $file)" = 600 ] || fail "$file can be read by others"
done
for service in $services; do
    stopped $service.log
done

refuses 7 "nothing answers at 127.0.0.1:$(($(port_of relay) + 1))" sotto admin health --config relay.ini
refuses 7 "nothing answers at 127.0.0.1:$(($(port_of log) + 1))" sotto admin drain --config log.ini
refuses 2 'the file of a relay, which has no tasks' sotto admin gc --config relay.ini
refuses 2 'the file of a relay, which has no HPKE keys' sotto admin keys list --config relay.ini
refuses 2 'the file of a witness, which has no tasks' sotto admin task list --config witness.ini
# Schemas of two services have the same numbers.
sed "s/^database = .*/database = sqlite:gateway.db/" relay.ini >foreign.ini
refuses 4 "this database is a gateway's, and this is a relay" sotto admin migrate --config foreign.ini
refuses 1 "this database is a gateway's, and this is a relay" sotto serve relay --config foreign.ini

# What an operator is told who mistyped a line: the file, or the URL, and what is wrong with it.
wrong() { # SERVICE OPTION VALUE TEXT
    grep -v "^$2 = " "$1.ini" >wrong.ini
    echo "$2 = $3" >>wrong.ini
    refuses 1 "$4" sotto serve "$1" --config wrong.ini
}
wrong attester issuer http://127.0.0.1:8793 'issuer = http://127.0.0.1:8793: must end with a slash'
wrong attester issuer http://192.0.2.1/ 'issuer = http://192.0.2.1/: '
wrong attester operator_token nowhere 'nowhere can.t be read: No such file'
cp attester.operator-token shown && chmod 644 shown
wrong issuer operator_token shown 'shown holds secrets, and others may read it: chmod'
wrong log key nowhere 'nowhere can.t be read: No such file'
wrong log key log.token 'log.token: no key for signing notes'
wrong witness key log-signing.key 'key is not for cosignatures'

# ---- with TLS: SIGHUP reads a renewed certificate, SIGTERM drains -----------------------------------------------------

logged() { # SERVICE TEXT, within a minute
    for moment in $(seq 600); do
        ! grep -q -- "$2" "$1.log" || return 0
        sleep 0.1
    done
    fail "$1.log does not say '$2'"
}
for service in $services; do
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=$service" \
        -keyout $service.pem.key -out $service.pem >/dev/null 2>&1 && chmod 600 $service.pem.key || fail "no certificate"
    printf 'certificate = %s.pem\nprivate_key = %s.pem.key\n' $service $service >>$service.ini
    : >$service.log
    sotto serve $service --config $service.ini 2>>$service.log &
    server=$!
    echo $server >>pids
    logged $service server.started
    kill -HUP $server
    logged $service 'server.reloaded what=certificate'
    kill -TERM $server
    wait $server || fail "$service: ended with $? after SIGTERM"
    grep -q 'server.stopped' $service.log || fail "$service: no graceful end after SIGTERM"
done
echo "all right"
