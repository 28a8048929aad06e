#!/bin/sh
# units_calls.sh BUILD PROGRAM: servers that start, answer and end make no system call that their units forbid: there, the
# first one would kill them.
build=$1
program=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

skip() {
    echo "skipped: $1"
    exit 77
}
command -v systemd-analyze >/dev/null || skip "no systemd-analyze, which knows what a filter holds"
command -v strace >/dev/null || skip "no strace"
strace -o /dev/null true 2>/dev/null || skip "strace is not allowed to trace here"
# Files that root makes are given to their directory's owner; the unit's user can't, and does not try.
as=
if [ "$(id -u)" -eq 0 ]; then
    command -v setpriv >/dev/null || skip "root makes other calls than the unit's user, and there is no setpriv"
    as="setpriv --reuid=65534 --regid=65534 --clear-groups"
    chown 65534 "$work" || exit 1
fi

# calls_of SET...: the calls in them, and in the sets in them
calls_of() {
    for set in "$@"; do
        for name in $(systemd-analyze syscall-filter "$set" | sed '1d; s/#.*//'); do
            case $name in
            @*) calls_of "$name" ;;
            *) echo "$name" ;;
            esac
        done
    done
}

# calls_left ROLE: what its unit allows
calls_left() {
    allowed=$(sed -n 's/^SystemCallFilter=\(@.*\)/\1/p' "$build/sotto-$1.service")
    forbidden=$(sed -n 's/^SystemCallFilter=~\(.*\)/\1/p' "$build/sotto-$1.service")
    [ -n "$allowed" ] && [ -n "$forbidden" ] || { echo "sotto-$1.service has no filter"; exit 1; }
    calls_of $allowed | LC_ALL=C sort -u >"$work/allowed"
    calls_of $forbidden | LC_ALL=C sort -u >"$work/forbidden"
    LC_ALL=C comm -23 "$work/allowed" "$work/forbidden" >"$work/left"
    grep -qx read "$work/left" || { echo "systemd-analyze names no calls"; exit 1; }
}

# needs_of ROLE: files that it does not start without, under their usual names
needs_of() {
    (
        cd "$dir" && umask 077 || exit 1
        case $1 in
        gateway) echo 'https://leader.example/ http://127.0.0.1:9/' >gateway-targets.txt ;;
        relay) echo 'leader http://127.0.0.1:9/' >relay-gateways.txt ;;
        log) "$program" log key log.example --out log-signing.key >/dev/null && echo a-token-of-sixteen-bytes >log.token ;;
        witness)
            "$program" log key log.example --out of-the-log.key >witness.logs &&
                "$program" log key witness.example --out witness-signing.key --cosigns >/dev/null
            ;;
        issuer) echo a-token-of-sixteen-bytes | tee issuer.attester-token >issuer.operator-token ;;
        aggregator)
            "$program" log key aggregator.example --out aggregator-signing.key >/dev/null &&
                echo a-token-of-sixteen-bytes >aggregator.operator-token
            ;;
        attester) echo a-token-of-sixteen-bytes | tee attester.issuer-token >attester.operator-token ;;
        esac
    ) || exit 1
    [ -z "$as" ] || chown -R 65534 "$dir" || exit 1
}

# calls_made ROLE: those of a server that is asked for its metrics and told to stop
calls_made() {
    dir=$work/$1
    mkdir "$dir" || exit 1
    if [ -n "$as" ]; then
        chown 65534 "$dir" || exit 1
    fi
    cat >"$dir/server.ini" <<END
[$1]
listen = 127.0.0.1:0
operations = 127.0.0.1:0
database = sqlite:$dir/server.db
datastore_key = $dir/server.key
END
    needs_of "$1"
    # The program's own process, for strace does not hand signals on.
    $as strace -f -q -o "$dir/trace" \
        sh -c 'echo $$ >"$1/pid" && exec "$2" serve "$3" --config "$1/server.ini"' sh "$dir" "$program" "$1" \
        2>"$dir/log" &
    tracer=$!
    waited=0
    until grep -q 'server.started' "$dir/log" || [ "$waited" -ge 600 ] || ! kill -0 "$tracer" 2>/dev/null; do
        sleep 0.1
        waited=$((waited + 1))
    done
    port=$(sed -n 's/.* server.started .* operations_port=\([0-9]*\).*/\1/p' "$dir/log")
    answered=no
    python3 -c "import urllib.request as u; u.urlopen('http://127.0.0.1:${port:-0}/metrics', timeout=20).read()" &&
        answered=yes
    kill -TERM "$(cat "$dir/pid")"
    if ! wait "$tracer" || [ "$answered" = no ]; then
        echo "the $1 did not run:"
        cat "$dir/log"
        exit 1
    fi
    sed -n 's/^[0-9]* *\([a-z_0-9]*\)(.*/\1/p' "$dir/trace" | LC_ALL=C sort -u >"$work/made"
}

for role in leader helper gateway relay log witness issuer attester aggregator; do
    calls_left $role
    calls_made $role
    LC_ALL=C comm -23 "$work/made" "$work/left" >"$work/bad"
    if [ -s "$work/bad" ]; then
        echo "sotto-$role.service forbids:" $(cat "$work/bad")
        exit 1
    fi
    echo "$role: $(wc -l <"$work/made") system calls, all of which its unit allows"
done
