#!/usr/bin/env python3
"""Writes data/sgm_check.csv: delta(eps) of subsampled Gaussians, to 30 digits, by ways the C code does not use.

T = 2: the mean of one round's closed form over the other round's loss, by tanh-sinh quadrature.
T > 2: the inversion integral on a line at 0.55 of the saddle with a plain trapezoid rule in x as well, no cut
       of the law, no panels, no lattice; t runs until the integrand is below 1e-25 of its start.

Needs mpmath. The rows are fixed by SEED; run it again only to add more.
"""
import csv
import os
import random

from mpmath import mp, mpf, exp, log, log1p, expm1, erfc, sqrt, pi, quad, mpc

SEED = 20261115
mp.dps = 40

# Rare large losses, whose tail is gathered in one point and infinity; and rates near one.
RARE = ((2.95e-7, 0.678, 3.4e-4), (1e-5, 0.55, 0.0356), (1e-5, 0.55, 1.2e-5), (3e-4, 0.5, 0.0766), (0.0206, 0.6, 10.7),
        (1e-6, 0.52, 1.3), (0.999, 33.0, 0.29), (0.98, 5.0, 1.5))


def ratio(q, s, x):
    return 1 + q * expm1((2 * x - 1) / (2 * s * s))


def tail(z):
    return erfc(z / sqrt(mpf(2))) / 2


def single(q, s, eps, add):
    """delta of one round at any real eps."""
    if not add:
        if expm1(eps) + q <= 0:
            return -expm1(eps)
        x = mpf(1) / 2 + s * s * log((expm1(eps) + q) / q)
        return q * tail((x - 1) / s) - (expm1(eps) + q) * tail(x / s)
    room = q + expm1(-eps)
    if room <= 0:
        return mpf(0)
    x = mpf(1) / 2 + s * s * log(room / q)
    return tail(-x / s) * exp(eps) * room - exp(eps) * q * tail((1 - x) / s)


def two_rounds(q, s, eps, add):
    def part(x):
        r = ratio(q, s, x)
        w = exp(-x * x / (2 * s * s)) / (s * sqrt(2 * pi))
        return w * single(q, s, eps + log(r), add) if add else w * r * single(q, s, eps - log(r), add)

    edge = 14 * s
    # Kinks of the integrand: where the other round's delta reaches its linear or zero part.
    cuts = [-edge, 0, edge + 1]
    for level in ((1 - q) * exp(eps), exp(eps) / (1 - q), exp(-eps) / (1 - q), (1 - q) * exp(-eps)):
        if level > 1 - q:
            cuts.append(mpf(1) / 2 + s * s * log((level - 1 + q) / q))
    cuts = sorted(c for c in cuts if -edge <= c <= edge + 1)
    fine = []
    for a, b in zip(cuts, cuts[1:]):
        fine += [a + (b - a) * i / 6 for i in range(6)]
    return quad(part, fine + [cuts[-1]])


def moment(points, k):
    return sum((w * exp(k * l) for w, l in points), mpf(0))


def many_rounds(q, s, T, eps, add):
    def grid(c, t):
        high = (c + 1 if not add else 1) + 13 * s
        low = -13 * s
        h = 2 * pi / (t / (s * s) + 80 / min(s * s, 4 * s)) / 1.2
        n = int((high - low) / h) + 1
        out = []
        for j in range(n):
            x = low + j * h
            w = h * exp(-x * x / (2 * s * s)) / (s * sqrt(2 * pi))
            l = log(ratio(q, s, x))
            if add:
                out.append((w, -l))
            else:
                out.append((w * exp(l), l))
        return out

    def exponent(c):
        return T * log(moment(grid(c, mpf(0)), c)) - c * eps - log(c * (c + 1))

    c = mpf(1)
    for pace in (mpf(4), mpf(2), mpf('1.3')):
        for _ in range(60):
            here, up, down = exponent(c), exponent(c * pace), exponent(c / pace)
            if up < here and up <= down:
                c *= pace
            elif down < here:
                c /= pace
            else:
                break
    c = c * mpf('0.55')
    # Aliases are exp(-c period), against a delta that may be 1e-30.
    period = 130 / c
    for factor in (mpf('1.3'), mpf('1.8'), mpf('2.5')):
        need = T * log(moment(grid(c * factor, mpf(0)), c * factor)) - c * factor * eps + 130
        period = max(period, need / (c * factor - c)) if factor == mpf('1.8') else period
    h = 2 * pi / period
    reach, points = mpf(0), None
    total, k, start = mpf(0), 0, None
    while True:
        t = k * h
        if points is None or t > reach:
            reach = max(2 * t, 64 * h)
            points = grid(c, reach)
        z = mpc(c, t)
        value = exp(T * log(moment(points, z)) - z * eps) / (z * (z + 1))
        start = start or abs(value)
        total += value.real * (1 if k == 0 else 2)
        if abs(value) < start * mpf(10) ** -25:
            break
        k += 1
    return total * h / (2 * pi)


def rows():
    rng = random.Random(SEED)
    for i in range(8):
        q = float('%.3g' % 10 ** rng.uniform(-5, -0.5))
        s = float('%.3g' % (0.6 * 8 ** rng.random()))
        law = (mpf(q), mpf(s))
        eps = float('%.4g' % (q * (rng.uniform(0.2, 1.8) if i % 2 else rng.uniform(2, 12))))
        yield q, s, 2, eps, two_rounds(*law, mpf(eps), False), two_rounds(*law, mpf(eps), True)
    for q, s, T, eps in ((0.3, 2.0, 24, 2.5), (0.05, 1.0, 120, 3.0), (0.02, 5.1, 2500, 0.8), (0.01, 0.8, 900, 4.0),
                         (1e-3, 1.0, 100000, 2.0), (0.5, 10.0, 1000, 9.0)):
        law = (mpf(q), mpf(s), T, mpf(eps))
        yield q, s, T, eps, many_rounds(*law, False), many_rounds(*law, True)
    for q, s, eps in RARE:
        law = (mpf(q), mpf(s), mpf(eps))
        yield q, s, 2, eps, two_rounds(*law, False), two_rounds(*law, True)


def main():
    name = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'data', 'sgm_check.csv')
    with open(name, 'w', newline='') as f:
        out = csv.writer(f, lineterminator='\n')
        out.writerow(['q', 'sigma', 'T', 'eps', 'delta_remove', 'delta_add'])
        for q, s, T, eps, remove, add in rows():
            out.writerow([repr(q), repr(s), T, repr(eps), mp.nstr(remove, 20), mp.nstr(add, 20)])
            f.flush()


if __name__ == '__main__':
    main()
