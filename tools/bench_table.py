#!/usr/bin/env python3
"""bench_table.py OURS PEER MENDED: prints all measurements of one run, then the ratios that we hold ourselves to."""
import json
import os
import sys

# name of the work, how many times faster than the peer it must be
RATIOS = [
    ("helper/Histogram-100", 7), ("helper/Histogram-1000", 8), ("helper/Histogram-10000", 6),
    ("helper/SumVec-1bit-10000", 6), ("helper/Multihot-1000", 6),
    ("helper/Sum-32", 25), ("helper/Count", 6),
    ("leader_init/Histogram-1000", 6),
    ("shard/Histogram-100", 4), ("shard/Histogram-1000", 6),
]
# name of a ratio or size measured on our side alone, the most it may be
LIMITS = [
    ("prio3/helper-over-keccak-floor-avx2/Histogram-1000", 2.3),
    ("prio3/helper-over-keccak-floor/Histogram-1000", 2.3),
    ("prio3/scalar-over-avx2/Histogram-1000", 2.5),
    ("seal/unseal-over-x25519", 1.12),
    ("prio3/helper-memory/Histogram-100000", 2.2),
]


def load(path):
    with open(path) as f:
        rows = [json.loads(line) for line in f if line.strip()]
    return {row["name"]: row for row in rows}


def micro(ns):
    return f"{ns / 1000:12.2f} us"


def main():
    ours, peer, mended_peer = (load(path) for path in sys.argv[1:4])
    missed = 0
    for name, row in ours.items():
        if "ns_per_op" in row:
            print(f"{name:52} {row['ns_per_op']:14.2f} ns")
    print()
    print(f"{'work':34} {'sotto':>15} {'prio-rs':>15} {'ratio':>8}  {'mended':>8}  at least")
    for name, least in RATIOS:
        mine = ours[f"prio3/{name}"]["ns_per_op"]
        theirs = peer.get(f"prio-rs/{name}")
        if theirs is None:
            print(f"{name:34} {micro(mine)} {'-':>15}")
            continue
        theirs = theirs["ns_per_op"]
        mended = mended_peer.get(f"prio-rs/{name}")
        mended = "-" if mended is None else f"{mended['ns_per_op'] / mine:7.1f}x"
        good = theirs / mine >= least
        missed += not good
        print(f"{name:34} {micro(mine)} {micro(theirs)} {theirs / mine:7.1f}x  {mended:>8}  {least}x"
              f"{'' if good else '  MISSED'}")
    print("(mended: the ratio to the crate with its one quadratic step as a dot product, in the same run)\n")
    for name, most in LIMITS:
        if name not in ours:
            print(f"{name:52} not measured on this machine")
            continue
        value = ours[name]["value"]
        good = value <= most
        missed += not good
        print(f"{name:52} {value:8.3f} {ours[name]['unit']:4} at most {most}{'' if good else '  MISSED'}")
    if missed:
        print(f"\n{missed} missed. On a busy machine measure again; docs/performance.md says how to read this.")
    return 1 if missed and os.environ.get("SOTTO_BENCH_CHECK") == "1" else 0


if __name__ == "__main__":
    sys.exit(main())
