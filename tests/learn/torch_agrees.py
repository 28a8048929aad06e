"""torch_agrees.py SOTTO SOURCE: LeNet trained here and in PyTorch, from the same first weights, on the same rows: the same model to 1e-4.

Each round is one step on all rows of one user, so no order of rows matters. First weights follow learn/random.h.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

try:
    import numpy
    import torch
except ImportError:
    print("skipped: python3 has no torch and numpy")
    sys.exit(77)

sotto, source = sys.argv[1:]
MASK, RATE, ROUNDS = 2**64 - 1, 0.1, 6


def mix(x):
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb & MASK
    return x ^ (x >> 31)


def first(seed, index, shape, fan_in):
    state = mix(mix((seed + 0x9e3779b97f4a7c15) & MASK) ^ ((index * 0xd1342543de82ef95 + 1) & MASK))
    numbers = []
    for _ in range(int(numpy.prod(shape))):
        state = (state + 0x9e3779b97f4a7c15) & MASK
        numbers.append((mix(state) >> 40) * 2.0**-23 - 1)
    return numpy.array(numbers, dtype=numpy.float32).reshape(shape) * numpy.float32(fan_in**-0.5)


def idx(path, head):
    with open(path, "rb") as file:
        return numpy.frombuffer(file.read()[head:], dtype=numpy.uint8)


def model():
    from torch import nn

    class LeNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
            self.fc1, self.fc2, self.fc3 = nn.Linear(256, 120), nn.Linear(120, 84), nn.Linear(84, 10)

        def forward(self, x):
            x = torch.max_pool2d(torch.relu(self.conv1(x)), 2)
            x = torch.max_pool2d(torch.relu(self.conv2(x)), 2).flatten(1)
            return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))
    return LeNet()


with tempfile.TemporaryDirectory() as work:
    subprocess.run([sys.executable, os.path.join(source, "tests/apps/make_learn_data.py"), work], check=True)
    subprocess.run([sotto, "learn", "data", "mnist", "--from", work, "--users", "1", "--out", work + "/one"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run([sotto, "sim", "learn", "--data", work + "/one", "--algorithm", "fedsgd", "--rate", str(RATE), "--cohort", "1",
                    "--rounds", str(ROUNDS), "--clip", "10", "--scale", "1e8", "--export", work + "/m", "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    with open(work + "/m", "rb") as file:
        data = file.read()
    x = torch.tensor(idx(work + "/train-images-idx3-ubyte", 16).astype(numpy.float32) / 255).view(-1, 1, 28, 28)
    y = torch.tensor(idx(work + "/train-labels-idx1-ubyte", 8).astype(numpy.int64))
size = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:8 + size])
net = model()
fans = {"conv1": 25, "conv2": 150, "fc1": 256, "fc2": 120, "fc3": 84}
with torch.no_grad():
    for i, (name, p) in enumerate(net.named_parameters()):
        p.copy_(torch.tensor(first(1, i, tuple(p.shape), fans[name.split(".")[0]])))
begun = {name: p.detach().clone() for name, p in net.named_parameters()}
step = torch.optim.SGD(net.parameters(), lr=RATE)
for _ in range(ROUNDS):
    step.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    step.step()
worst = moved = 0.0
for name, p in net.named_parameters():
    a, b = header[name]["data_offsets"]
    ours = numpy.frombuffer(data[8 + size + a:8 + size + b], dtype="<f4").reshape(header[name]["shape"])
    theirs = p.detach().numpy()
    moved = max(moved, float(numpy.abs(theirs - begun[name].numpy()).max()))
    worst = max(worst, float(numpy.abs(ours - theirs).max()))
print(f"weights moved by up to {moved:.4f}; ours differ from PyTorch's by up to {worst:.2e}")
sys.exit(0 if worst < 1e-4 * max(moved, 0.01) and moved > 1e-3 else 1)
