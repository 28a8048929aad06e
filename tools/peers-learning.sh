#!/bin/sh
# peers-learning.sh: a device's update in PyTorch, and a round of 100 devices in pfl-research and Flower, beside sotto-bench's,
# on one pinned core, and the ratios of this run. Peers are kept in build/peers-learning, made on the first run: 6 GB.
# One that can't be installed or run is reported as skipped, which is no failure.
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
$pin "$bench" --filter learning/ --json --seconds "${SECONDS_EACH:-2}" >build/peers-learning.jsonl || exit 1
if [ ! -e "$venv/ready" ]; then
    command -v python3 >/dev/null || skip "no python3"
    python3 -m venv "$venv" 2>/dev/null || skip "python3 has no venv"
    "$venv/bin/pip" install --quiet -r "$peer/requirements.txt" >"$venv/log" 2>&1 ||
        skip "PyTorch cannot be installed; see $venv/log"
    touch "$venv/ready"
fi
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
$pin "$venv/bin/python" "$peer/learning.py" "${SECONDS_EACH:-2}" >"$venv/theirs.jsonl" || exit 1
for simulator in pfl flower; do
    $pin "$venv/bin/python" "$peer/rounds.py" $simulator >"$venv/$simulator.log" 2>&1
    grep '^{"name"' "$venv/$simulator.log" >>"$venv/theirs.jsonl" ||
        echo "peers-learning: skipped: $simulator; see $venv/$simulator.log"
done
exec "$venv/bin/python" - build/peers-learning.jsonl "$venv/theirs.jsonl" <<'PY'
import json, sys
ours, theirs = ({row["name"]: row for row in map(json.loads, open(path))} for path in sys.argv[1:])
client, one_round = "learning/client/", "learning/round-of-100/lenet"
for mine, other, least in ((client + "lenet", client + "lenet", 4), (client + "mlp", client + "mlp", 0),
                           (client + "logistic", client + "logistic", 7), (one_round, one_round + "/pfl", 5),
                           (one_round, one_round + "/flower", 5)):
    if other not in theirs:
        continue
    us, them = ours[mine]["ns_per_op"], theirs[other]["ns_per_op"]
    verdict = "" if not least else f"at least {least}x" + ("" if them / us >= least else "  MISSED")
    print(f"{mine[9:]:20} sotto {us / 1e6:9.3f} ms   {theirs[other]['peer']:20} {them / 1e6:9.3f} ms   {them / us:5.1f}x  {verdict}")
PY
