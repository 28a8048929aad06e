#!/bin/sh
# Holds the accountant against the published reference numbers, which live outside of this tree.
#   test_golden_published.sh PROGRAM PROJECT_ROOT
# Exit 77 means skipped: there are none here.
set -eu
program=$1
root=$2
golden=${SOTTO_GOLDEN:-$root/../shared/golden}

if [ ! -d "$golden" ]; then
    echo "skipped: no reference numbers at $golden; SOTTO_GOLDEN names their folder"
    exit 77
fi
exec "$program" "$golden"
