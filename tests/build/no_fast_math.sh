#!/bin/sh
# no_fast_math.sh SOURCE BUILD COMPILER: the accountant's bounds need arithmetic as written. No file of this build is
# compiled without it, and a build that tried would stop.
source=$1
build=$2
compiler=$3
failed=0

compiles() {
    "$compiler" -std=c11 -I"$source/include" -I"$source/src" "$@" -fsyntax-only "$source/src/account/numeric/bound.c" 2>/dev/null
}

if grep -oE -- '-(Ofast|ffast-math|funsafe-math-optimizations|fassociative-math|freciprocal-math|ffinite-math-only)' \
    "$build/compile_commands.json"; then
    echo "compiled with the above"
    failed=1
fi
compiles || { echo "bound.c does not compile as it is"; failed=1; }
for flag in -ffast-math -Ofast -ffinite-math-only; do
    if compiles $flag; then
        echo "$flag: bound.c compiles all the same"
        failed=1
    fi
done
exit $failed
