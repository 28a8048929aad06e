"""exact.py: delta(epsilon) to dozens of digits, slowly, by ways that the accountant does not use. Needs mpmath.

sgm, one round     the integral of (p - e^eps q)+ over x by quadrature, no closed form
sgm, two rounds    one round's closed form averaged over the other's loss, by quadrature
sgm, more rounds   E[min(1, e^(eps - L))] = 1 - delta by Fourier inversion midway between the poles, on the line
                   where both directions share one transform. The accountant stays right of both poles, at a saddle;
                   here a delta of 1e-40 is what cancellation leaves, which 75 digits afford. The trapezoid's aliases
                   are summed in closed form but for deltas so far out that Chernoff's bound makes them vanish.
gaussian           quadrature as above
discrete-gaussian  the sum of (p - e^eps q)+ over the integers
pure               the sum of (p - e^eps q)+ over the counts of randomized responses
"""
from mpmath import binomial, erfc, exp, expm1, inf, log, mp, mpc, mpf, pi, quad, sqrt

from questions import question, spread

mp.dps = 75
LOST = 145  # nats: errors of e^-145 = 1e-63 are let go


class TooSlow(Exception):
    """More work or precision than is allowed: another question is drawn."""


def draw(rng):
    """Half of the questions lie in the corners: deltas of 1e-12 to 1e-40, or nearly all mass in an atom."""
    kind, corner = rng.random(), rng.random() < 0.5
    delta = spread(rng, 1e-40, 1e-12) if corner else spread(rng, 1e-12, 1e-3)
    sigma = spread(rng, 0.6, 10)
    if kind < 0.25:
        return question("sgm", sigma=sigma, rate=spread(rng, 1e-7, 0.5), rounds=1, delta=delta)
    if kind < 0.4:
        # Epsilon about as large as the rate: where the losses of rounds without the person pile up.
        rate = spread(rng, 1e-5, 0.3)
        near = rate * spread(rng, 1e-6, 0.3) if corner else delta
        return question("sgm", sigma=sigma, rate=rate, rounds=2, delta=near)
    if kind < 0.85:
        return question("sgm", sigma=sigma, rate=spread(rng, 0.01, 0.8), rounds=int(spread(rng, 8, 20000)), delta=delta)
    if kind < 0.9:
        return question("gaussian", sigma=sigma * 2, releases=int(spread(rng, 1, 50)), delta=delta)
    if kind < 0.95:
        return question("discrete-gaussian", sigma=sigma * 2, sensitivity=rng.randint(1, 5), delta=delta)
    return question("pure", release_epsilon=spread(rng, 0.01, 1), rounds=int(spread(rng, 1, 300)), delta=delta)


def ratio(q, s, x):
    return 1 + q * expm1((2 * x - 1) / (2 * s * s))


def normal(s, x):
    return exp(-x * x / (2 * s * s)) / (s * sqrt(2 * pi))


def where(q, s, level):
    """The x at which the ratio is level; None if it is never so small."""
    return mpf(1) / 2 + s * s * log((level - 1 + q) / q) if level > 1 - q else None


def pieces(a, b, count):
    return [a + (b - a) * i / count for i in range(count + 1)]


def by_quadrature(q, s, eps):
    """One round, both directions."""
    wide = 40 * s
    x = where(q, s, exp(eps))
    remove = quad(lambda u: normal(s, u) * (ratio(q, s, u) - exp(eps)), pieces(x, max(x, 1) + wide, 8))
    x = where(q, s, exp(-eps))
    if x is None:
        return remove
    low = min(x, 0) - wide
    return max(remove, quad(lambda u: normal(s, u) * (1 - exp(eps) * ratio(q, s, u)), pieces(low, x, 8)))


def tail(z):
    return erfc(z / sqrt(mpf(2))) / 2


def one_round(q, s, eps, add):
    """One round at any real epsilon, one direction."""
    if not add:
        x = where(q, s, exp(eps))
        return -expm1(eps) if x is None else q * tail((x - 1) / s) - (expm1(eps) + q) * tail(x / s)
    x = where(q, s, exp(-eps))
    if x is None:
        return mpf(0)
    return tail(-x / s) * (1 - exp(eps) * (1 - q)) - exp(eps) * q * tail((1 - x) / s)


def two_rounds(q, s, eps):
    def mean(add):
        def part(u):
            r = ratio(q, s, u)
            return normal(s, u) * (one_round(q, s, eps + log(r), True) if add else r * one_round(q, s, eps - log(r), False))

        # The inner delta has its kinks where what is left of epsilon crosses the atom.
        edge = 18 * s
        kinks = [where(q, s, level) for level in
                 ((1 - q) * exp(eps), exp(eps) / (1 - q), exp(-eps) / (1 - q), (1 - q) * exp(-eps), exp(eps), exp(-eps))]
        cuts = sorted([-edge, mpf(0), edge + 1] + [k for k in kinks if k is not None and -edge < k < edge + 1])
        points = [p for a, b in zip(cuts, cuts[1:]) for p in pieces(a, b, 1 + int((b - a) / (5 * s)))[:-1]]
        return quad(part, points + [cuts[-1]])

    return max(mean(False), mean(True))


def transform_points(q, s, t):
    """(weight, log ratio) of a trapezoid for E[R^(1/2 + iu)], u <= t: its error falls with the strip it is analytic in."""
    strip = min(sqrt(mpf(2) * LOST) * s, mpf("2.8") * s * s)
    step = 2 * pi / (LOST / strip + strip / (2 * s * s) + t / (s * s))
    low, high = -18 * s, 1 + 18 * s
    count = int((high - low) / step) + 1
    if count > 6000:
        raise TooSlow
    return [(step * normal(s, low + step * j), log(ratio(q, s, low + step * j))) for j in range(count)]


