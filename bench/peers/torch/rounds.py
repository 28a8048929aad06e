"""Rounds of FedAvg in pfl-research and in Flower: LeNet, 100 users of 100 rows, all of them in each round, batches of 20, one epoch.

    python3 bench/peers/torch/rounds.py pfl|flower

prints a JSON line with the median CPU time of a round, of this process and of all that it started. The first rounds, in which
workers start, don't count. There is no clip and no noise, which sotto-bench's round has.
"""
import json
import os
import statistics
import sys

ROUNDS, WARM, USERS, ROWS, BATCH, RATE, CLASSES = 6, 2, 100, 100, 20, 0.1, 62


def cpu_seconds():
    """User and system time of this process and of its descendants, dead ones that were waited for included."""
    parents, ticks = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(name)], ticks[int(name)] = int(fields[1]), sum(map(int, fields[11:15]))

    def ours(pid):
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()
    return sum(t for pid, t in ticks.items() if ours(pid)) / os.sysconf("SC_CLK_TCK")


def lenet():
    import torch
    from torch import nn

    class LeNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
            self.fc1, self.fc2, self.fc3 = nn.Linear(256, 120), nn.Linear(120, 84), nn.Linear(84, CLASSES)

        def forward(self, x):
            x = torch.max_pool2d(torch.relu(self.conv1(x.view(-1, 1, 28, 28))), 2)
            x = torch.max_pool2d(torch.relu(self.conv2(x)), 2).flatten(1)
            return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))

        def loss(self, x, y, eval=False):
            return nn.functional.cross_entropy(self(x), y)

        def metrics(self, x, y, eval=True):
            return {}
    torch.manual_seed(1)
    torch.set_num_threads(1)
    return LeNet()


def user(number):
    import torch

    source = torch.Generator().manual_seed(number)
    return torch.rand(ROWS, 784, generator=source), torch.randint(CLASSES, (ROWS,), generator=source)


def in_pfl():
    import pfl
    import torch
    from pfl.aggregate.simulate import SimulatedBackend
    from pfl.algorithm.base import NNAlgorithmParams
    from pfl.algorithm.federated_averaging import FederatedAveraging
    from pfl.callback.base import TrainingProcessCallback
    from pfl.data.federated_dataset import FederatedDataset
    from pfl.data.pytorch import PyTorchTensorDataset
    from pfl.data.sampling import get_user_sampler
    from pfl.hyperparam.base import NNTrainHyperParams
    from pfl.model.pytorch import PyTorchModel

    users = [PyTorchTensorDataset(user(i)) for i in range(USERS)]
    times = [cpu_seconds()]

    class Clock(TrainingProcessCallback):
        def after_central_iteration(self, aggregate_metrics, model, *, central_iteration):
            times.append(cpu_seconds())
            return False, pfl.metrics.Metrics()
    module = lenet()
    model = PyTorchModel(module, local_optimizer_create=torch.optim.SGD,
                         central_optimizer=torch.optim.SGD(module.parameters(), 1.0))
    data = FederatedDataset(lambda i: users[i], get_user_sampler("minimize_reuse", list(range(USERS))))
    FederatedAveraging().run(
        algorithm_params=NNAlgorithmParams(central_num_iterations=ROUNDS, evaluation_frequency=10**6,
                                           train_cohort_size=USERS, val_cohort_size=0),
        backend=SimulatedBackend(training_data=data, val_data=None), model=model,
        model_train_params=NNTrainHyperParams(local_num_epochs=1, local_learning_rate=RATE, local_batch_size=BATCH),
        callbacks=[Clock()])
    return times, f"pfl {pfl.__version__}"


def fit(module, number):
    import torch

    x, y = user(number)
    step = torch.optim.SGD(module.parameters(), lr=RATE)
    order = torch.randperm(ROWS)
    for at in range(0, ROWS, BATCH):
        step.zero_grad()
        module.loss(x[order[at:at + BATCH]], y[order[at:at + BATCH]]).backward()
        step.step()


def in_flower():
    import flwr
    import torch
    from flwr.client import ClientApp, NumPyClient
    from flwr.common import ndarrays_to_parameters
    from flwr.server import ServerApp, ServerAppComponents, ServerConfig
    from flwr.server.strategy import FedAvg
    from flwr.simulation import run_simulation

    def numbers(module):
        return [p.detach().numpy() for p in module.parameters()]

    class Client(NumPyClient):
        def __init__(self, number):
            self.number = number

        def fit(self, parameters, config):
            module = lenet()
            with torch.no_grad():
                for p, value in zip(module.parameters(), parameters):
                    p.copy_(torch.from_numpy(value))
            fit(module, self.number)
            return numbers(module), ROWS, {}
    times = []

    class Strategy(FedAvg):
        def configure_fit(self, *arguments, **named):
            times.append(cpu_seconds())
            return super().configure_fit(*arguments, **named)

    def server(context):
        strategy = Strategy(fraction_fit=1.0, min_fit_clients=USERS, min_available_clients=USERS, fraction_evaluate=0.0,
                            initial_parameters=ndarrays_to_parameters(numbers(lenet())))
        return ServerAppComponents(strategy=strategy, config=ServerConfig(num_rounds=ROUNDS + 1))
    run_simulation(server_app=ServerApp(server_fn=server), num_supernodes=USERS,
                   client_app=ClientApp(client_fn=lambda c: Client(int(c.node_config["partition-id"])).to_client()),
                   backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}, "init_args": {"num_cpus": 1}})
    return times, f"flwr {flwr.__version__}"


def main():
    run = {"pfl": in_pfl, "flower": in_flower}[sys.argv[1]]
    try:
        times, peer = run()
    except ImportError as missing:
        print(f"rounds.py: skipped: {missing}", file=sys.stderr)
        sys.exit(77)
    rounds = [b - a for a, b in zip(times, times[1:])][WARM:]
    print(json.dumps({"name": f"learning/round-of-100/lenet/{sys.argv[1]}", "ns_per_op": statistics.median(rounds) * 1e9,
                      "rounds": len(rounds), "peer": peer}))


main()
