#!/bin/sh
# Holds the accountant against the published reference numbers, which live outside of this tree.
#   test_golden_published.sh PROGRAM PROJECT_ROOT
# Every row must pass. Exit 77 means skipped: there are no reference numbers here.
set -eu
program=$1
root=$2
golden=${SOTTO_GOLDEN:-$root/../shared/golden}

if [ ! -d "$golden" ]; then
    echo "skipped: no reference numbers at $golden; SOTTO_GOLDEN names their folder"
    exit 77
fi
out=$(mktemp)
trap 'rm -f "$out"' EXIT
failed=0
"$program" "$golden" >"$out" || failed=1
tail -n 20 "$out"
# "3919 passed, 0 failed, 1 skipped": a run over no row at all is none.
grep -qE '^[1-9][0-9]* passed, 0 failed' "$out" || failed=1
exit "$failed"
