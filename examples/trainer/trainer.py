"""trainer.py: trains your own PyTorch model on a device that sotto's program hosts. Edit `models`; the rest is the protocol.
`trainer.py --first NAME` writes the first file of a model: what `sotto learn init --init` and round 0 have.

Frames: 4 bytes of length, a byte of kind, a body. 1 hello, 2 train, 3 update, 4 failed, 5 bye (apps/support/trainer_frames.h).
"""
import json
import struct
import sys

import torch
from torch import nn


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(256, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.conv1(x.view(-1, 1, 28, 28))), 2)
        x = torch.max_pool2d(torch.relu(self.conv2(x)), 2).flatten(1)
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


def mine():  # 784 numbers from 0 to 1 in, a score for each class out
    return nn.Sequential(nn.Linear(784, 32), nn.Tanh(), nn.Linear(32, 10))


models = {"lenet": LeNet, "mine": mine}  # by the name that the recipe has for them


def send(kind, body):
    sys.stdout.buffer.write(struct.pack(">IB", len(body) + 1, kind) + body)
    sys.stdout.buffer.flush()


def read_tensors(file):
    size = struct.unpack("<Q", file[:8])[0]
    tensors = json.loads(file[8:8 + size])
    data = bytearray(file[8 + size:])
    return {name: torch.frombuffer(data, dtype=torch.float32, offset=t["data_offsets"][0],
                                   count=(t["data_offsets"][1] - t["data_offsets"][0]) // 4).view(t["shape"])
            for name, t in tensors.items() if name != "__metadata__"}


def write_tensors(tensors):
    header, data = {}, b""
    for name, t in tensors.items():
        numbers = struct.pack(f"<{t.numel()}f", *t.flatten().tolist())
        header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def train(job, weights):
    net = models[job["model"]]()
    net.load_state_dict(weights)
    if not job["rows"]:
        return {name: torch.zeros_like(w) for name, w in weights.items()}
    x = torch.tensor([list(bytes.fromhex(row[0])) for row in job["rows"]], dtype=torch.float32) / 255
    y = torch.tensor([row[-1] for row in job["rows"]])
    step = torch.optim.SGD(net.parameters(), lr=job["rate"])
    generator = torch.Generator().manual_seed(int(job["seed"]) % 2**63)
    for _ in range(job["epochs"]):
        for rows in torch.randperm(len(y), generator=generator).split(job["batch"] or len(y)):
            step.zero_grad()
            nn.functional.cross_entropy(net(x[rows]), y[rows]).backward()
            step.step()
    return {name: w.detach() - weights[name] for name, w in net.state_dict().items()}


if sys.argv[1:2] == ["--first"]:
    sys.stdout.buffer.write(write_tensors(models[sys.argv[2]]().state_dict()))
    sys.exit()
send(1, struct.pack(">H", 1) + b"".join(bytes([len(name)]) + name.encode() for name in models))
while len(head := sys.stdin.buffer.read(5)) == 5:
    length, kind = struct.unpack(">IB", head)
    body = sys.stdin.buffer.read(length - 1)
    if kind != 2:
        break
    size = struct.unpack(">I", body[:4])[0]
    try:
        send(3, write_tensors(train(json.loads(body[4:4 + size]), read_tensors(body[4 + size:]))))
    except Exception as problem:  # the host sends zeros in its place
        send(4, str(problem).encode()[:1000])
