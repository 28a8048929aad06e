#!/usr/bin/env python3
"""check.py PROGRAM: asks our program 320 of the stored questions again and holds its answers against the stored numbers.

No stored verdict may be a disagreement that was not settled for us. Of each file a fixed subset, evenly spread, is asked again: the exact epsilon
must lie within [low, high]; the optimistic epsilon must not be above high, nor the pessimistic one below low. Where
the peer was found to be off, all such rows are asked and the epsilon that settled it counts instead.
Standard library only.
"""
import csv
import os
import sys
from decimal import Decimal

import questions

ASKED = {"peer": 200, "exact": 80, "amplified": 40}
FEWEST = {"peer": 10000, "exact": 300, "amplified": 100}  # a file cut short must not pass
# The peer's root is a sum of doubles and stored with 12 digits.
PEER_SLACK = Decimal("1e-9")


def wrong_peer(row, low, high):
    if row["settled_epsilon"]:
        return wrong_exact({"epsilon": row["settled_epsilon"]}, low, high)
    optimistic = Decimal(row["optimistic_epsilon"])
    # Of an epsilon of a thousand the peer's rounding leaves nothing: it says infinity, and only its deltas count.
    if optimistic.is_finite() and optimistic * (1 - PEER_SLACK) > high:
        return f"high {high} is below the peer's lower bound {row['optimistic_epsilon']}"
    if Decimal(row["pessimistic_epsilon"]) * (1 + PEER_SLACK) < low:
        return f"low {low} is above the peer's upper bound {row['pessimistic_epsilon']}"
    return None


def wrong_exact(row, low, high):
    if not low <= Decimal(row["epsilon"]) <= high:
        return f"[{low}, {high}] does not hold {row['epsilon']}"
    return None


def check(kind, wrong, program):
    name = os.path.join(os.path.dirname(os.path.abspath(__file__)), kind + ".csv")
    with open(name, newline="", encoding="utf-8") as f:
        stored = list(csv.DictReader(f))
    complaints = [f"{kind}.csv:{i + 2}: stored as {row['verdict']}" for i, row in enumerate(stored)
                  if row["verdict"] not in ("agree", "peer off")]
    if len(stored) < FEWEST[kind]:
        complaints.append(f"{kind}.csv: {len(stored)} rows, {FEWEST[kind]} expected")
    asked = min(ASKED[kind], len(stored))
    places = sorted({i * len(stored) // asked for i in range(asked)}
                    | {i for i, row in enumerate(stored) if row["verdict"] == "peer off"})
    columns = list(stored[0])[:list(stored[0]).index("low")]
    for i, answer in zip(places, questions.ask(program, [stored[i] for i in places], columns)):
        problem = "refused" if answer is None else wrong(stored[i], *map(Decimal, answer))
        if problem:
            complaints.append(f"{kind}.csv:{i + 2}: {problem}")
    print(f"{kind}: {len(stored)} stored, {len(places)} asked again, {len(complaints)} wrong")
    return complaints


def main():
    program = sys.argv[1]
    complaints = (check("peer", wrong_peer, program) + check("exact", wrong_exact, program)
                  + check("amplified", wrong_peer, program))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
