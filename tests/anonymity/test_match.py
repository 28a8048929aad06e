"""The matcher itself, without a network: it links what is in order, does not link what was mixed, and its bound is what it says."""
import math
import random

import capture
import match


def run(devices, least, seed, jitter=0.0):
    """Devices at random times; batches of `least` leave, mixed, when they are full. Returns both sides, the truth, the batches."""
    dice = random.Random(seed)
    sent = sorted((dice.uniform(0, devices / 10), f"d{i}") for i in range(devices))
    seen, truth, batches = [], {}, 0
    for start in range(0, devices, least):
        batch = sent[start:start + least]
        leaves = batch[-1][0] + 0.05
        dice.shuffle(batch)
        batches += 1
        for place, (_, device) in enumerate(batch):
            seen.append((f"r{device}", leaves + place * 1e-4 + dice.uniform(0, jitter)))
            truth[f"r{device}"] = device
    return [(d, t) for t, d in sent], seen, truth, batches


def check(what, good):
    assert good, what


def tail(mean, above):
    return sum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(above + 1, above + 200))


for mean, most in ((1, 9), (10, 27), (125, 182)):
    check("the bound is passed once in a million runs", abs(match.poisson_above(mean, most) - tail(mean, most)) < 1e-9)
    count = match.bound(mean, 1)
    check("no looser than it says", tail(mean, count) <= 1e-6 < tail(mean, count - 1))
check("more tries, a higher bound", match.bound(10, 4) >= match.bound(10, 1))

for seed in range(20):
    devices, reports, truth, batches = run(200, 1, seed)
    found, how = match.best(devices, reports, truth)
    check("without mixing all are linked", found == 200)
    check("which is above the bound", found > match.bound(13, len(match.TRIES)))
    devices, reports, truth, batches = run(200, 16, seed)
    found, how = match.best(devices, reports, truth)
    check(f"mixed: {found} right of {batches} batches", found <= match.bound(batches, len(match.TRIES)))
    check("chance alone", match.right(match.by_chance(devices, reports, seed), truth) <= match.bound(1, 1))
    late = run(200, 1, seed, jitter=0.3)
    check("a busy machine does not hide the order", match.best(*late[:3])[0] > match.bound(13, len(match.TRIES)))

# ---- who took part, by times --------------------------------------------------------------------------------------------

check("of four times the two last", abs(match.rank_distance([3, 4], [1, 2]) - math.sqrt(12 / 5)) < 1e-12)
check("alike", match.rank_distance([1, 1, 2], [1, 1, 2]) == 0 and match.rank_distance([], [1]) == 0)
for seed in range(20):
    dice = random.Random(seed)
    times = [dice.random() for _ in range(240)]
    check("chance alone is near", abs(match.rank_distance(times[:120], times[120:])) < 4)
    check("those who ask later are found", match.rank_distance([t + 0.5 for t in times[:120]], times[120:]) > match.FAR)

# ---- a sender who fills batches: what mixing does not stop ----------------------------------------------------------------

for seed in range(20):
    devices, reports, truth, batches = run(192, 16, seed)
    mine = set(random.Random(seed).sample(range(16), 15))
    batch_of = {device: place // 16 for place, (device, _) in enumerate(devices)}
    others = [(d, t) for place, (d, t) in enumerate(devices) if place % 16 not in mine]
    left = [(r, t) for r, t in reports if truth[r] in dict(others)]
    check("one device's request is left of each batch", sorted(batch_of[d] for d, _ in others) == list(range(batches)))
    check("whoever knows all the others links it", match.best(others, left, truth)[0] == batches)

# ---- streams: two connections between the same ports are two -------------------------------------------------------------


def packet(when, sequence, flags, data):
    return capture.Packet(when, "10.0.0.1", 4000, "10.0.0.2", 80, sequence, flags, data)


two = capture.streams([packet(1, 99, capture.SYN, b""), packet(2, 103, 0, b"def"), packet(3, 100, 0, b"abc"), packet(3, 100, 0, b"abc"),
                       packet(5, 7, capture.SYN, b""), packet(5, 7, capture.SYN, b""), packet(6, 8, 0, b"xy")])
check("in order, and once", sorted((bytes(s.data), s.began) for s in two) == [(b"abcdef", 1), (b"xy", 5)])
print("all right")
