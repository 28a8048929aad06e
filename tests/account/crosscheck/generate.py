#!/usr/bin/env python3
"""generate.py peer|exact|amplified PROGRAM COUNT MINUTES: asks random questions of our program and of somebody else, and
writes peer.csv (dp-accounting), exact.csv (mpmath) or amplified.csv (plain sums) beside this file: question, our low and
high, theirs, and the verdict.

generate.py settle: asks exact.py about the rows of peer.csv that disagree. Where [low, high] holds the epsilon it finds,
the peer was off, by its own rounding for one; the row says so and keeps that epsilon.

The questions follow from SEED alone, so a longer run begins with the rows of a shorter one. Packages: requirements.txt.
"""
import csv
import os
import random
import sys
import time

import questions

SEED = 20261115


def rows(judge_module, program, count, deadline):
    rng = random.Random(SEED)
    slow = getattr(judge_module, "TooSlow", ())
    done = 0
    while done < count and time.time() < deadline:
        drawn = [judge_module.draw(rng) for _ in range(100)]
        for row, answer in zip(drawn, questions.ask(program, drawn, getattr(judge_module, "OPTIONS", None))):
            # Epsilon 0 says only that delta(0) <= delta: no root to compare.
            if answer is None or float(answer[1]) == 0:
                continue
            if done >= count or time.time() >= deadline:
                return
            try:
                theirs, ok = judge_module.judge(row, *answer)
            except slow:
                continue
            done += 1
            yield {**row, "low": answer[0], "high": answer[1], **theirs, "verdict": "agree" if ok else "DISAGREE"}


def path(kind):
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), kind + ".csv")


def columns(judge_module):
    return getattr(judge_module, "OPTIONS", questions.OPTIONS) + ["low", "high"] + judge_module.COLUMNS + ["verdict"]


def write(kind, names, stored):
    """Writes row by row, so that a run cut short leaves what it found; returns (rows, disagreements)."""
    total = disagree = 0
    with open(path(kind), "w", newline="", encoding="utf-8") as f:
        out = csv.DictWriter(f, names, lineterminator="\n")
        out.writeheader()
        for row in stored:
            out.writerow(row)
            f.flush()
            total += 1
            if row["verdict"] == "DISAGREE":
                disagree += 1
                print(row, flush=True)
    return total, disagree


def settle():
    exact = __import__("exact")
    with open(path("peer"), newline="", encoding="utf-8") as f:
        stored = list(csv.DictReader(f))
    for row in stored:
        if row["verdict"] == "DISAGREE":
            theirs, ok = exact.judge(row, row["low"], row["high"])
            row["settled_epsilon"] = theirs["epsilon"]
            row["verdict"] = "peer off" if ok else "DISAGREE"
    return write("peer", columns(__import__("peer")), stored)


def main():
    if sys.argv[1] == "settle":
        total, disagree = settle()
    else:
        kind, program, count, minutes = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
        judge_module = __import__(kind)
        total, disagree = write(kind, columns(judge_module),
                                rows(judge_module, program, count, time.time() + 60 * minutes))
    print(f"{total} questions, {disagree} disagreements")


if __name__ == "__main__":
    main()
