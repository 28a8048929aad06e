#!/usr/bin/env python3
"""test_learn_remote.py SOTTO: a session over a log, a witness, a leader and a helper that others started, with devices that are programs
of their own. The leader is killed in round 0 and the helper in round 1: the session waits, and both rounds are collected."""
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import checks
from checks import check, exit_code

sotto = sys.argv[1]
devices, needed = 11, 10
waits = 600  # seconds: a machine that does ten things at once
running = {}


def call(*words, **wanted):
    return checks.call(sotto, *words, **wanted).stdout


def write(name, text, secret=False):
    with open(name, "w", opener=lambda path, flags: os.open(path, flags, 0o600 if secret else 0o644)) as f:
        f.write(text)


def serve(name, lines="", port=0):
    """A server as its operator starts it; returns its port."""
    write(f"{name}.ini", f"[{name}]\nlisten = 127.0.0.1:{port}\noperations = 127.0.0.1:0\ndatabase = sqlite:{name}.db\n"
                         f"datastore_key = {name}.key\naddress_share = 100\n{lines}")
    for _ in range(waits):  # a port may be held for a while by what was killed
        with open(f"{name}.log", "w") as log:
            running[name] = subprocess.Popen([sotto, "serve", name, "--config", f"{name}.ini"], stderr=log)
        while running[name].poll() is None:
            with open(f"{name}.log") as log:
                started = re.search(r"server.started.* port=(\d+)", log.read())
            if started:
                return int(started[1])
            time.sleep(0.05)
        time.sleep(1)
    raise SystemExit(f"{name} does not start: " + open(f"{name}.log").read())


def kill(name):
    running[name].send_signal(signal.SIGKILL)
    running[name].wait()


