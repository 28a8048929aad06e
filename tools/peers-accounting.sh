#!/bin/sh
# peers-accounting.sh [--tasks]: runs the accounting peers beside sotto-bench and prints the table.
# Their Python packages are kept in build/peers-accounting, made on the first run. Without Python or the
# packages' registry the peers are reported as skipped, which is no failure.
set -u
cd "$(dirname "$0")/.." || exit 1
venv=build/peers-accounting
bench=build/release/sotto-bench
peers=bench/peers/accounting

skip() {
    echo "peers-accounting: skipped: $1"
    exit 0
}

[ -x "$bench" ] || { echo "peers-accounting: build first (make build)"; exit 1; }
if [ ! -e "$venv/ready" ]; then
    command -v python3 >/dev/null || skip "no python3"
    python3 -m venv "$venv" 2>/dev/null || skip "python3 has no venv"
    "$venv/bin/pip" install --quiet -r "$peers/requirements.txt" >"$venv/log" 2>&1 ||
        skip "the packages cannot be installed; see $venv/log"
    touch "$venv/ready"
fi
"$bench" --filter privacy/account --json --seconds "${SECONDS_EACH:-0.5}" >"$venv/ours.jsonl" || exit 1
exec "$venv/bin/python" "$peers/compare.py" "$venv/ours.jsonl"
