"""fedavg_agrees.py SOTTO: FedAvg, FedSGD and DP-FedAvg without noise, written down here once more in plain Python, end with the same model
as `sotto sim learn`, to 1e-6. Both draw devices and the order of rows from one seed (learn/random.h)."""
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

sotto = sys.argv[1]
MASK, SEED, ROUNDS, COHORT = 2**64 - 1, 7, 20, 10


def mix(x):
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb & MASK
    return x ^ (x >> 31)


def seed_of(seed, index):
    return mix(mix((seed + 0x9e3779b97f4a7c15) & MASK) ^ ((index * 0xd1342543de82ef95 + 1) & MASK))


def numbers(state):
    while True:
        state = (state + 0x9e3779b97f4a7c15) & MASK
        yield mix(state)


def write_table(path):
    """110 people with 1 to 9 rows of three inputs. Every tenth is tested with, so 99 or so train."""
    draw = random.Random(5)
    with open(path, "w") as f:
        f.write("who,a,b,c,class\n")
        for who in range(110):
            for _ in range(1 + who % 9):
                a, b, c = (draw.randrange(256) for _ in range(3))
                f.write(f"u{who},{a},{b},{c},{0 if a > b else 1 if b > c else 2}\n")


def read_examples(path):
    """Rows of each user: inputs and a class."""
    with open(path, "rb") as f:
        data = f.read()
    _, classes, height, width, users, training, test = struct.unpack(">7Q", data[16:72])
    counts = struct.unpack(f">{users}I", data[72:72 + 4 * users])
    labels = data[72 + 4 * users:][:training + test]
    values = data[72 + 4 * users + training + test:]
    rows = [([x / 255 for x in values[i * width * height:(i + 1) * width * height]], labels[i]) for i in range(training)]
    out, at = [], 0
    for count in counts:
        out.append(rows[at:at + count])
        at += count
    return out, height * width, classes


def begin(inputs, classes):
    """Weights of each class, then biases."""
    out = []
    for tensor, count in ((0, inputs * classes), (1, classes)):
        n = numbers(seed_of(SEED, tensor))
        out += [((next(n) >> 40) * 2.0**-23 - 1) / math.sqrt(inputs) for _ in range(count)]
    return out


def gradient(w, rows, inputs, classes):
    out = [0.0] * len(w)
    for x, label in rows:
        score = [math.fsum(w[c * inputs + i] * x[i] for i in range(inputs)) + w[inputs * classes + c] for c in range(classes)]
        odds = [math.exp(s - max(score)) for s in score]
        for c in range(classes):
            g = (odds[c] / sum(odds) - (c == label)) / len(rows)
            for i in range(inputs):
                out[c * inputs + i] += g * x[i]
            out[inputs * classes + c] += g
    return out


def client(start, rows, n, epochs, batch, rate, clip, inputs, classes):
    """Batches in an order that is drawn anew in each epoch; the last may be short. After each the way back to `start` is at most `clip`."""
    w, order = list(start), list(range(len(rows)))
    for _ in range(epochs):
        for i in range(len(rows), 1, -1):
            j = ((next(n) >> 32) * i) >> 32
            order[i - 1], order[j] = order[j], order[i - 1]
        for at in range(0, len(rows), batch):
            g = gradient(w, [rows[k] for k in order[at:at + batch]], inputs, classes)
            w = [a - rate * b for a, b in zip(w, g)]
            far = math.dist(w, start)
            if far > clip:
                w = [s + (a - s) * clip / far for a, s in zip(w, start)]
    return [a - s for a, s in zip(w, start)]


def train(users, inputs, classes, epochs, batch, rate, clip, weights, server_rate, decay):
    w = begin(inputs, classes)
    seen = set()
    for t in range(ROUNDS):
        total, whole = [0.0] * len(w), 0
        chosen = [k for k in range(len(users))
                  if (next(numbers(seed_of(seed_of(SEED ^ 0x636f696e, t), k))) >> 11) * 2.0**-53 < COHORT / len(users)]
        seen.add(len(chosen))
        for k in chosen:
            delta = client(w, users[k], numbers(seed_of(seed_of(SEED, t), k)), epochs, batch or len(users[k]), rate, clip, inputs, classes)
            weight = len(users[k]) if weights == "count" else min(len(users[k]), 4) / 4 if weights == "capped" else 1
            total = [a + weight * b for a, b in zip(total, delta)]
            whole += weight
        # FedAvg divides by the rows of those who came. With a bound on each, the divisor is public: the number that is expected.
        divisor = whole if weights == "count" else COHORT
        w = [a + server_rate * decay**t * b / divisor for a, b in zip(w, total)]
    assert len(seen) > 3, "rounds of different sizes are wanted"
    return w


CASES = (("fedavg", "count", 3, 2, 0.5, 10, 1, 1), ("fedavg", "equal", 2, 4, 1, 0.2, 1.5, 0.9), ("fedavg", "capped", 1, 3, 1, 0.1, 1, 0.99),
         ("fedsgd", "equal", 1, 0, 1, 10, 2, 1))
failed = 0
with tempfile.TemporaryDirectory() as work:
    write_table(work + "/table.csv")
    subprocess.run([sotto, "learn", "data", "csv", work + "/table.csv", "--user", "who", "--label", "class", "--high", "255", "--out", work + "/data"],
                   check=True, stdout=subprocess.DEVNULL)
    people, many, kinds = read_examples(work + "/data")
    for algorithm, weights, epochs, batch, rate, clip, server_rate, decay in CASES:
        words = [sotto, "sim", "learn", "--quiet", "--data", work + "/data", "--model", "logistic", "--algorithm", algorithm, "--weights", weights,
                 "--rounds", str(ROUNDS), "--cohort", str(COHORT), "--epochs", str(epochs), "--rate", str(rate), "--clip", str(clip),
                 "--scale", "1e8", "--server-rate", str(server_rate), "--decay", str(decay), "--seed", str(SEED), "--export", work + "/model"]
        words += ["--batch", str(batch)] if batch else []
        words += ["--cap", "4"] if weights == "capped" else []
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        with open(work + "/model", "rb") as f:
            data = f.read()
        size = struct.unpack("<Q", data[:8])[0]
        ours = struct.unpack(f"<{(len(data) - 8 - size) // 4}f", data[8 + size:])
        assert list(json.loads(data[8:8 + size]))[0].endswith("weight")
        theirs = train(people, many, kinds, epochs, batch, rate, clip, weights, server_rate, decay)
        first = begin(many, kinds)
        moved = max(abs(a - b) for a, b in zip(theirs, first))
        apart = max(abs(a - b) for a, b in zip(theirs, ours))
        print(f"{algorithm}, {weights}: weights moved by up to {moved:.3f}, and differ by up to {apart:.1e}")
        failed |= not (len(ours) == len(theirs) and moved > 0.05 and apart < 1e-6)
sys.exit(failed)
