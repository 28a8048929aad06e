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
    echo "$*"
    failed=1
}

# The functions of a header: as cmake/api.cmake finds them.
functions() {
    sed 's/#.*//' "$1" | tr '\n' ' ' | grep -oE 'SOTTO_API[^(;]*[(;]' | grep -oE 'sotto_[a-z0-9_]+\($' | tr -d '('
}
# link HEADER LIBRARY LIST: a program with a pointer to each function of the header that the list has.
link() {
    {
        echo "#include \"sotto/$1\""
        echo "typedef void (*any)(void);"
        echo "any all[] = {"
        functions "$source/include/sotto/$1" | sort -u | comm -12 - "$work/$3" | sed 's/.*/    (any)&,/'
        echo "    0};"
        echo "int main(void) { return all[0] == 0 && sizeof all > sizeof all[0]; }"
    } >"$work/uses.c"
    "$cc" -std=c11 -Wall -Werror -I"$source/include" -o "$work/uses" "$work/uses.c" -L"$build" "-l$2" \
        >"$work/log" 2>&1 && LD_LIBRARY_PATH=$build "$work/uses" || { cat "$work/log"; fail "$1 with $2: does not link"; }
}

for list in exported exported-device exported-device-full exported-analyst; do
    LC_ALL=C sort "$source/tools/$list.txt" >"$work/$list"
done
LC_ALL=C
export LC_ALL
count=0
for path in "$source"/include/sotto/*.h; do
    header=$(basename "$path")
    [ "$header" = sotto.h ] ||
        grep -q "^#include \"sotto/$header\"" "$source/include/sotto/sotto.h" || fail "sotto.h lacks $header"
    for function in $(functions "$path"); do
        grep -qx "$function" "$work/exported" "$work/exported-device-full" "$work/exported-analyst" ||
            fail "$header: no library exports $function"
        count=$((count + 1))
    done
    link "$header" sotto exported
    link "$header" sotto-device exported-device
    link "$header" sotto-device-full exported-device-full
    link "$header" sotto-analyst exported-analyst
done
[ "$count" -gt 100 ] || fail "only $count functions were found in the headers"
# Who links the larger library misses nothing.
[ -z "$(comm -23 "$work/exported-device" "$work/exported-device-full")" ] || fail "libsotto-device-full lacks a function"
# An analyst needs one library: all that is public but the device itself.
for header in analyse base collect lint log privacy random recipe seal vdaf view; do
    for function in $(functions "$source/include/sotto/$header.h"); do
        grep -qx "$function" "$work/exported-analyst" || fail "$header.h: libsotto-analyst lacks $function"
    done
done
[ $failed -eq 0 ] && echo "$count functions, all exported"
exit $failed
