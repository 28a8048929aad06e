"""Matching reports to devices, and how far that may go.

A seen request is (who, when): of a device by its address, or of a report by its id. A match is a dict from report to device. What an
observer reaches is compared with guessing. Whoever matches n reports with n devices at random has one right in the mean, and
nearly by Poisson's law, whatever n is; where groups are told apart, one in each group. A bound is so high that guessing passes it
once in a million runs, all tries of all observers together.
"""
import bisect
import math
import random

ONCE_IN = 1e6
FAR = 6.5  # standard deviations: fewer than once in 10^10 trials of chance, and a few dozen trials are a run


def poisson_above(mean, count):
    """The chance of more than `count`."""
    term = total = math.exp(-mean)
    for k in range(1, count + 1):
        term *= mean / k
        total += term
    return max(0.0, 1.0 - total)


def bound(groups, tries):
    """How many right matches guessing in so many groups passes once in a million runs at most."""
    count = int(groups)
    while poisson_above(groups, count) > 1 / (ONCE_IN * tries):
        count += 1
    return count


def by_chance(devices, reports, seed=1):
    who = [d for d, _ in devices]
    random.Random(seed).shuffle(who)
    return {r: d for (r, _), d in zip(sorted(reports), who)}


def by_order(devices, reports):
    """The first with the first."""
    return {r: d for (r, _), (d, _) in zip(sorted(reports, key=lambda x: x[1]), sorted(devices, key=lambda x: x[1]))}


def by_order_backwards(devices, reports):
    """From the end: whoever is missing at the beginning moves nobody."""
    return {r: d for (r, _), (d, _) in zip(sorted(reports, key=lambda x: -x[1]), sorted(devices, key=lambda x: -x[1]))}


def by_time(devices, reports):
    """The last request that came before, and that no earlier report has."""
    free = sorted((t, d) for d, t in devices)
    match = {}
    for report, t in sorted(reports, key=lambda x: x[1]):
        at = bisect.bisect_right(free, (t, "\x7f")) - 1
        if at >= 0:
            match[report] = free.pop(at)[1]
    return match


def by_delay(devices, reports):
    """The request whose delay is nearest to the usual one."""
    if not devices or not reports:
        return {}
    ordered = by_order(devices, reports)
    when, came = dict(devices), dict(reports)
    delays = sorted(came[r] - when[d] for r, d in ordered.items())
    usual = delays[len(delays) // 2]
    free = sorted((t, d) for d, t in devices)
    match = {}
    for report, t in sorted(reports, key=lambda x: x[1]):
        at = bisect.bisect_left(free, (t - usual, ""))
        near = min((i for i in (at - 1, at) if 0 <= i < len(free)), key=lambda i: abs(free[i][0] - t + usual), default=None)
        if near is not None:
            match[report] = free.pop(near)[1]
    return match


# Each is a try of every observer that sees both sides.
TRIES = (by_order, by_order_backwards, by_time, by_delay)


def right(match, truth):
    """How many of them are so."""
    return sum(1 for report, device in match.items() if truth.get(report) == device)


def best(devices, reports, truth):
    """The most that any try has right, and which."""
    return max(((right(t(devices, reports), truth), t.__name__) for t in TRIES), key=lambda x: x[0])


def rank_distance(some, others):
    """Whether some times are earlier or later than others: the rank sum (Wilcoxon, Mann and Whitney) in standard deviations of chance. 0: nothing to compare."""
    if not some or not others:
        return 0.0
    ranks = {}
    everybody = sorted(some + others)
    for first in (i for i, t in enumerate(everybody) if i == 0 or everybody[i - 1] != t):
        last = bisect.bisect_right(everybody, everybody[first])
        ranks[everybody[first]] = (first + 1 + last) / 2
    n, m = len(some), len(others)
    return (sum(ranks[t] for t in some) - n * (n + m + 1) / 2) / math.sqrt(n * m * (n + m + 1) / 12)
