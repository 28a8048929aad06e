#!/bin/sh
# test_docs.sh PROGRAM SOURCE CC: what docs/device.md shows is compiled, and what it says to type is typed.
program=$1
source=$2
cc=$3
page=$source/docs/device.md
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# block LANGUAGE: the page's blocks in that language, joined
block() {
    awk -v begin="\`\`\`$1" '$0 == begin {inside = 1; next} $0 == "```" {inside = 0} inside' "$page"
}

# The blocks make one program, but for the one function that they leave to the reader and a use of the static ones.
{
    block c
    echo 'sotto_status (*const used)(void *, sotto_exchange *);'
    echo 'sotto_status (*const used)(void *, sotto_exchange *) = carry;'
} >"$work/page.c"
grep -q sotto_device_open "$work/page.c" || { echo "no C was found"; exit 1; }
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$source/include" -c -o "$work/page.o" "$work/page.c" || exit 1

mkdir "$work/bin" "$work/here"
ln -s "$program" "$work/bin/sotto"
block sh >"$work/page.sh"
grep -q "sotto device tick" "$work/page.sh" || { echo "no commands were found"; exit 1; }
# With another clock in one of them, commands would contradict each other.
grep -E "sotto device [a-z]+" "$work/page.sh" | grep -v "sotto device new" | grep -v '\$now' &&
    { echo "a command without \$now"; exit 1; }
cd "$work/here" || exit 1
PATH=$work/bin:$PATH sh -eu "$work/page.sh" >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }
for text in "answered: It was answered" "1 of 1 reports are used" "acknowledged by the leader" "The ledger stays"; do
    grep -qF "$text" "$work/out" || { echo "does not say \"$text\""; cat "$work/out"; exit 1; }
done
[ "$(wc -c <"$(ls sent/*.report)")" -eq 5880 ] || { echo "the report is not as long as the page says"; exit 1; }
