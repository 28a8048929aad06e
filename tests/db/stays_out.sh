#!/bin/sh
# stays_out.sh LIBRARY...: none of them needs libpq, or holds a function of the servers' database.
for library in "$@"; do
    needs=$(objdump -p "$library" | grep NEEDED) || exit 1
    if echo "$needs" | grep -q libpq || nm "$library" | grep -q 'sotto_db_'; then
        echo "$library: linked with what only servers need"
        exit 1
    fi
done
