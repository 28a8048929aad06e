#!/bin/sh
# test_words.sh SOURCE: words.py finds a word that is not to be used, in a page, a man page and a message, a sentence that is
# too long, an exception that no sentence needs, and a first run that outgrows its screen.
source=$1
here=$(cd "$(dirname "$0")" && pwd)
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT

tree=$directory/tree
mkdir -p "$tree/tests" "$tree/apps" || exit 1
cp -r "$source/docs" "$source/man" "$source/README.md" "$source/src" "$tree" || exit 1
cp -r "$source/apps/sotto" "$tree/apps" && cp -r "$source/tests/docs" "$tree/tests" || exit 1

finds() { # FILE, WHAT, and the text to be added comes from standard input
    cp "$tree/$1" "$directory/before" && cat >>"$tree/$1"
    if python3 "$here/words.py" "$tree" >"$directory/said" || ! grep -q "^$1:.*$2" "$directory/said"; then
        echo "FAILED: $1: not found: $2"
        cat "$directory/said"
        : >"$directory/failed" # this is a process of its own
    fi
    cp "$directory/before" "$tree/$1"
}

long="one two three four five six seven eight nine ten"
printf '\nIn earnest it is another.\n' | finds docs/collecting.md '"in earnest"'
printf '\nA batch hides in the\ncrowd of others.\n' | finds README.md '"crowd"'
printf '.Pp\nThe batch was let go.\n' | finds man/sotto.1 '"let go"'
printf 'static const char *const text = "the crowd " /* joined */\n    "is too small";\n' | finds src/base/hex.c '"crowd"'
printf '\n%s %s %s and one.\n' "$long" "$long" "$long" | finds docs/device.md 'a sentence of 32 words'
printf '\n| cell | %s %s %s and one |\n' "$long" "$long" "$long" | finds docs/device.md 'a sentence of 32 words'
printf '.Pp\n%s %s %s\n.Ar and\none.\n' "$long" "$long" "$long" | finds man/sotto.1 'a sentence of 32 words'
printf '\n%s %s %s and one.\n' "$long" "$long" "$long" | finds src/db/README.md 'a sentence of 32 words'
printf 'static const char *const text = "%s " PRIu64\n    " %s\\n%s and one.";\n' "$long" "$long" "$long" | finds src/recipe/words.c 'a sentence of 32 words'
printf 'static const char *const text = "%s\\n\\n%s\\n  %s and one.";\n' "$long" "$long" "$long" >>"$tree/apps/sotto/show.c"
python3 "$here/words.py" "$tree" | grep show.c && { echo "FAILED: paragraphs and rows of a message are one sentence"; exit 1; }
printf 'No page begins so\n' | finds tests/docs/long_sentences.txt 'no such sentence'
sed -i 's/^sotto serve helper --config helper.ini 2> helper.log &$/&\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n/' "$tree/docs/operating.md"
python3 "$here/words.py" "$tree" | grep -q 'more than a screen' ||
    { echo "FAILED: a screen has no end"; exit 1; }
sed -i 's/^sotto serve relay --config relay.ini 2> relay.log &$/&\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n/' "$tree/docs/operating.md"
python3 "$here/words.py" "$tree" | grep -q 'relay: a first run of' ||
    { echo "FAILED: a service's screen has no end"; exit 1; }
[ ! -e "$directory/failed" ]
