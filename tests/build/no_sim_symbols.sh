#!/bin/sh
# no_sim_symbols.sh WITNESS FILE...: no FILE holds a symbol of the repeatable random source; WITNESS does,
# which shows that this test can see one.
witness=$1
shift

count() {
    # A shared library or program may have been stripped: ask for its dynamic symbols as well.
    { nm "$1" 2>/dev/null; nm -D "$1" 2>/dev/null; } | grep -c sotto_sim_
}

if [ "$(count "$witness")" -eq 0 ]; then
    echo "$witness: no sotto_sim_ symbol here, so this test would not notice one elsewhere"
    exit 1
fi
failed=0
for file in "$@"; do
    if [ ! -e "$file" ]; then
        echo "$file: not built, not checked"
        continue
    fi
    if [ "$(nm "$file" 2>/dev/null | wc -l)" -eq 0 ]; then
        echo "$file: has no symbols to look at"
        failed=1
    elif [ "$(count "$file")" -ne 0 ]; then
        echo "$file: holds symbols of the repeatable random source:"
        nm "$file" | grep sotto_sim_
        failed=1
    else
        echo "$file: clean"
    fi
done
exit $failed
