#!/bin/sh
# bench.sh: our benchmarks, then the peers' where they are built, on one pinned core.
set -eu
cd "$(dirname "$0")/.."
pin=
if command -v taskset >/dev/null; then
    pin="taskset -c 0"
fi
$pin build/release/sotto-bench "$@"
if [ -e build/peers-fetched ] && [ -e bench/peers/prio-rs/Cargo.toml ]; then
    cargo build --quiet --release --locked --offline --manifest-path bench/peers/prio-rs/Cargo.toml
    $pin cargo run --quiet --release --locked --offline --manifest-path bench/peers/prio-rs/Cargo.toml
else
    echo "bench: no peer to compare with (make deps says why)" >&2
fi
