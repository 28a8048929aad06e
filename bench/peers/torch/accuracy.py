"""FedAvg and DP-FedAvg in PyTorch on a file of `sotto learn data`: the reference for what `sotto sim learn` reaches.

    python3 bench/peers/torch/accuracy.py DATA [--rounds N] [--cohort N] [--clip C] [--noise Z] [--seed S] [--model lenet|mlp|cnn]

prints the accuracy on the test rows, in percent. Devices take part by a coin of their own in each round, train one epoch in batches
of 20 at a rate of 0.1, and are pulled back to the clip after each batch. The sum gets Gaussian noise of Z clips in each
coordinate, and is divided by the devices expected. Nothing of sotto is used but the file's format.
"""
import argparse
import struct
import sys

try:
    import numpy
    import torch
    from torch import nn
except ImportError:
    print("accuracy.py: skipped: python3 has no torch", file=sys.stderr)
    sys.exit(77)

from learning import LeNet

HEAD, BATCH, RATE = 16, 20, 0.1


class Convolutions(nn.Module):
    """32 and 64 channels of 5 by 5, and 1,024 hidden units, as sotto's `cnn`."""

    def __init__(self, classes):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 5), nn.Conv2d(32, 64, 5)
        self.fc1, self.fc2 = nn.Linear(1024, 1024), nn.Linear(1024, classes)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.conv1(x.view(-1, 1, 28, 28))), 2)
        x = torch.max_pool2d(torch.relu(self.conv2(x)), 2).flatten(1)
        return self.fc2(torch.relu(self.fc1(x)))


def perceptron(classes):
    return nn.Sequential(nn.Linear(784, 200), nn.ReLU(), nn.Linear(200, 200), nn.ReLU(), nn.Linear(200, classes))


def read(path):
    """Rows and labels of each user, rows and labels to test with, and the number of classes."""
    with open(path, "rb") as file:
        data = file.read()
    _, classes, height, width, users, training, test = struct.unpack_from(">7Q", data, HEAD)
    at = HEAD + 7 * 8
    counts = numpy.frombuffer(data, ">u4", users, at).astype(int)
    at += 4 * users
    labels = torch.from_numpy(numpy.frombuffer(data, numpy.uint8, training + test, at).astype(numpy.int64))
    at += training + test
    rows = numpy.frombuffer(data, numpy.uint8, (training + test) * height * width, at)
    rows = torch.from_numpy(rows.reshape(training + test, height * width).astype(numpy.float32) / 255)
    ends = numpy.concatenate(([0], numpy.cumsum(counts)))
    people = [(rows[a:b], labels[a:b]) for a, b in zip(ends, ends[1:])]
    return people, (rows[training:], labels[training:]), classes


def update(model, start, rows, labels, clip, source):
    parameters = list(model.parameters())
    nn.utils.vector_to_parameters(start.clone(), parameters)  # parameters are views of what they are given
    order = torch.randperm(len(rows), generator=source)
    for at in range(0, len(rows), BATCH):
        batch = order[at:at + BATCH]
        loss = nn.functional.cross_entropy(model(rows[batch]), labels[batch])
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            torch._foreach_add_(parameters, gradients, alpha=-RATE)
            away = nn.utils.parameters_to_vector(parameters) - start
            far = away.norm().item()
            if far > clip:
                nn.utils.vector_to_parameters(start + away * (clip / far), parameters)
    return (nn.utils.parameters_to_vector(parameters) - start).detach()


def main():
    words = argparse.ArgumentParser()
    words.add_argument("data")
    for name, kind, usual in (("rounds", int, 100), ("cohort", int, 60), ("clip", float, 1.0), ("noise", float, 0.0), ("seed", int, 1)):
        words.add_argument("--" + name, type=kind, default=usual)
    words.add_argument("--model", choices=("lenet", "mlp", "cnn"), default="lenet")
    asked = words.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(asked.seed)
    source = torch.Generator().manual_seed(asked.seed + 1000)
    people, (rows, labels), classes = read(asked.data)
    model = {"lenet": LeNet, "mlp": perceptron, "cnn": Convolutions}[asked.model](classes)
    weights = nn.utils.parameters_to_vector(model.parameters()).detach()
    for _ in range(asked.rounds):
        coins = torch.rand(len(people), generator=source) < asked.cohort / len(people)
        total = torch.zeros_like(weights)
        for number in coins.nonzero().flatten().tolist():
            total += update(model, weights, *people[number], asked.clip, source)
        total += asked.noise * asked.clip * torch.randn(total.shape, generator=source)
        weights = weights + total / asked.cohort
    nn.utils.vector_to_parameters(weights, model.parameters())
    with torch.no_grad():
        right = (model(rows).argmax(1) == labels).float().mean().item()
    print(f"{100 * right:.2f}")


if __name__ == "__main__":
    main()
