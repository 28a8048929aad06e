#!/bin/sh
# open_loop.sh [RUNS [SECONDS]]: latency of 5,000 requests a second with one Count each, RUNS runs (5) of SECONDS (60).
# A run meets the goal if 99 % are answered within 50 ms, or within twice the 99th percentile of a sync of the same disk.
# All requests must have been acknowledged at that rate. Prints a line for each run; exits with 1 if one misses it.
# Figures count on an idle machine alone: others-cpu says what other programs took.
set -eu
cd "$(dirname "$0")/.."
runs=${1:-5}
seconds=${2:-60}
out=build/bench/open-loop
mkdir -p "$out"
run=1
while [ "$run" -le "$runs" ]; do
    build/release/sotto-bench --filter pipeline/Count-open-loop/ --seconds "$seconds" >"$out/$run.txt"
    run=$((run + 1))
done
run=1
while [ "$run" -le "$runs" ]; do
    awk -v run="$run" '
        { n = split($1, part, "/"); value[part[n]] = $2 }
        END {
            if (!("latency-p99" in value) || !("sync-p99" in value))
                exit 1
            goal = 2 * value["sync-p99"] > 50 ? 2 * value["sync-p99"] : 50
            met = value["latency-p99"] <= goal && value["speed"] >= 0.99 * value["speed-goal"]
            printf "run %d: %s  speed %.0f/s  latency p50 %.1f p99 %.1f ms (goal %.1f)  sync p50 %.1f p99 %.1f ms  others %.1f %%\n",
                run, met ? "met   " : "missed", value["speed"], value["latency-p50"], value["latency-p99"], goal,
                value["sync-p50"], value["sync-p99"], value["others-cpu"]
            exit !met
        }' "$out/$run.txt" || missed=1
    run=$((run + 1))
done
[ -z "${missed:-}" ]
