#!/bin/sh
# test_words.sh SOURCE: words.py finds a word that is not to be used, in a page, a man page, a message and a comment. It finds a
# sentence that is too long, an exception that no sentence needs, and a first run that outgrows its screen.
source=$1
here=$(cd "$(dirname "$0")" && pwd)
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT

tree=$directory/tree
mkdir -p "$tree/tests" "$tree/apps" || exit 1
cp -r "$source/docs" "$source/man" "$source/README.md" "$source/src" "$tree" || exit 1
cp -r "$source/include" "$source/fuzz" "$tree" && cp -r "$source/apps/sotto" "$tree/apps" && cp -r "$source/tests/docs" "$tree/tests" || exit 1

# All mistakes stand in one tree, since reading it takes a second. wants FILE WHAT: adds what comes from standard input to the file, and WHAT is to be
# said of it.
wants() {
    cat >>"$tree/$1" && printf '%s|%s\n' "$1" "$2" >>"$directory/wanted"
}

long="one two three four five six seven eight nine ten"
printf '\nIn earnest it is another.\n' | wants docs/collecting.md '"in earnest"'
if python3 "$here/words.py" "$tree" >"$directory/said"; then
    echo "FAILED: one mistake is no failure"
    exit 1
fi
printf '\nA batch hides in the\ncrowd of others.\n' | wants README.md '"crowd"'
printf '.Pp\nThe batch was let go.\n' | wants man/sotto.1 '"let go"'
printf 'static const char *const text = "the crowd " /* joined */\n    "is too small";\n' | wants src/base/hex.c '"crowd"'
printf '\n%s %s %s and one.\n' "$long" "$long" "$long" | wants docs/device.md 'a sentence of 32 words'
printf '\n| cell | %s %s %s and one more |\n' "$long" "$long" "$long" | wants docs/device.md 'a sentence of 33 words'
printf '.Pp\n%s %s %s\n.Ar and\none.\n' "$long" "$long" "$long" | wants man/sotto.1 'a sentence of 32 words'
printf '\n%s %s %s and one.\n' "$long" "$long" "$long" | wants src/db/README.md 'a sentence of 32 words'
printf 'static const char *const text = "%s " PRIu64\n    " %s\\n%s and one.";\n' "$long" "$long" "$long" | wants src/recipe/words.c 'a sentence of 32 words'
printf '/* Reports hide in a\n * crowd. */\n' | wants include/sotto/base.h '"crowd"'
printf '# A batch is let\n# go.\n' | wants tests/docs/comment.sh '"let go"'
printf 'int x; /* %s\n        * %s %s and one. */\n' "$long" "$long" "$long" | wants src/base/hex.c 'a sentence of 32 words'
printf '/* %s:\n *   a  %s\n *   b  %s\n *      %s %s and one\n * %s */\n' "$long" "$long" "$long" "$long" "$long" "$long" | wants src/base/hex.h 'a sentence of 33 words'
printf '# %s\n# %s %s and one.\n' "$long" "$long" "$long" | wants tests/docs/comment.sh 'a sentence of 32 words'
printf '/* %s:\n *   a  %s\n *   b  %s\n * %s */\n/* %s */ /* %s */ /* %s and one. */\n' "$long" "$long" "$long" "$long" "$long" "$long" "$long" >>"$tree/apps/sotto/show.c"
printf 'No page begins so\n' | wants tests/docs/long_sentences.txt 'no such sentence'
sed -i 's/^sotto serve helper --config helper.ini 2> helper.log &$/&\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n/' "$tree/docs/operating.md"
printf '' | wants docs/operating.md 'more than a screen'
sed -i 's/^sotto serve relay --config relay.ini 2> relay.log &$/&\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n/' "$tree/docs/operating.md"
printf '' | wants docs/operating.md 'relay: a first run of'
printf 'static const char *const text = "%s\\n\\n%s\\n  %s and one.";\n' "$long" "$long" "$long" >>"$tree/apps/sotto/show.c"
python3 "$here/words.py" "$tree" >"$directory/said"
while IFS='|' read -r file what; do
    grep -q "^$file:.*$what" "$directory/said" || echo "FAILED: $file: not found: $what"
done <"$directory/wanted" >"$directory/failed"
grep show.c "$directory/said" && echo "FAILED: paragraphs and rows of a message or a comment are one sentence" >>"$directory/failed"
if [ -s "$directory/failed" ]; then
    cat "$directory/failed" "$directory/said"
    exit 1
fi
