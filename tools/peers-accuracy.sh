#!/bin/sh
# peers-accuracy.sh DATA...: accuracy of FedAvg and DP-FedAvg in `sotto sim learn` and in PyTorch, three seeds each, on files of
# `sotto learn data`. LeNet, 100 rounds of 60 devices. Uses the Python of tools/peers-learning.sh. About six minutes of one core a file.
set -u
cd "$(dirname "$0")/.." || exit 1
python=build/peers-learning/bin/python
seeds=${SEEDS:-1 2 3}
rounds=${ROUNDS:-100}
cohort=60
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

[ -x "$python" ] || { echo "peers-accuracy: skipped: run tools/peers-learning.sh first"; exit 0; }
[ $# -gt 0 ] || { echo "usage: tools/peers-accuracy.sh DATA..."; exit 2; }

# Prints the mean of the numbers on its input, and the numbers.
mean() {
    awk '{ sum += $1; all = all " " $1 } END { printf "%.2f (%s)", sum / NR, substr(all, 2) }'
}

ours() {
    for seed in $seeds; do
        build/release/sotto-sim learn --data "$1" --rounds "$rounds" --cohort $cohort --clip "$2" --noise "$3" --delta 1e-3 \
            --seed "$seed" --evaluate "$rounds" --threads 1 --quiet --json |
            "$python" -c 'import json, sys; print("%.2f" % (100 * json.load(sys.stdin)["accuracy"]))'
    done | mean
}

theirs() {
    for seed in $seeds; do
        "$python" bench/peers/torch/accuracy.py "$1" --rounds "$rounds" --cohort $cohort --clip "$2" --noise "$3" --seed "$seed"
    done | mean
}

for data in "$@"; do
    # Plain FedAvg: a clip that no update reaches, and no noise. DP-FedAvg: a clip of 0.5, and noise of one clip.
    for law in "10 0" "0.5 1"; do
        set -- $law
        echo "$(basename "$data"), clip $1, noise $2: sotto $(ours "$data" "$1" "$2"), PyTorch $(theirs "$data" "$1" "$2")"
    done
done