def time_of(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class Deployment:
    """As docs/operating.md has it, section by section."""

    def __init__(self):
        self.log_key = call("log", "key", "log.example/test", "--out", "log-signing.key").strip()
        self.witness_key = call("log", "key", "witness.example/test", "--out", "witness-signing.key", "--cosigns").strip()
        write("log.token", "a-token-for-whoever-publishes\n", secret=True)
        write("witness.logs", self.log_key + "\n")
        self.witness = serve("witness", "key = witness-signing.key\nlogs = witness.logs\n")
        write("witnesses", f"{self.witness_key} http://127.0.0.1:{self.witness}/\n")
        self.log = serve("log", "key = log-signing.key\ntoken = log.token\nwitnesses = witnesses\ndirectory = log-files\n")
        write("rounds.keys", f"{self.log_key}\n{self.witness_key}\n")
        self.lines = f"workers = 1\nrounds_log = http://127.0.0.1:{self.log}/\nrounds_keys = rounds.keys\n"
        self.ports = {name: serve(name, self.lines) for name in ("leader", "helper")}
        self.write_parties()
        call("admin", "pair", "new", "--leader", "key:leader", "--helper", "key:helper", "--collector", "key:collector",
             "--collector-key", "plan/collector-public.txt", "--parties", "parties.json", "pairing.json", "--tokens", "tokens.json")
        for name in ("helper", "leader"):
            call("admin", "pair", "take", "pairing.json", "--collector-key", "plan/collector-public.txt", "--config", f"{name}.ini")

    def write_parties(self):
        always = {"from": "2026-01-01T00:00:00Z", "until": "2036-01-01T00:00:00Z"}
        parties = {}
        for name, port in self.ports.items():
            keys = json.loads("[" + call("admin", "keys", "export", "--json", "--config", f"{name}.ini") + "]")
            keys[0]["from"] = always["from"]  # rounds of before the server's start
            parties[f"key:{name}"] = {"role": name, "url": f"http://127.0.0.1:{port}/", "hpke": keys}
        with open("plan/collector-public.txt") as f:
            parties["key:collector"] = {"role": "collector", "hpke": [{"config": f.read().strip(), **always}]}
        write("parties.json", json.dumps(parties))

    def restart(self, name):
        serve(name, self.lines, self.ports[name])

    def add(self, record):
        """Both operators, once a recipe."""
        text = call("admin", "task", "add", record, "parties.json", "--population", str(devices), "--config", "leader.ini")
        call("admin", "task", "add", record, "parties.json", "--population", str(devices), "--expect",
             re.search(r"task (\S+)", text)[1], "--config", "helper.ini")

    def log_options(self):
        return ["--from", f"http://127.0.0.1:{self.log}/", "--log", self.log_key, "--witness", self.witness_key]

    def options(self):
        return ["--parties", "parties.json", "--pairing", "tokens.json", "--key", "plan/collector-key.json", "--token", "log.token",
                *self.log_options()]


def write_plan():
    call("learn", "init", "plan", "--devices", "20", "--cohort", "20", "--rounds", "2", "--epsilon", "30")
    return move_plan("plan", "second.json")


def move_plan(folder, *others):
    """Rounds of a minute that are over already: servers take late reports, and nobody waits for a clock."""
    with open(f"{folder}/recipe.json") as f:
        recipe = json.load(f)
    opens = int(time.time()) // 60 * 60 - 120
    recipe["rounds"].update(every="1m", grace="1s", goal=needed)
    recipe["privacy"]["min_cohort"] = needed
    recipe["population"] = devices
    recipe["anonymity"] = {"log": "main"}
    recipe["schedule"] = {"opens": time_of(opens), "closes": time_of(opens + 180), "precision": "1m"}
    for name in (f"{folder}/recipe.json", *others):
        write(name, json.dumps(recipe))
        recipe["recipe"] = "second"
    return opens


class Device:
    """`sotto device`: a folder, and no network. What it would send is posted here."""

    def __init__(self, number, deployment):
        self.folder = f"device{number}"
        os.makedirs(f"{self.folder}/sent")
        with open("plan/policy.json") as f:
            policy = json.load(f)
        policy["logs"] = {"main": {"key": deployment.log_key, "witnesses": [deployment.witness_key]}}
        write(f"{self.folder}/policy.json", json.dumps(policy))
        write(f"{self.folder}/streams.json", json.dumps(
            {"digits": {"fields": {"pixels": "text", "label": "integer"}, "max_age": "3650d", "max_rows": 1000}}))
        os.link("parties.json", f"{self.folder}/parties.json")
        rows = "".join(json.dumps({"pixels": f"{(number * 37 + k) % 256:02x}" * 784, "label": (number + k) % 10}) + "\n" for k in range(3))
        self.call("donate", "digits", "--json-lines", "-", input=rows)
        self.call("consent", "yes")

    def call(self, *words, **more):
        return call("device", *words, "--dir", self.folder, **more)

    def answer(self, feed, now, more=(), models="session/models"):
        at = ["--now", time_of(now)]
        self.call("offer", feed, *at)
        said = self.call("tick", "--idle", "--charging", "--network", "--out", f"{self.folder}/sent", "--models", models,
                         "--json", *more, *at)
        sent = [json.loads(line) for line in said.splitlines() if '"file"' in line]
        check(len(sent) == 1, f"{self.folder} makes a report of round", said)
        for upload in sent:
            self.post(upload["url"], upload["file"])

    def post(self, url, file):
        with open(file, "rb") as f:
            body = f.read()
        for i in range(waits):
            try:
                request = urllib.request.Request(url, data=body, headers={"Content-Type": "application/ppm-dap;message=upload-req"})
                with urllib.request.urlopen(request, timeout=60) as answer:
                    check(answer.status == 200, "the leader answers")  # and rejects one that comes after the last that it needs
                return
            except urllib.error.URLError as why:
                error = why
                time.sleep(0.5)
        check(False, "the leader takes the report", str(error))


TRAINER = """
import json, struct, sys

def send(kind, body):
    sys.stdout.buffer.write(struct.pack(">IB", len(body) + 1, kind) + body)
    sys.stdout.buffer.flush()

name = sys.argv[1].encode()
send(1, struct.pack(">H", 1) + bytes([len(name)]) + name)
head = sys.stdin.buffer.read(5)
body = sys.stdin.buffer.read(struct.unpack(">I", head[:4])[0] - 1)
size = struct.unpack(">I", body[:4])[0]
with open("trained", "w") as f:
    f.write(str(len(json.loads(body[4:4 + size])["rows"])))
send(3, body[4 + size:])  # its update is the model itself
sys.stdin.buffer.read(5)
"""


class Session:
    """A run in the background, whose lines can be waited for."""

    def __init__(self, words):
        self.run = subprocess.Popen([sotto, "learn", "run", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        running["session"] = self.run
        self.text, self.out = "", ""
        self.threads = [threading.Thread(target=self.read), threading.Thread(target=self.read_out)]
        for thread in self.threads:
            thread.start()

    def read(self):
        for line in self.run.stderr:
            self.text += line

    def read_out(self):
        self.out = self.run.stdout.read()

    def until(self, line):
        for _ in range(10 * waits):
            if line in self.text:
                return
            if self.run.poll() is not None:
                break
            time.sleep(0.1)
        check(False, f"the session says '{line}'", self.text)
        raise SystemExit(1)

    def end(self):
        code = self.run.wait(waits)
        for thread in self.threads:
            thread.join()
        return code


def a_session_trains_over_servers_of_others(deployment, opens):
    phones = [Device(n, deployment) for n in range(devices)]
    write("trainer.py", TRAINER)
    write("round-0", call("recipe", "round", "plan/recipe.json", "--owner", "plan/owner.key"))
    deployment.add("round-0")
    words = ["plan/recipe.json", *deployment.options(), "--owner", "plan/owner.key", "--out", "session", "--patience", "7200", "--json"]
    session = Session(words)
    for number, name in ((0, "leader"), (1, "helper")):
        session.until(f"round {number}: published")
        call("log", "feed", f"session/round-{number}.bundle", *deployment.log_options(), "--out", "feed")
        for phone in phones[:4]:
            own = ("--trainer", f"{sys.executable} trainer.py logistic") if phone is phones[0] and number == 0 else ()
            phone.answer("feed", opens + 60 * number + 30, own)
        kill(name)
        deployment.restart(name)
        for phone in phones[4:]:
            phone.answer("feed", opens + 60 * number + 30)
        session.until(f"round {number}: closed")
    check(session.end() == 0, "the session ends", session.text)
    status = json.loads(session.out)
    check(status["rounds"] == 2 and status["burnt"] == 0, "both rounds are collected", session.out)
    check(needed * 2 <= status["reports"] <= devices * 2, "with their reports", session.out)
    check(0 < status["epsilon"] <= 30 and "must be honest" in status["honest"], "the receipt's claim", session.out)
    with open("log-files/checkpoint") as f:
        check(f.read().split("\n")[1] == "2", "two records are published")
    again = json.loads(call("learn", "run", *words))
    check(again["transcript"] == status["transcript"], "a session that is over stays as it is")
    call("learn", "export", "session", "--to", "m.npz", says="2 rounds")
    with open("trained") as f:
        check(f.read() == "3", "a program trained on the rows of its device")
    return words


def a_rehearsal_plays_the_devices(deployment):
    write("second-0", call("recipe", "round", "second.json", "--owner", "plan/owner.key"))
    deployment.add("second-0")
    status = json.loads(call("learn", "run", "second.json", *deployment.options(), "--owner", "plan/owner.key", "--rehearse",
                             "--stop-after", "1", "--out", "rehearsal", "--json"))
    check(status["rounds"] == 1 and status["burnt"] == 0 and status["reports"] == devices, "a rehearsal", str(status))


def a_model_of_ones_own_is_trained_by_programs_of_the_devices(deployment):
    """All numbers are 0.5, and so is each of an update before it is clipped: afterwards it has 0.5 / 500 ** 0.5."""
    head = b'{"w": {"dtype": "F32", "shape": [500], "data_offsets": [0, 2000]}}'
    with open("first", "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head + struct.pack("<f", 0.5) * 500)
    call("learn", "init", "own", "--model", "pair", "--init", "first", "--devices", "20", "--cohort", "20", "--rounds", "1", "--epsilon", "30")
    opens = move_plan("own")
    write("own-0", call("recipe", "round", "own/recipe.json", "--owner", "own/owner.key"))
    deployment.add("own-0")
    words = ["own/recipe.json", *deployment.options(), "--owner", "own/owner.key", "--out", "own-session", "--patience", "7200", "--json"]
    call("learn", "run", *words, code=4, says="--init names its first file")
    call("learn", "run", *words, "--init", "first", "--rehearse", code=4, says="--rehearse trains those that it has")
    session = Session([*words, "--init", "first"])
    session.until("round 0: published")
    call("log", "feed", "own-session/round-0.bundle", *deployment.log_options(), "--out", "own-feed")
    for number in range(100, 100 + devices):
        Device(number, deployment).answer("own-feed", opens + 30, ("--trainer", f"{sys.executable} trainer.py pair"), "own-session/models")
    check(session.end() == 0, "the session ends", session.text)
    status = json.loads(session.out)
    with open(f"own-session/models/{status['model']}", "rb") as f:
        data = f.read()
    moved = sum(struct.unpack("<500f", data[8 + len(head):])) / 500 - 0.5
    check(data[8:8 + len(head)] == head and status["loss"] is None, "it has its head", str(status))
    check(0.01 < moved * devices / status["reports"] < 0.035, f"{status['reports']} updates moved it by {moved}")


def mistakes_are_told(deployment, words):
    call("learn", "run", "plan/recipe.json", *deployment.options(), "--out", "none", code=4, says="--owner names its secret half")
    call("learn", "key", "other.key")
    call("learn", "run", "plan/recipe.json", *deployment.options(), "--owner", "other.key", "--out", "none", code=4,
         says="not the key that rounds.key names")
    call("learn", "run", "plan/recipe.json", "--out", "session", code=4, says="servers of others")
    call("learn", "run", "plan/recipe.json", "--parties", "parties.json", code=2, says="--pairing: it is needed")
    call("learn", "run", "plan/recipe.json", "--rehearse", code=2, says="goes with --parties")
    call("learn", "run", *words, "--library", code=2, says="servers of this machine")
    call("recipe", "round", "plan/recipe.json", code=2, says="--owner")
    call("recipe", "price", "plan/recipe.json", code=2, says="trains a model")
    call("collect", "--recipe", "plan/recipe.json", "--parties", "parties.json", "--pairing", "tokens.json", "--key", "plan/collector-key.json",
         code=2, says="trains a model")
    call("device", "tick", "--models", "session/models", "--dir", "device0", code=2, says="goes with --out")


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    try:
        first = write_plan()
        servers = Deployment()
        said = a_session_trains_over_servers_of_others(servers, first)
        a_rehearsal_plays_the_devices(servers)
        a_model_of_ones_own_is_trained_by_programs_of_the_devices(servers)
        mistakes_are_told(servers, said)
    finally:
        for process in running.values():
            process.kill()
            process.wait()
        os.chdir("/")
sys.exit(exit_code())
