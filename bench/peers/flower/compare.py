#!/usr/bin/env python3
"""Flower's SecAgg+ beside our flamingo: all that the server computes in one round, on one core, in one run.

    sh tools/peers-flower.sh runs it

512 clients with 16,384 numbers of 32 bits, about 36 neighbours each, one in ten silent after its keys are out. Flower's own
workflow and its own client mod run in this process; the clients' time is measured and taken away. Our side is what
`sotto-bench --filter flamingo/512` measures: every upload, and everything after the window closes. Both are CPU time of one
thread, and neither has a network or a database in it. What each side computes once and not in every round is left out: our
committee's key; Flower makes its keys anew in each round. Where Flower is not installed the comparison is skipped, and says so. Takes minutes: Flower's clients share secrets in Python.
"""
import argparse
import copy
import json
import os
import subprocess
import sys
import time
from types import SimpleNamespace

NEIGHBOURS = 36


def ours(bench, clients):
    lines = subprocess.run(
        [bench, "--filter", f"flamingo/{clients}", "--json"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    rows = {row["name"]: row["value"] for row in map(json.loads, lines) if "value" in row}
    after = min(v for k, v in rows.items() if "/server-after-closing/" in k and k.split("/")[-1] in ("vaes512", "vaes", "evp"))
    online = clients - sum(1 for i in range(clients) if i % 10 == 5)
    uploads = rows[f"flamingo/{clients}/ingest-upload"] * online
    judging = rows[f"flamingo/{clients}/ingest-upload-judged"] * online
    told = rows[f"flamingo/{clients}/server-messages-and-shares"]
    parts = {
        "signatures and forms of reports": judging,
        "reports taken, vectors added up": uploads - judging,
        "messages with decryptors, shares and points": told,
        "masks": after - told,
    }
    return (uploads + after) / 1000, {what: ms / 1000 for what, ms in parts.items()}


class Clients:
    """Flower's clients, and the clock that they run by."""

    def __init__(self, count, length, mod, call_next, context):
        self.mod, self.call_next = mod, call_next
        self.contexts = {nid: context() for nid in range(1, count + 1)}
        self.silent = {nid for nid in self.contexts if nid % 10 == 5}
        self.stage = 0
        self.seconds = 0.0

    def send_and_receive(self, messages, *, timeout=None):
        start = time.thread_time()
        self.stage += 1
        answers = []
        for message in messages:
            nid = message.metadata.dst_node_id
            if self.stage < 3 or nid not in self.silent:
                # A copy, as the network makes one: the mod takes its message apart.
                answers.append(self.mod(copy.deepcopy(message), self.contexts[nid], self.call_next))
        self.seconds += time.thread_time() - start
        return answers


def theirs(clients, length):
    import numpy as np
    from flwr.client.mod.secure_aggregation.secaggplus_mod import secaggplus_mod
    from flwr.common import Code, ConfigRecord, FitIns, FitRes, Message, RecordDict, Status, ndarrays_to_parameters
    from flwr.common import Context
    from flwr.compat.common import recorddict_compat as compat
    from flwr.server.workflow.constant import MAIN_CONFIGS_RECORD, MAIN_PARAMS_RECORD, Key as WorkflowKey
    from flwr.server.workflow.secure_aggregation.secaggplus_workflow import SecAggPlusWorkflow, WorkflowState
    from flwr.supercore.task_identity import TaskIdentity

    TaskIdentity.run_id = TaskIdentity.task_id = TaskIdentity.node_id = 1

    vector = ndarrays_to_parameters([np.ones(length, dtype=np.float32)])
    result = FitRes(Status(Code.OK, ""), vector, 1, {})

    def fit(message, _context):
        return Message(compat.fitres_to_recorddict(result, True), reply_to=message)

    def context():
        return Context(run_id=1, node_id=1, node_config={}, state=RecordDict(), run_config={})

    state = RecordDict()
    state.config_records[MAIN_CONFIGS_RECORD] = ConfigRecord({WorkflowKey.CURRENT_ROUND: 1})
    state.array_records[MAIN_PARAMS_RECORD] = compat.parameters_to_arrayrecord(vector, True)
    sampled = [(SimpleNamespace(node_id=nid), FitIns(vector, {})) for nid in range(1, clients + 1)]
    got = []
    server = SimpleNamespace(
        state=state,
        strategy=SimpleNamespace(
            configure_fit=lambda *_: sampled,
            aggregate_fit=lambda _round, results, _failures: got.extend(results) or (results[0][1].parameters, {}),
        ),
        client_manager=SimpleNamespace(num_available=lambda: clients),
        history=SimpleNamespace(add_metrics_distributed_fit=lambda **_: None),
    )
    grid = Clients(clients, length, secaggplus_mod, fit, context)
    work = SecAggPlusWorkflow(num_shares=NEIGHBOURS + 1, reconstruction_threshold=NEIGHBOURS // 2 + 1, max_weight=1)
    round_state = WorkflowState()
    stages = []
    for step in (work.setup_stage, work.share_keys_stage, work.collect_masked_vectors_stage, work.unmask_stage):
        before, start = grid.seconds, time.thread_time()
        if not step(grid, server, round_state):
            sys.exit(f"Flower: {step.__name__} failed")
        stages.append(time.thread_time() - start - (grid.seconds - before))
    if len(got) != clients - len(grid.silent):
        sys.exit(f"Flower: {len(got)} results")
    names = ("setup", "share keys", "collect masked vectors", "unmask")
    return sum(stages), dict(zip(names, stages)), grid.seconds / clients


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench")
    parser.add_argument("--clients", type=int, default=512)
    arguments = parser.parse_args()
    length = {64: 4096, 512: 16384}[arguments.clients]
    try:
        import flwr
    except ImportError:
        print("skipped: Flower is not installed")
        return
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(f"load {os.getloadavg()[0]:.1f}")
    # Other processes make CPU time longer, and may come or go meanwhile: the slower of ours counts.
    before = ours(arguments.bench, arguments.clients)
    other, other_parts, client = theirs(arguments.clients, length)
    after = ours(arguments.bench, arguments.clients)
    own, own_parts = max(before, after, key=lambda side: side[0])
    print(f"load {os.getloadavg()[0]:.1f}; ours before {before[0]:.3f} s, after {after[0]:.3f} s")
    print(f"{arguments.clients} clients, {length} numbers; seconds of CPU time of the server")
    for name, seconds, parts in (
        ("sotto flamingo", own, own_parts),
        (f"Flower {flwr.__version__} SecAgg+", other, other_parts),
    ):
        print(f"{name:48} {seconds:9.3f}")
        for what, of_it in parts.items():
            print(f"    {what:44} {of_it:9.3f}")
    print(f"ratio {other / own:.0f}; Flower's client took {client:.2f} s")


if __name__ == "__main__":
    main()
