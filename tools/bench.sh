#!/bin/sh
# bench.sh [seconds]: our benchmarks and the peer's, both on one pinned core, and the ratios of this run.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-1}
out=build/bench
mkdir -p "$out"
core=$(($(nproc) - 1))
pin=
if command -v taskset >/dev/null; then
    pin="taskset -c $core"
fi
$pin build/release/sotto-bench --json --seconds "$seconds" >"$out/sotto.jsonl"
: >"$out/prio-rs.jsonl"
if command -v cargo >/dev/null && cargo build --quiet --release --locked --offline \
    --manifest-path bench/peers/prio-rs/Cargo.toml --target-dir build/release/cargo/prio-bench 2>"$out/cargo.log"; then
    $pin build/release/cargo/prio-bench/release/prio-bench --seconds "$seconds" >"$out/prio-rs.jsonl"
else
    echo "bench: no peer to compare with: cargo or its crates are missing (make deps says why)" >&2
fi
python3 tools/bench_table.py "$out/sotto.jsonl" "$out/prio-rs.jsonl"
