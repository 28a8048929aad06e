#!/bin/sh
# deps.sh [--no-peers]: names and installs the Debian packages that are missing. Then, without --no-peers, it fetches the crates, Go
# modules and npm packages of the peers that tests and benchmarks compare with. With everything present it touches no network.
set -u
cd "$(dirname "$0")/.." || exit 1
peers="tests/interop/prio-rs bench/peers/prio-rs tests/interop/ohttp-rs"
go_peers="tests/interop/go-tlog"

installed() {
    dpkg-query -W -f='${Status}\n' "$1" 2>/dev/null | grep -q '^install ok installed'
}

install_packages() {
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "deps: not root and no sudo here; as root, please run: apt-get install$missing" >&2
            exit 1
        fi
        as_root=sudo
    fi
    export DEBIAN_FRONTEND=noninteractive
    # A machine that has not updated its lists for long may ask for files that are gone.
    $as_root apt-get install -y --no-install-recommends $missing ||
        { $as_root apt-get update && $as_root apt-get install -y --no-install-recommends $missing; }
}

fetch_crates() (
    cd "$1" || exit 1
    cargo fetch --locked --offline >/dev/null 2>&1 && exit 0
    echo "deps: fetching the crates of $1"
    cargo fetch --locked
)

# The packages of a peer in JavaScript, into build/npm: its lock file says which.
fetch_npm() {
    folder=build/npm/$(basename "$1")
    if ! command -v npm >/dev/null; then
        echo "deps: $1 needs npm, which is not installed: skipped"
    elif [ ! -d "$folder/node_modules" ]; then
        mkdir -p "$folder" && cp "$1/package.json" "$1/package-lock.json" "$folder" || return
        echo "deps: fetching the packages of $1"
        (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund >/dev/null 2>&1) || {
            rm -rf "$folder/node_modules"
            echo "deps: the packages of $1 can't be had: skipped"
        }
    fi
}

fetch_peers() {
    rm -f build/peers-fetched
    found=0
    for peer in $peers; do
        if [ ! -e "$peer/Cargo.toml" ]; then
            echo "deps: $peer is not in this tree, skipped"
        elif ! command -v cargo >/dev/null; then
            echo "deps: $peer needs cargo, which is not installed: skipped"
            return
        elif ! fetch_crates "$peer"; then
            echo "deps: the crates of $peer can't be had: skipped"
            return
        else
            found=$((found + 1))
        fi
    done
    if [ "$found" -gt 0 ]; then
        mkdir -p build && touch build/peers-fetched
    fi
}

fetch_go_peers() {
    for peer in $go_peers; do
        if [ ! -e "$peer/go.mod" ]; then
            echo "deps: $peer is not in this tree, skipped"
        elif ! command -v go >/dev/null; then
            echo "deps: $peer needs go, which is not installed: skipped"
        elif ! (cd "$peer" && { GOPROXY=off go mod download >/dev/null 2>&1 || go mod download; }); then
            echo "deps: the modules of $peer can't be had: skipped"
        fi
    done
}

missing=
if command -v dpkg-query >/dev/null; then
    for package in $(grep -v '^#' tools/packages.txt); do
        installed "$package" || missing="$missing $package"
    done
else
    echo "deps: not a Debian system; tools/packages.txt lists what is needed, by Debian's names"
fi
if [ -n "$missing" ]; then
    echo "deps: missing:$missing"
    install_packages || exit 1
fi
if [ "${1:-}" != --no-peers ]; then
    fetch_npm tests/interop/privacypass-ts
    fetch_peers
    fetch_go_peers
fi
