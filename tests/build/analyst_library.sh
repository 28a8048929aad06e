#!/bin/sh
# analyst_library.sh LIBRARY: what an analyst's program takes in with libsotto-analyst. It is a client of servers and no
# server, so it has no library that listens. SQLite only compiles queries: nothing binds a value, copies a database or
# loads an extension. Nothing prints, and no room is missing.
library=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
needed='libcrypto|libjansson|libcurl|libsqlite3|libm|libc|ld-linux-x86-64|ld-linux-aarch64'
forbidden='listen|accept4?|bind|v?f?printf|f?puts|putchar|fwrite|perror|stdout|json_dumpf|json_dump_file|sqlite3_(bind|backup|blob|wal|load|serialize|deserialize)_?.*|PQ.*|event_.*|bufferevent_.*|sotto_.*'

readelf -d "$library" >"$work/dynamic" && nm -D --undefined-only "$library" >"$work/undefined" || exit 1
wrong=$(
    sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$work/dynamic" | grep -Ev "^($needed)\.so" | sed 's/^/needs /'
    awk '{print $NF}' "$work/undefined" | sed 's/@.*//; s/^__\(.*\)_chk$/\1/' | grep -Ex "$forbidden" | sed 's/^/calls /'
)
# It asks by HTTP and prints numbers into memory, so a list without these was not read from this library.
for witness in curl_multi_socket_action snprintf; do
    grep -q "$witness" "$work/undefined" || { echo "$library: no $witness among what it calls"; exit 1; }
done
[ -z "$wrong" ] || { echo "$library:"; echo "$wrong"; exit 1; }
echo "a client, and nothing that prints"
