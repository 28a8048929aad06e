#!/bin/sh
# bench.sh [seconds]: our benchmarks and the peer's, both on one pinned core, and the ratios of this run.
# Seconds are spent on each case, of which there are about a hundred. SOTTO_BENCH_CHECK=1 makes a miss fail.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-0.5}
out=build/bench
mkdir -p "$out"
core=$(($(nproc) - 1))
pin=
if command -v taskset >/dev/null; then
    pin="taskset -c $core"
fi
echo "bench: measuring ours, then the peer, $seconds s a case" >&2
$pin build/release/sotto-bench --json --seconds "$seconds" >"$out/sotto.jsonl"
: >"$out/prio-rs.jsonl"
: >"$out/prio-mended.jsonl"
if command -v cargo >/dev/null && cargo build --quiet --release --locked --offline \
    --manifest-path bench/peers/prio-rs/Cargo.toml --target-dir build/release/cargo/prio-bench 2>"$out/cargo.log"; then
    $pin build/release/cargo/prio-bench/release/prio-bench --seconds "$seconds" >"$out/prio-rs.jsonl"
    # The same with the crate's quadratic step mended, in a copy (bench/peers/prio-rs/mend.py).
    mended=build/release/cargo/prio-mended
    if python3 bench/peers/prio-rs/mend.py "$mended/source" 2>>"$out/cargo.log" && cargo build --quiet --release --offline \
        --manifest-path "$mended/source/bench/Cargo.toml" --target-dir "$mended" 2>>"$out/cargo.log"; then
        $pin "$mended/release/prio-bench" --seconds "$seconds" >"$out/prio-mended.jsonl"
    else
        echo "bench: the peer's step could not be mended; $out/cargo.log says why" >&2
    fi
else
    echo "bench: no peer to compare with: cargo or its crates are missing (make deps says why)" >&2
fi
python3 tools/bench_table.py "$out/sotto.jsonl" "$out/prio-rs.jsonl" "$out/prio-mended.jsonl"
