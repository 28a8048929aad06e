#!/bin/sh
# peers-flower.sh [CLIENTS]: the whole server side of a round in Flower's SecAgg+ beside ours, on one core, in one run: 512 clients
# (or 64) with 16,384 numbers (4,096). Flower is kept in build/peers-flower, made on the first run; PEER_PYTHON names a Python that
# has it. Without Python or the package's registry the peer is reported as skipped, which is no failure. An idle machine is
# needed; Flower's clients, in Python, take ten minutes or more.
set -u
cd "$(dirname "$0")/.." || exit 1
venv=build/peers-flower
bench=build/release/sotto-bench
peer=bench/peers/flower
python=${PEER_PYTHON:-$venv/bin/python}

skip() {
    echo "peers-flower: skipped: $1"
    exit 0
}

[ -x "$bench" ] || { echo "peers-flower: build first (make build)"; exit 1; }
if [ -z "${PEER_PYTHON:-}" ] && [ ! -e "$venv/ready" ]; then
    command -v python3 >/dev/null || skip "no python3"
    python3 -m venv "$venv" 2>/dev/null || skip "python3 has no venv"
    "$venv/bin/pip" install --quiet -r "$peer/requirements.txt" >"$venv/log" 2>&1 ||
        skip "Flower cannot be installed; see $venv/log"
    touch "$venv/ready"
fi
exec "$python" "$peer/compare.py" "$bench" --clients "${1:-512}"
