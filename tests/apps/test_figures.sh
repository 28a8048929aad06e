#!/bin/sh
# test_figures.sh SOTTO: `sotto sim figures`, in its short form: closed forms of all figures, and simulated points on small ones. With
# SOTTO_CHAOS_FIGURES=1 all of it, at a million devices.
sotto=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
cd "$work" || exit 1

complain() {
    echo "$1"
    failed=1
}

if [ -n "$SOTTO_CHAOS_FIGURES" ]; then
    "$sotto" sim figures --out all || complain "a figure does not agree with its simulation"
    [ "$(find all -name '*.svg' | wc -l)" -eq 9 ] || complain "not nine figures"
    exit $failed
fi

# A curve of each kind, and points of all seven algorithms. Seeds are fixed.
"$sotto" sim figures --out small --only talwar-1,balle-2 --devices 20000 --points 2 >said || complain "points do not agree"
grep -q 'talwar-1    K 10000, T 10, gamma 0.01  *8 points, within' said || complain "no points of rare values"
grep -q 'balle-2     amplification by shuffling  *2 points, within' said || complain "no points of epsilon"
head -1 small/talwar-1.csv | grep -qx 'panel,curve,x,low,high' || complain "no head of a CSV"
for curve in NONPRIV AGG SAMPAGG NONPRIVUNIF NONPRIVIMPSAMP; do
    grep -q "^\"K 10000, T 10.*\",$curve," small/talwar-1.csv || complain "no curve $curve"
    grep -q "\"$curve, simulated\"," small/talwar-1.csv || complain "no simulated $curve"
done
grep -q '</svg>' small/talwar-1.svg || complain "no end of an SVG"
grep -q 'NONPRIVIMPSAMP, simulated</text>' small/talwar-1.svg || complain "no legend"

# What the document prints of Figure 1, and what holds: 1.26 at 1,000 people, where it says at most 1.
"$sotto" sim figures --out mcmillan --only mcmillan-1 --points 0 >said || complain "no closed forms"
grep -q '^local epsilon 3,2021: always holds,1000,1.264' mcmillan/mcmillan-1.csv || complain "not 1.264 at 1,000 people"

"$sotto" sim figures --only talwar-4 2>said && complain "a figure that is none"
grep -q 'names of figures' said || complain "it does not say which figures there are"
"$sotto" sim figures --points 99 2>said && complain "99 points"
exit $failed
