"""amplified.py: what hiding among others is worth, by plain sums where the accountant has closed forms, cells or contours.

shuffled           the sum over the number of clones and over the counts, term by term
binary-response,   the largest delta over what the others may hold, each enumerated (the accountant promises for all of
symmetric-one-hot  them, and knows from below what it costs where they agree)
allocated-gaussian the sum of the slots' likelihood ratios on a lattice, by FFT: upwards in convex order, then downwards
counted-gaussian   the average over the number of participations, to 30 digits
check-in           up to 12 steps, all signs of the losses

Each gives a delta from below and one from above. Packages: requirements.txt (numpy and scipy come with the peer).
"""
from itertools import product
from math import exp, expm1, log, sqrt

import mpmath
import numpy as np
from scipy import optimize, stats
from scipy.special import ndtr

from questions import question, spread

OPTIONS = ["mechanism", "adjacency", "sigma", "rate", "rounds", "slots", "local-epsilon", "cohort", "variant", "window",
           "probability", "delta"]
COLUMNS = ["optimistic_delta_at_high", "pessimistic_delta_at_low", "optimistic_epsilon", "pessimistic_epsilon",
           "settled_epsilon"]
# Of sums of doubles, which are at most 1: relative, and where large numbers cancel.
ROUNDING, CANCELLED = 1e-9, 1e-14


def draw(rng):
    delta, kind, eps0 = spread(rng, 1e-8, 1e-2), rng.random(), spread(rng, 0.1, 6)
    ask = lambda mechanism, adjacency, **given: question(mechanism, columns=OPTIONS, adjacency=adjacency, delta=delta, **given)
    if kind < 0.35:
        return ask("shuffled", "replacement", local_epsilon=eps0, cohort=int(spread(rng, 2, 1e5)))
    if kind < 0.5:
        return ask("binary-response", "replacement", local_epsilon=eps0, cohort=int(spread(rng, 2, 60)))
    if kind < 0.65:
        return ask("symmetric-one-hot", rng.choice(["replacement", "deletion"]), local_epsilon=spread(rng, 0.1, 3),
                   cohort=int(spread(rng, 2, 20)))
    if kind < 0.8:
        return ask("allocated-gaussian", "add-remove", sigma=spread(rng, 1.2, 6), slots=int(spread(rng, 12, 500)))
    if kind < 0.9:
        return ask("counted-gaussian", "add-remove", sigma=spread(rng, 0.7, 20), rate=spread(rng, 1e-3, 0.9),
                   rounds=int(spread(rng, 1, 3000)))
    return ask("check-in", "replacement", local_epsilon=spread(rng, 0.1, 4), variant="fixed", window=rng.randint(1, 12),
               probability=spread(rng, 0.05, 1))


def hockey_stick(p, q, eps):
    return float(np.maximum(p - exp(eps) * q, 0).sum())


def exactly(value):
    return value * (1 - ROUNDING) - CANCELLED, value * (1 + ROUNDING) + CANCELLED


def around(mean, deviation, most):
    """Where all but 1e-18 of a binomial law lies."""
    reach = 9 * deviation + 60
    return max(0, int(mean - reach)), min(most, int(mean + reach))


def shuffled(row, eps):
    eps0, n = float(row["local-epsilon"]), int(row["cohort"])
    own, clone, total = 1 / (1 + exp(-eps0)), exp(-eps0), 0.0
    first, last = around(n * clone, sqrt(n * clone * (1 - clone)), n - 1)
    for c in range(first, last + 1):
        near, _ = around(c / 2, sqrt(c) / 2, c)
        coins = stats.binom.pmf(np.arange(near, c - near + 1), c, 0.5)  # a mirror image of itself
        p = own * np.append(0, coins) + (1 - own) * np.append(coins, 0)
        total += stats.binom.pmf(c, n - 1, clone) * hockey_stick(p, p[::-1], eps)
    low, high = exactly(total)
    return low, high + 4e-18


def flipped(ones, zeros, flip):
    """How many of `ones` people who hold a 1 and `zeros` who hold a 0 report 1."""
    return np.convolve(stats.binom.pmf(np.arange(ones + 1), ones, 1 - flip),
                       stats.binom.pmf(np.arange(zeros + 1), zeros, flip))


def one_bit(row, eps):
    flip, others = 1 / (1 + exp(float(row["local-epsilon"]))), int(row["cohort"]) - 1
    worst = 0
    for ones in range(others + 1):
        law = flipped(ones, others - ones, flip)
        p, q = np.convolve(law, [flip, 1 - flip]), np.convolve(law, [1 - flip, flip])
        worst = max(worst, hockey_stick(p, q, eps), hockey_stick(q, p, eps))
    return exactly(worst)


def two_bits(row, eps):
    """Of the others some hold the old value, some the new one, the rest a third."""
    flip, others = 1 / (1 + exp(float(row["local-epsilon"]))), int(row["cohort"]) - 1
    worst = 0
    for old in range(others + 1):
        for new in range(others + 1 - old):
            a, b = flipped(old, others - old, flip), flipped(new, others - new, flip)
            p = np.outer(np.convolve(a, [flip, 1 - flip]), np.convolve(b, [1 - flip, flip]))
            q = np.outer(np.convolve(a, [1 - flip, flip]), np.convolve(b, [flip, 1 - flip]))
            worst = max(worst, hockey_stick(p, q, eps), hockey_stick(q, p, eps))
    return exactly(worst)


def one_hot(row, eps):
    return (two_bits if row["adjacency"] == "replacement" else one_bit)(row, eps)


