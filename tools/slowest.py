#!/usr/bin/env python3
"""slowest.py BUILD: the ten slowest tests of BUILD's last ctest run, and what was skipped and why."""
import re
import sys


def tests(log):
    """(name, seconds, output, verdict) of each test."""
    for part in log.split("----------------------------------------------------------\n\n"):
        name = re.search(r"^\d+/\d+ Test: (\S+)$", part, re.M)
        seconds = re.search(r"^Test time = +([\d.]+) sec$", part, re.M)
        if name and seconds:
            verdict = re.search(r"^Test (Passed|Failed|Skipped|Not Run)", part, re.M)
            yield name[1], float(seconds[1]), part, verdict[1] if verdict else "?"


def main():
    name = sys.argv[1] + "/Testing/Temporary/LastTest.log"
    with open(name, encoding="utf-8", errors="replace") as log:
        run = sorted(tests(log.read()), key=lambda test: -test[1])
    print("the ten slowest of %d tests, which took %.0f s one by one:" % (len(run), sum(test[1] for test in run)))
    for test, seconds, _, _ in run[:10]:
        print("  %7.1f s  %s" % (seconds, test))
    for test, _, output, _ in run:
        for why, case in re.findall(r"^skipped: (.*)\n(?:\[  SKIPPED \] (\S+))?", output, re.M):
            print("  skipped: %s%s: %s" % (test, ": " + case if case else "", why))


main()
