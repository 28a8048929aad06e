#!/bin/sh
# conformance.sh SOURCE: every test that docs/protocols/dap-conformance.md names is one, in the program that it names; and every
# file and function that it names is in src/.
LC_ALL=C
export LC_ALL
source=$1
page=$source/docs/protocols/dap-conformance.md
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# "program case": what stands in backticks in the fourth column. A name without a program is of the one before it; what is
# neither, such as a function, is left out.
awk -F'|' '/^\|/ && NF == 7 {
    count = split($5, parts, "`"); program = ""
    for (i = 2; i <= count; i += 2) {
        if (split(parts[i], pair, ": ") == 2) { program = pair[1]; print program, pair[2] }
        else if (program != "") print program, parts[i]
    }
}' "$page" | sort -u >"$work/named"

awk 'FNR == 1 {
    count = split(FILENAME, parts, "/"); room = parts[count - 1]; name = parts[count]
    sub(/^test_/, "", name); sub(/\.c$/, "", name); sub("^" room "_", "", name)
}
{
    line = $0
    while (match(line, /CASE\([a-z0-9_]*\)/)) {
        print room "_" name, substr(line, RSTART + 5, RLENGTH - 6)
        line = substr(line, RSTART + RLENGTH)
    }
}' "$source"/tests/*/test_*.c | sort -u >"$work/there"

[ "$(wc -l <"$work/named")" -ge 80 ] || { echo "hardly any test was found on the page"; exit 1; }
missing=$(comm -23 "$work/named" "$work/there")
[ -z "$missing" ] || { printf 'no such test:\n%s\n' "$missing"; exit 1; }

# "where": what stands in backticks in the third column. Only names of files, and of functions with an underscore, are looked up.
awk -F'|' '/^\|/ && NF == 7 { count = split($4, parts, "`"); for (i = 2; i <= count; i += 2) print parts[i] }' "$page" |
    sort -u >"$work/where"
find "$source/src" -name '*.[ch]' | sed 's|^|/|' >"$work/files"
gone=$(grep -E '^[a-z0-9_/]+\.[ch]$' "$work/where" | while read -r name; do
    grep -q "/$name\$" "$work/files" || echo "$name"
done)
[ -z "$gone" ] || { printf 'no such file:\n%s\n' "$gone"; exit 1; }
grep -rhoE '\b[a-z][a-z0-9]*(_[a-z0-9]+)+\b' "$source/src" --include='*.[ch]' | sort -u >"$work/words"
gone=$(grep -E '^[a-z][a-z0-9]*(_[a-z0-9]+)+$' "$work/where" | comm -23 - "$work/words")
[ -z "$gone" ] || { printf 'no such function:\n%s\n' "$gone"; exit 1; }
[ "$(grep -c '\.[ch]$' "$work/where")" -ge 20 ] || { echo "hardly any file was found on the page"; exit 1; }
