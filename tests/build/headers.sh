#!/bin/sh
# headers.sh BUILD SOURCE CC: every public header compiles alone, and sotto.h includes every header. Every function that
# one declares with SOTTO_API is exported by a library, and a program that uses all of them links with that library.
build=$1
source=$2
cc=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "$*" >&2
    failed=1
}

# The functions of a header: as cmake/api.cmake finds them.
functions() {
    sed 's/#.*//' "$1" | tr '\n' ' ' | grep -oE 'SOTTO_API[^(;]*[(;]' | grep -oE 'sotto_[a-z0-9_]+\($' | tr -d '('
}
# link LIBRARY LIST: a program with a pointer to each function of all headers that the list has.
link() {
    {
        for path in "$source"/include/sotto/*.h; do
            echo "#include \"sotto/$(basename "$path")\""
        done
        echo "typedef void (*any)(void);"
        echo "any all[] = {"
        cut -d ' ' -f 2 "$work/declared" | sort -u | comm -12 - "$work/$2" | sed 's/.*/    (any)&,/'
        echo "    0};"
        echo "int main(void) { return all[0] == 0 || sizeof all == sizeof all[0]; }"
    } >"$work/uses.c"
    "$cc" -std=c11 -Wall -Werror -I"$source/include" -o "$work/uses" "$work/uses.c" -L"$build" "-l$1" \
        >"$work/log" 2>&1 && LD_LIBRARY_PATH=$build "$work/uses" || { cat "$work/log"; fail "$1: does not link"; }
}

for list in exported exported-device exported-device-full exported-analyst; do
    LC_ALL=C sort "$source/tools/$list.txt" >"$work/$list"
done
LC_ALL=C
export LC_ALL
for path in "$source"/include/sotto/*.h; do
    header=$(basename "$path")
    [ "$header" = sotto.h ] ||
        grep -q "^#include \"sotto/$header\"" "$source/include/sotto/sotto.h" || fail "sotto.h lacks $header"
    printf '#include "sotto/%s"\ntypedef int not_empty;\n' "$header" |
        "$cc" -std=c11 -Wall -Werror -I"$source/include" -fsyntax-only -xc - || fail "$header: does not compile alone"
    functions "$path" | sed "s/^/$header /"
done >"$work/declared"
sort -u "$work/exported" "$work/exported-device-full" "$work/exported-analyst" >"$work/any"
sort -k 2 "$work/declared" | join -1 2 -v 1 -o 1.1,1.2 - "$work/any" >"$work/hidden"
while read -r header function; do
    fail "$header: no library exports $function"
done <"$work/hidden"
link sotto exported
link sotto-device exported-device
link sotto-device-full exported-device-full
link sotto-analyst exported-analyst
count=$(wc -l <"$work/declared")
[ "$count" -gt 100 ] || fail "only $count functions were found in the headers"
# Who links the larger library misses nothing.
[ -z "$(comm -23 "$work/exported-device" "$work/exported-device-full")" ] || fail "libsotto-device-full lacks a function"
# An analyst needs one library: all that is public but the device itself.
for header in analyse base collect lint log privacy random recipe seal vdaf view; do
    missing=$(functions "$source/include/sotto/$header.h" | sort -u | comm -23 - "$work/exported-analyst")
    [ -z "$missing" ] || fail "$header.h: libsotto-analyst lacks" $missing
done
[ $failed -eq 0 ] && echo "$count functions, all exported"
exit $failed
