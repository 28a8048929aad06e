"""A device's update in PyTorch: 100 examples, batches of 20, one epoch, clipped after each batch. One thread.

    python3 bench/peers/torch/learning.py [seconds]

prints a JSON line a case, named as sotto-bench's, with the median of CPU time. 1,000 million ns are a second.
"""
import json
import statistics
import sys
import time

try:
    import torch
    from torch import nn
except ImportError:
    print("learning.py: skipped: python3 has no torch", file=sys.stderr)
    sys.exit(77)

ROWS, BATCH, RATE, CLIP = 100, 20, 0.1, 0.5


class LeNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(256, 120), nn.Linear(120, 84), nn.Linear(84, classes)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.conv1(x.view(-1, 1, 28, 28))), 2)
        x = torch.max_pool2d(torch.relu(self.conv2(x)), 2).flatten(1)
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


MODELS = {
    "lenet": (lambda: LeNet(62), 62),
    "mlp": (lambda: nn.Sequential(nn.Linear(784, 200), nn.ReLU(), nn.Linear(200, 200), nn.ReLU(), nn.Linear(200, 10)), 10),
    "logistic": (lambda: nn.Linear(784, 10), 10),
}


def update(model, start, x, y, loss):
    """The local loop of DP-FedAvg. Returns the difference from the start as one vector."""
    parameters = list(model.parameters())
    with torch.no_grad():
        for p, s in zip(parameters, start):
            p.copy_(s)
    order = torch.randperm(ROWS)
    for at in range(0, ROWS, BATCH):
        rows = order[at:at + BATCH]
        gradients = torch.autograd.grad(loss(model(x[rows]), y[rows]), parameters)
        with torch.no_grad():
            torch._foreach_add_(parameters, gradients, alpha=-RATE)
            away = torch._foreach_sub(parameters, start)
            far = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(away))).item()
            if far > CLIP:
                for p, s, d in zip(parameters, start, away):
                    p.copy_(s + d * (CLIP / far))
    with torch.no_grad():
        return torch.cat([(p - s).flatten() for p, s in zip(parameters, start)])


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    torch.set_num_threads(1)
    torch.manual_seed(1)
    loss = nn.CrossEntropyLoss()
    for name, (make, classes) in MODELS.items():
        model = make()
        start = [p.detach().clone() for p in model.parameters()]
        x, y = torch.rand(ROWS, 784), torch.randint(classes, (ROWS,))
        for _ in range(5):
            update(model, start, x, y, loss)
        times, end = [], time.monotonic() + seconds
        while time.monotonic() < end or len(times) < 5:
            begun = time.thread_time()
            update(model, start, x, y, loss)
            times.append(time.thread_time() - begun)
        print(json.dumps({"name": f"learning/client/{name}", "ns_per_op": statistics.median(times) * 1e9,
                          "peer": f"torch {torch.__version__}"}))


if __name__ == "__main__":
    main()
