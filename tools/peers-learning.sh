#!/bin/sh
# peers-learning.sh: a device's update in PyTorch beside sotto-bench's, on one pinned core, and the ratios of this run.
# PyTorch is kept in build/peers-learning, made on the first run. Without Python or the packages' registry the peer
# is reported as skipped, which is no failure.
set -u
cd "$(dirname "$0")/.." || exit 1
venv=build/peers-learning
bench=build/release/sotto-bench
peer=bench/peers/torch
pin=
command -v taskset >/dev/null && pin="taskset -c $(($(nproc) - 1))"

skip() {
    echo "peers-learning: skipped: $1"
    exit 0
}

[ -x "$bench" ] || { echo "peers-learning: build first (make build)"; exit 1; }
mkdir -p build
$pin "$bench" --filter learning/client --json --seconds "${SECONDS_EACH:-2}" >build/peers-learning.jsonl || exit 1
if [ ! -e "$venv/ready" ]; then
    command -v python3 >/dev/null || skip "no python3"
    python3 -m venv "$venv" 2>/dev/null || skip "python3 has no venv"
    "$venv/bin/pip" install --quiet -r "$peer/requirements.txt" >"$venv/log" 2>&1 ||
        skip "PyTorch cannot be installed; see $venv/log"
    touch "$venv/ready"
fi
OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 $pin "$venv/bin/python" "$peer/learning.py" "${SECONDS_EACH:-2}" >"$venv/theirs.jsonl" || exit 1
exec "$venv/bin/python" - build/peers-learning.jsonl "$venv/theirs.jsonl" <<'PY'
import json, sys
ours, theirs = ({row["name"]: row for row in map(json.loads, open(path))} for path in sys.argv[1:])
for name, least in (("lenet", 4), ("mlp", 0), ("logistic", 7)):
    mine, other = ours[f"learning/client/{name}"]["ns_per_op"], theirs[f"learning/client/{name}"]["ns_per_op"]
    verdict = "" if not least else f"at least {least}x" + ("" if other / mine >= least else "  MISSED")
    print(f"{name:10} sotto {mine / 1e6:8.3f} ms   torch {other / 1e6:8.3f} ms   {other / mine:5.1f}x  {verdict}")
PY
