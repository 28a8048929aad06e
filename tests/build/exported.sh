#!/bin/sh
# exported.sh LIBRARY LIST INCLUDE: the library exports exactly the symbols of the list, and each of them
# is declared in a public header.
library=$1
list=$2
include=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

"$(dirname "$0")"/../../tools/exported.sh "$library" >"$work/now" || exit 1
if ! diff -u "$list" "$work/now"; then
    echo "the exported symbols have changed: if that is meant, run"
    echo "    tools/exported.sh $library > tools/$(basename "$list")"
    exit 1
fi
while read -r symbol; do
    if ! grep -rqw "$symbol" "$include"; then
        echo "$symbol is exported, but no public header declares it"
        exit 1
    fi
done <"$list"
echo "$(wc -l <"$list") symbols, all public"
