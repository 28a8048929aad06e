#!/bin/sh
# run-with-peer.sh CRATE TARGET PROGRAM TEST [ARGUMENT...]
# run-with-peer.sh --build CRATE TARGET
#
# Builds the Rust program PROGRAM of the folder CRATE into the folder TARGET, without the network, and
# runs TEST with SOTTO_PEER naming it. With --build it only builds, where it can: the build of the tests begins
# that way, and the test says what is missing. Where it can't be built (no cargo, or its crates were never
# fetched) the test is skipped: exit 77 and a sentence. SOTTO_REQUIRE_PEERS=1 makes that a failure.
set -u

build() (
    cd "$1" && cargo build --release --offline --locked --quiet --target-dir "$2"
)

if [ "$1" = --build ]; then
    command -v cargo >/dev/null 2>&1 && build "$2" "$3" >/dev/null 2>&1
    exit 0
fi
crate=$1
target=$2
program=$3
shift 3

no_peer() {
    if [ "${SOTTO_REQUIRE_PEERS:-0}" = 1 ]; then
        echo "failed: $1, and SOTTO_REQUIRE_PEERS=1 asks for $program" >&2
        exit 1
    fi
    echo "skipped: $1, so there is no $program to exchange reports with" >&2
    exit 77
}

command -v cargo >/dev/null 2>&1 || no_peer "cargo is not installed"
build "$crate" "$target" ||
    no_peer "cargo can't build $program offline (make deps fetches its crates)"

SOTTO_PEER="$target/release/$program" exec "$@"
