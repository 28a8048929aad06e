#!/usr/bin/env python3
"""Estimates the security of Aero's parameter sets and compares it with what src/aggregate/aero/parameters.c says.

    SOTTO_LATTICE_ESTIMATOR=FOLDER python3 tools/aero_estimate.py src/aggregate/aero/parameters.c

FOLDER is a checkout of the lattice estimator (Albrecht, Player and Scott 2015); python3 must have Sage (Debian: sagemath, or
passagemath-standard). Ends with 77, skipped, where either is missing. Takes about four minutes.
"""
import math
import os
import re
import sys

P = 2**64 - 2**32 + 1


def sets(path):
    row = re.compile(r'\{"(b\d+)", (?:UINT64_C\()?(\d+)\)?, [^,]+, \d+, \d+, (\d+), (\d+),')
    return [(n, P * max(1, int(q)), int(b), int(h)) for n, q, b, h in row.findall(open(path).read().replace("\n", " "))]


def main():
    folder = os.environ.get("SOTTO_LATTICE_ESTIMATOR")
    if not folder or not os.path.isdir(folder):
        print("skipped: SOTTO_LATTICE_ESTIMATOR names no checkout of the lattice estimator")
        return 77
    sys.path.insert(0, folder)
    try:
        from sage.all import oo
        from estimator import LWE, ND
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 77
    found = sets(sys.argv[1])
    wrong = len(found) != 3
    for name, q, *stated in found:
        for sigma, bits in zip((3.24, 2.2), stated):
            problem = LWE.Parameters(n=4096, q=q, Xs=ND.Uniform(-1, 1), Xe=ND.DiscreteGaussian(sigma), m=oo)
            usvp, dual = (math.log2(attack(problem)["rop"]) for attack in (LWE.primal_usvp, LWE.dual_hybrid))
            print(f"{name} sigma {sigma}: primal uSVP {usvp:.2f}, dual hybrid {dual:.2f}, table {bits}", flush=True)
            wrong |= math.floor(min(usvp, dual)) != bits
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