def far_enough(q, s, rounds, eps):
    """A distance P such that delta(eps + P) and the other direction's delta(P - eps) are below e^-LOST."""
    points = transform_points(q, s, mpf(0))
    best = inf
    for order in (mpf(2) ** i for i in range(-4, 8)):
        worst = -inf
        for k in (1 + order, -order):  # E_P[e^(order L)] for the mixture, then for the Gaussian
            worst = max(worst, rounds * log(sum(w * exp(k * l) for w, l in points)))
        best = min(best, (worst + LOST) / order)
    return best + eps


def many_rounds(q, s, rounds, eps_list):
    """delta at each epsilon, the worse direction. One transform serves them all."""
    if max(eps_list) > 60:
        raise TooSlow  # errors grow as e^(eps/2); up to here 1e-50 is left of the precision
    period = far_enough(q, s, rounds, max(eps_list))
    h = 2 * pi / period
    sums = [[mpf(0), mpf(0)] for _ in eps_list]
    reach, k, work = mpf(0), 0, 0
    while True:
        t = k * h
        if t > reach or k == 0:
            reach = max(2 * t, 32 * h)
            points = transform_points(q, s, reach)
            turns = [exp(mpc(0, h * l)) for _, l in points]
            terms = [w * exp(mpc(l / 2, t * l)) for w, l in points]
        phi = sum(terms) ** rounds
        for i, eps in enumerate(eps_list):
            factor = (1 if k == 0 else 2) / (mpf(1) / 4 + t * t)
            wave = exp(mpc(0, t * eps))
            sums[i][0] += (phi.conjugate() * wave).real * factor
            sums[i][1] += (phi * wave).real * factor
        if abs(phi) < exp(mpf(-LOST)):
            break
        terms = [a * b for a, b in zip(terms, turns)]
        k, work = k + 1, work + len(terms)
        if work > 400000:
            raise TooSlow
    shrink = exp(-period / 2)
    out = []
    for eps, both in zip(eps_list, sums):
        alias = (1 + exp(eps)) * shrink / (1 - shrink)
        out.append(max(1 - (exp(eps / 2) * h / (2 * pi) * total - alias) for total in both))
    return out


def discrete(s, sensitivity, eps):
    """The integers k with log p(k)/p(k - D) = (D^2 - 2kD)/2s^2 > eps."""
    reach = int(30 * s) + 2 * sensitivity + 40
    mass = {k: exp(-mpf(k) ** 2 / (2 * s * s)) for k in range(-2 * reach, 2 * reach + 1)}
    return sum(max(mass[k] - exp(eps) * mass[k - sensitivity], 0) for k in range(-reach, reach)) / sum(mass.values())


def pure(each, rounds, eps):
    return sum(binomial(rounds, k) * max(exp(each * (rounds - k)) - exp(eps + each * k), 0)
               for k in range(rounds + 1)) / (1 + exp(each)) ** rounds


def deltas(row, eps_list):
    """delta at each epsilon, for a question of the batch."""
    kind = row["mechanism"]
    if kind == "pure":
        return [pure(mpf(row["release-epsilon"]), int(row["rounds"]), e) for e in eps_list]
    s = mpf(row["sigma"])
    if kind == "discrete-gaussian":
        return [discrete(s, int(row["sensitivity"]), e) for e in eps_list]
    if kind == "gaussian":
        return [by_quadrature(mpf(1), s / sqrt(mpf(row["releases"])), e) for e in eps_list]
    q, rounds = mpf(row["rate"]), int(row["rounds"])
    if rounds <= 2:
        return [(by_quadrature if rounds == 1 else two_rounds)(q, s, e) for e in eps_list]
    return many_rounds(q, s, rounds, eps_list)


COLUMNS = ["delta_at_low", "delta_at_high", "epsilon"]


def bisect(row, low, high):
    for _ in range(60):
        middle = (low + high) / 2
        above = deltas(row, [middle])[0] > mpf(row["delta"])
        low, high = (middle, high) if above else (low, middle)
    return high


def root(row, low, high, at_low, at_high):
    """The epsilon at which log delta crosses: secant steps, of which the first suffices if low and high are close."""
    delta = mpf(row["delta"])
    if at_high == 0:  # pure: high is all that the rounds can lose, and log delta has no slope there
        return bisect(row, low, high)
    a, b, fa, fb = low, high, log(at_low / delta), log(at_high / delta)
    for _ in range(1 if b - a < b * mpf("1e-7") else 7):
        c = b - fb * (b - a) / (fb - fa)
        if abs(c - b) < b * mpf("1e-14"):
            return c
        a, b, fa = b, c, fb
        if high - low >= high * mpf("1e-7"):
            # Few digits do for a root far from low and high, but where cancellation needs them all.
            with mp.workdps(30 if row["rounds"] == "2" else mp.dps):
                fb = log(deltas(row, [c])[0] / delta)
    return b


def judge(row, low, high):
    """The evaluator's columns and the verdict."""
    at_low, at_high = deltas(row, [mpf(low), mpf(high)])
    ok = at_high <= mpf(row["delta"]) and (float(low) == 0 or at_low >= mpf(row["delta"]))
    epsilon = root(row, mpf(low), mpf(high), at_low, at_high)
    return dict(zip(COLUMNS, [mp.nstr(v, 25) for v in (at_low, at_high, epsilon)])), ok and mpf(low) <= epsilon <= mpf(high)
