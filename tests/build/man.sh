#!/bin/sh
# man.sh SOURCE PROGRAM: every man page is formatted without a complaint, and leaves out no verb and no function.
source=$1
program=$2
failed=0

if ! command -v mandoc >/dev/null && ! command -v groff >/dev/null; then
    echo "neither mandoc nor groff is here"
    exit 77
fi
for page in "$source"/man/*.[13]; do
    name=$(basename "$page")
    if command -v mandoc >/dev/null; then
        said=$(mandoc -Tlint -Wwarning "$page" 2>&1)
    else
        said=$(groff -mandoc -ww -z "$page" 2>&1)
    fi
    if [ -n "$said" ]; then
        echo "$said"
        failed=1
    fi
    grep -q "^\.Dt $(echo "${name%.*}" | tr a-z A-Z) ${name##*.}$" "$page" || { echo "$name: another title"; failed=1; }
done

# verbs_of WORDS...: the names in a table of verbs
verbs_of() {
    "$program" "$@" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'
}
for verb in $(verbs_of); do
    grep -q "^\.It Nm Cm $verb$" "$source/man/sotto.1" || { echo "sotto.1: no $verb"; failed=1; }
done
for part in device parties recipe; do
    for verb in $(verbs_of $part); do
        grep -q "^\.It Cm $verb$" "$source/man/sotto-$part.1" || { echo "sotto-$part.1: no $verb"; failed=1; }
        for option in $("$program" $part "$verb" --help | sed -n 's/^  --\([a-z-]*\).*/\1/p'); do
            grep -q -- "Fl -$option" "$source/man/sotto-$part.1" || { echo "sotto-$part.1: no --$option"; failed=1; }
        done
    done
done
# page_of LIBRARY HEADER...: the library's page has every function of these headers.
page_of() {
    library=$1
    shift
    functions=$(for header in "$@"; do grep -o 'sotto_[a-z_]*(' "$source/include/sotto/$header.h"; done | tr -d '(' | sort -u)
    for function in $(grep -h -o '^sotto_[a-z_]*$' "$source/tools/exported-$library.txt"); do
        echo "$functions" | grep -qx "$function" || continue
        grep -q "^\.Fn $function" "$source/man/libsotto-$library.3" || { echo "libsotto-$library.3: no $function"; failed=1; }
    done
}
page_of device device
page_of analyst collect analyse view
exit $failed
