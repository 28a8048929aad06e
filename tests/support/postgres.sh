#!/bin/sh
# postgres.sh run COMMAND...   a PostgreSQL server of our own, for as long as the command runs, at $SOTTO_POSTGRES
# postgres.sh start DIR        the same in DIR, which must not exist; prints the address
# postgres.sh restart DIR      ends it as a crash would, and starts it again
# postgres.sh stop DIR         ends it and removes DIR
# SOTTO_POSTGRES_OPTIONS   settings of the server, such as "-c shared_buffers=1GB"
# SOTTO_POSTGRES_LOG_MB    files of its log that are made beforehand, as a server has them that has run for a while. A fresh one
#                          writes each of them twice, first with zeros, while everybody who commits waits.
# Exits with 77, which ctest counts as skipped, where no server can be had. It listens on a socket in its directory
# alone. A server refuses to run as root: then it runs as the user that the package made for it.
set -u

bin=
for candidate in $(command -v pg_config >/dev/null && pg_config --bindir) /usr/lib/postgresql/*/bin; do
    if [ -x "$candidate/initdb" ] && [ -x "$candidate/postgres" ]; then
        bin=$candidate
    fi
done

skip() {
    echo "skipped: $1" >&2
    exit 77
}

[ -n "$bin" ] || skip "no PostgreSQL server is installed"
if [ "$(id -u)" -eq 0 ]; then
    id postgres >/dev/null 2>&1 || skip "root can't run PostgreSQL, and there is no user postgres"
    command -v setpriv >/dev/null || skip "root can't run PostgreSQL, and there is no setpriv"
    as="setpriv --reuid=postgres --regid=postgres --clear-groups"
else
    as=
fi

# A cluster that no server has opened yet, for this version of PostgreSQL. A copy takes a third of what making one does.
made=$(dirname "$0")/../../build/postgres-$("$bin/initdb" --version | awk '{print $3}')-$(id -u)

# Others may look for it at the same time: it is there whole, or not at all.
keep() {
    [ -d "$(dirname "$made")" ] || return
    cp -a "$1" "$made.$$" && mv -T "$made.$$" "$made" 2>/dev/null || rm -rf "$made.$$"
}

# Commits are synced as they would be; only the making of the cluster is not.
start() {
    mkdir -m 700 "$1" || exit 1
    if [ -n "$as" ]; then
        chown postgres "$1" || exit 1
    fi
    if [ ! -d "$made" ] || ! cp -a "$made" "$1/data"; then
        rm -rf "$1/data"
        ( cd "$1" && $as "$bin/initdb" -D "$1/data" -U sotto --auth=trust --no-sync -E UTF8 --no-locale ) \
            >"$1/initdb.log" 2>&1 || { cat "$1/initdb.log" >&2; exit 1; }
        keep "$1/data"
    fi
    launch "$1"
    if [ -n "${SOTTO_POSTGRES_LOG_MB:-}" ]; then
        make_log "$1" $((SOTTO_POSTGRES_LOG_MB / 16)) || exit 1
    fi
    echo "host=$1 user=sotto dbname=postgres"
}

# Fills so many files with nothing; a checkpoint then names them anew, to be written over.
make_log() {
    { yes "SELECT pg_logical_emit_message(false, 'sotto', ''); SELECT pg_switch_wal();" | head -n "$2"
      echo "CHECKPOINT; SELECT pg_switch_wal(); CHECKPOINT;"; } |
        "$bin/psql" -qX -v ON_ERROR_STOP=1 -o /dev/null -h "$1" -U sotto postgres
}

launch() {
    ( cd "$1" && $as "$bin/pg_ctl" -D "$1/data" -w -t 60 -l "$1/data/log" \
        -o "-k '$1' -c listen_addresses= -c max_connections=100 -c shared_buffers=32MB -c wal_buffers=16MB \
            -c min_wal_size=${SOTTO_POSTGRES_LOG_MB:-80}MB ${SOTTO_POSTGRES_OPTIONS:-}" start ) \
        >"$1/start.log" 2>&1 || { cat "$1/start.log" "$1/data/log" >&2; exit 1; }
}

restart() {
    ( cd / && $as "$bin/pg_ctl" -D "$1/data" -w -m immediate stop ) >/dev/null 2>&1
    launch "$1"
}

stop() {
    ( cd / && $as "$bin/pg_ctl" -D "$1/data" -w -m immediate stop ) >/dev/null 2>&1
    rm -rf "$1"
}

case ${1:-} in
start)
    start "$2"
    ;;
restart)
    restart "$2"
    ;;
stop)
    stop "$2"
    ;;
run)
    shift
    dir=${TMPDIR:-/tmp}/sotto-pg-$$
    trap 'stop "$dir"' EXIT
    trap 'exit 1' INT TERM HUP
    SOTTO_POSTGRES=$(start "$dir") || exit 1
    SOTTO_POSTGRES_DIR=$dir
    export SOTTO_POSTGRES SOTTO_POSTGRES_DIR
    "$@"
    ;;
*)
    sed -n '2,8p' "$0" >&2
    exit 2
    ;;
esac
