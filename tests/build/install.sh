#!/bin/sh
# install.sh BUILD SOURCE CMAKE CC: installs into an empty directory and builds examples/ against it, by
# find_package and by pkg-config.
build=$1
source=$2
cmake=$3
cc=$4
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
set -e

"$cmake" --install "$build" --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
# An installed tree can be moved: nothing in it may name the place it was built or installed for.
mv "$work/prefix" "$work/moved"

"$cmake" -S "$source/examples" -B "$work/examples" -DCMAKE_PREFIX_PATH="$work/moved" \
    -DCMAKE_C_COMPILER="$cc" >"$work/log" || { cat "$work/log"; exit 1; }
"$cmake" --build "$work/examples" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
for example in sum_vec seal recipe; do
    "$work/examples/$example" >/dev/null
    "$work/examples/${example}_static" >/dev/null
done
echo "find_package: ok"

pc=$(find "$work/moved" -name sotto.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
LD_LIBRARY_PATH=$(pkg-config --variable=libdir sotto)
export LD_LIBRARY_PATH
"$cc" -std=c11 -o "$work/seal" "$source/examples/seal.c" $(pkg-config --cflags --libs sotto)
"$work/seal" >/dev/null
"$cc" -std=c11 -o "$work/recipe" "$source/examples/recipe.c" $(pkg-config --cflags --libs sotto-device)
"$work/recipe" >/dev/null
echo "pkg-config: ok"
