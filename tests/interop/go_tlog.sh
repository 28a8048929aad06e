#!/bin/sh
# go_tlog.sh PEER_SOURCE BUILD MAKE_TLOG SOTTO_VECTORS: notes, keys, trees, tiles and proofs with Go's sumdb, in both directions. Exit 77
# means skipped: no go, or its module can't be had.
# go_tlog.sh --build PEER_SOURCE BUILD: builds the peer ahead of the test, which says it if that fails.
set -u
if [ "$1" = --build ]; then
    mkdir -p "$3" && cd "$2" && GOFLAGS=-mod=readonly go build -o "$3/tlog-peer" . >"$3/log" 2>&1
    exit 0
fi
source=$1
build=$2
make_tlog=$3
vectors=$4

skip() {
    echo "skipped: $1"
    [ -z "${SOTTO_REQUIRE_PEERS:-}" ] && exit 77
    exit 1
}

command -v go >/dev/null || skip "go is not installed"
mkdir -p "$build" || exit 1
(cd "$source" && GOFLAGS=-mod=readonly go build -o "$build/tlog-peer" .) >"$build/log" 2>&1 ||
    { cat "$build/log"; skip "golang.org/x/mod can't be had or built"; }
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
mkdir "$directory/merkle" "$directory/log"
# Go signs and proves, sotto checks.
"$build/tlog-peer" make "$directory/merkle" || exit 1
"$vectors" "$directory/merkle" || exit 1
# And finds a tile that is not the one that Go signed.
mkdir "$directory/changed"
sed 's|"tile/0/000": "....|"tile/0/000": "0000|' "$directory/merkle/log.json" >"$directory/changed/log.json"
if "$vectors" "$directory/changed" >"$directory/said"; then
    echo "a changed tile passes"
    exit 1
fi
grep -q 'size 258.: inclusion proof: leads to another root$' "$directory/said" || { cat "$directory/said"; exit 1; }
# sotto signs and proves, Go checks.
"$make_tlog" "$directory/log" || exit 1
"$build/tlog-peer" check "$directory/log"