LATTICE = {}  # the laws of the last question
CELLS = 3 << 18


def slots_on_a_lattice(sigma, t, step, upwards):
    """The law, on multiples of step, of the sum of t likelihood ratios exp(w/sigma - 1/(2 sigma^2)) below CELLS steps.

    Means are kept. Upwards, a cell's mass goes to its ends; downwards, that of three cells goes to the two points within:
    both move it in convex order, in which the deltas rise.
    """
    edges = np.arange(CELLS + 1) * step
    with np.errstate(divide="ignore"):
        w = np.log(edges) * sigma + 1 / (2 * sigma)
    mass, mean = np.diff(ndtr(w)), np.diff(ndtr(w - 1 / sigma))
    one = np.zeros(2 * CELLS)
    if upwards:
        right = np.clip(mean / step - mass * np.arange(CELLS), 0, mass)
        one[1:CELLS + 1] += right
        one[:CELLS] += mass - right
    else:
        mass, mean = mass.reshape(-1, 3).sum(1), mean.reshape(-1, 3).sum(1)
        left = np.arange(0, CELLS, 3) + 1
        right = np.clip(mean / step - mass * left, 0, mass)
        one[left + 1] += right
        one[left] += mass - right
    return np.fft.irfft(np.fft.rfft(one) ** t, 2 * CELLS)


def allocated(row, eps):
    """Removed: E(S - K)+ / t at K = t e^eps, S = t e^L under the noise alone. Added: e^eps E(K - S)+ / t at K = t e^-eps."""
    sigma, t = float(row["sigma"]), int(row["slots"])
    reach = max(4 * t, exp((2 * 8 * sigma + 1) / (2 * sigma * sigma)))  # of one ratio: eight deviations
    step = reach / CELLS
    key = (row["sigma"], row["slots"])
    if key not in LATTICE:
        LATTICE.clear()
        LATTICE[key] = [slots_on_a_lattice(sigma, t, step, upwards) for upwards in (False, True)]
    at = np.arange(2 * CELLS) * step
    found = []
    for law in LATTICE[key]:
        removed = float((law * np.maximum(at - t * exp(eps), 0)).sum()) / t
        added = exp(eps) * float((law * np.maximum(t * exp(-eps) - at, 0)).sum()) / t
        found.append(max(removed, added))
    # The transform's noise in every cell, and one ratio beyond the lattice, which then counts whole.
    noise = 5e-16 * sqrt(2 * CELLS) * 2 * reach / t
    return found[0] - noise, found[1] + noise + t * ndtr(-8)


def counted(row, eps):
    sigma, rounds, rate = mpmath.mpf(row["sigma"]), int(row["rounds"]), mpmath.mpf(row["rate"])
    total, eps = mpmath.mpf(0), mpmath.mpf(eps)
    with mpmath.workdps(30):
        middle, width = rounds * rate, 12 * mpmath.sqrt(rounds * rate) + 40
        for k in range(max(1, int(middle - width)), min(rounds, int(middle + width)) + 1):
            mu = mpmath.sqrt(k) / sigma
            delta = mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu)
            total += mpmath.binomial(rounds, k) * rate ** k * (1 - rate) ** (rounds - k) * delta
    return exactly(float(total))


def check_in(row, eps):
    eps0, m, p0 = float(row["local-epsilon"]), int(row["window"]), float(row["probability"])
    each = [log(1 + p0 * expm1(eps0) * exp(eps0) / (m * exp(eps0) - expm1(eps0) * i)) for i in range(m)]
    total = 0.0
    for signs in product((1, -1), repeat=m):
        loss = sum(s * e for s, e in zip(signs, each))
        if loss > eps:
            mass = 1.0
            for s, e in zip(signs, each):
                mass /= 1 + exp(-s * e)
            total += mass * -expm1(eps - loss)
    return exactly(total)


DELTAS = {"shuffled": shuffled, "binary-response": one_bit, "symmetric-one-hot": one_hot, "allocated-gaussian": allocated,
          "counted-gaussian": counted, "check-in": check_in}


def root(row, which, high):
    """The epsilon at which the lower (0) or the upper (1) delta crosses, within 1e-11 on the side that is claimed."""
    deltas, delta = DELTAS[row["mechanism"]], float(row["delta"])
    excess = lambda eps: log(max(deltas(row, eps)[which], 1e-300) / delta)
    if excess(0) <= 0:
        return 0.0
    top = high * 1.01
    while excess(top) > 0:
        if top > 4 * high:  # above what is claimed for another reason
            return top
        top *= 1.2
    near = high * 0.98
    found = optimize.brentq(excess, near if excess(near) > 0 else 0, top, xtol=1e-11 * high, rtol=1e-15)
    return found * (1 + (2e-11 if which else -2e-11))


def judge(row, low, high):
    """High must hold by the lower delta, low by the upper one."""
    deltas, delta = DELTAS[row["mechanism"]], float(row["delta"])
    at_high, at_low = deltas(row, float(high))[0], deltas(row, float(low))[1]
    # A client takes part once, whatever the composition of its steps says.
    capped = row["mechanism"] == "check-in" and float(high) >= float(row["local-epsilon"])
    ok = (capped or at_high <= delta) and (float(low) == 0 or at_low >= delta)
    return dict(zip(COLUMNS, [f"{v:.12g}" for v in (at_high, at_low, 0 if capped else root(row, 0, float(high)),
                                                    root(row, 1, float(high)))])), ok
