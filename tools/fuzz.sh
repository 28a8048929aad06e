#!/bin/sh
# fuzz.sh SECONDS: builds every fuzzer and runs each for that long. What it finds is left in build/fuzz/.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
failed=
for source in fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    seeds=fuzz/corpus/${name#fuzz_}
    grown=build/fuzz/grown/$name
    mkdir -p "$grown"
    echo "== $name, $seconds s"
    build/fuzz/"$name" -max_total_time="$seconds" -print_final_stats=1 -verbosity=0 \
        -artifact_prefix=build/fuzz/"$name"- "$grown" "$seeds" || failed="$failed $name"
done
if [ -n "$failed" ]; then
    echo "fuzz: failed:$failed"
    exit 1
fi
