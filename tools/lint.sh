#!/bin/sh
# lint.sh: everything about the source that a machine can judge. Runs all checks, then fails if one did.
set -u
cd "$(dirname "$0")/.." || exit 1
failed=
files=$(git ls-files '*.c' '*.h')
ours=$(git ls-files 'src/*.c' 'src/*.h' 'include/*.h' 'apps/*.c' 'apps/*.h')

section() {
    name=$1
    shift
    begin=$(date +%s)
    echo "-- $name"
    "$@" || failed="$failed '$name'"
    echo "   $(($(date +%s) - begin)) s"
}

check_format() {
    clang-format --dry-run --Werror $files
}

# The accountant works with logarithms of masses, where log(0) is the -infinity that is meant.
check_cppcheck() {
    cppcheck --quiet --std=c11 --enable=warning,portability,performance --inline-suppr -j2 \
        --error-exitcode=1 --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches \
        '--suppress=invalidFunctionArg:src/account/*' \
        -Iinclude -Isrc src apps fuzz
}

check_tidy() {
    cmake --preset tidy >/dev/null || return 1
    # Only what this build compiles: a file for another processor has no compile command here. Each file once: clang-tidy
    # would go through it again for every variant that it is compiled in. Eight to a process: starting one costs as much as a small file.
    mkdir -p build/tidy/once
    python3 -c 'import json
once = {}
for entry in json.load(open("build/tidy/compile_commands.json")): once.setdefault(entry["file"], entry)
json.dump(list(once.values()), open("build/tidy/once/compile_commands.json", "w"))
for file in once: print(file)' |
        sed "s|^$PWD/||" | grep -E '^(src|apps|bench|fuzz)/' | sort |
        xargs -P2 -n8 clang-tidy --quiet -p build/tidy/once --extra-arg=-Xclang --extra-arg=-analyzer-config \
            --extra-arg=-Xclang --extra-arg="max-nodes=${SOTTO_TIDY_NODES:-50000}" 2>build/tidy/log
    status=$?
    # The log is mostly a count of suppressed warnings; it matters only where something failed.
    [ $status -eq 0 ] || grep -vE 'warnings? generated' build/tidy/log
    return $status
}

check_headers() {
    status=0
    for header in include/sotto/*.h; do
        line="#include \"${header#include/}\"
typedef int sotto_not_empty;"
        echo "$line" | cc -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -xc - ||
            status=1
        echo "$line" | c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -xc++ - ||
            status=1
    done
    return $status
}

check_longest() {
    python3 tools/longest.py 120 $(echo "$files" | grep '\.c$')
}

check_allocation() {
    ! grep -nE '\b(malloc|calloc|realloc|aligned_alloc|posix_memalign|strdup|free)[(]' \
        $(echo "$ours" | grep '^src/' | grep -vE '^src/base/alloc(_kept)?\.c$')
}

check_promises() {
    ! git grep -nwE 'TO''DO|FIX''ME|XX''X' -- ':!LICENSE' && ! git grep -nE '^(<<<<<<<|>>>>>>>) '
}

check_scripts() {
    for script in $(git ls-files '*.sh' tools/hooks .ci); do
        bash -n "$script" || return 1
    done
}

# Beside the others, which do not keep a second core busy.
beside=$(mktemp) || exit 1
trap 'rm -f "$beside"' EXIT
(section "cppcheck" check_cppcheck && [ -z "$failed" ]) >"$beside" 2>&1 &
cppcheck=$!

section "format" check_format
section "rooms" python3 tools/rooms.py
section "headers compile alone, as C11 and C++17" check_headers
section "ten longest functions" check_longest
section "memory comes from base/alloc" check_allocation
section "nothing left for later" check_promises
section "rules are guards and listed" sh tests/rules.sh . build --listed
section "scripts parse" check_scripts
section "clang-tidy" check_tidy
wait $cppcheck || failed="$failed 'cppcheck'"
cat "$beside"
if [ -n "$failed" ]; then
    echo "lint: failed:$failed"
    exit 1
fi
echo "lint: all well"
