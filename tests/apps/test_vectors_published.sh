#!/bin/sh
# Runs sotto-vectors over the published vectors, which live outside of this tree.
#   test_vectors_published.sh PROGRAM PROJECT_ROOT
# Exit 77 means skipped: there are none here.
set -eu
program=$1
root=$2
vectors=${SOTTO_VECTORS:-$root/../shared/vectors}

if [ ! -d "$vectors" ]; then
    echo "skipped: no published vectors at $vectors; SOTTO_VECTORS names their folder"
    exit 77
fi
exec "$program" "$vectors"
