"""Relay, gateway, leader and helper as processes, each in its namespace, and a fleet of devices in theirs."""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

from network import Network

DEVICES = "10.78."  # addresses of devices begin so
# role, address, lines of its file. Roles that come later (attester, issuer, log, witness) are rows here.
ROLES = (
    ("devices", "10.77.0.1", None),
    ("helper", "10.77.0.2", ["listen = 0.0.0.0:8788", "address_share = 100"]),
    ("leader", "10.77.0.3", ["listen = 0.0.0.0:8787", "address_share = 100"]),
    ("gateway", "10.77.0.4", ["listen = 0.0.0.0:8801", "address_share = 100", "targets = targets.txt"]),
    ("relay", "10.77.0.5", ["listen = 0.0.0.0:8802", "gateways = gateways.txt"]),
)
class Lost(Exception):
    """The kernel kept too few packets for a capture: what is missing can't be told from what was not sent."""


LEADER, HELPER, COLLECTOR = "key:leader", "key:helper", "key:collector"


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class Deployment:
    def __init__(self, directory, sotto, fleet, here):
        self.directory, self.sotto, self.fleet, self.here = directory, sotto, fleet, here
        self.address = {role: address for role, address, _ in ROLES}
        self.servers, self.captures, self.batches = {}, {}, 0
        self.began = int(time.time())
        self.network = Network()
        for role, address, _ in ROLES:
            self.network.add(role, address)
        self.network.give_all("devices", DEVICES + "0.0/16")
        self.network.route("relay", DEVICES + "0.0/16", self.address["devices"])

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text, mode=0o600):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)

    def say(self, *words, **more):
        """A command of sotto; what it prints."""
        done = subprocess.run([self.sotto] + list(words), cwd=self.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        if done.returncode != 0:
            raise RuntimeError(f"sotto {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    # ---- up ----

    def start(self, population, mix_least, mix_delay_ms):
        url = {role: f"http://{address}:" for role, address, _ in ROLES}
        self.write("targets.txt", f"https://leader.example/ {url['leader']}8787/\n")
        self.write("gateways.txt", f"leader {url['gateway']}8801/.well-known/ohttp-gateway\n")
        for role, _, lines in ROLES:
            if not lines:
                continue
            more = [f"mix_least = {mix_least}", f"mix_delay_ms = {mix_delay_ms}"] if role == "relay" else []
            own = [f"[{role}]", "plain_http = yes", f"database = sqlite:{role}.db", f"datastore_key = {role}.key", "log_level = debug"]
            self.write(role + ".ini", "\n".join(own + lines + more) + "\n")
            self.serve(role)
        self.exchange_keys(url)
        self.add_task(population)
        for role in self.address:
            words = [sys.executable, os.path.join(self.here, "capture.py"), self.path(role + ".packets")]
            self.captures[role] = self.network.start(role, words, stdout=subprocess.PIPE)
            self.captures[role].stdout.readline()

    def serve(self, role):
        log = open(self.path(role + ".log"), "ab")
        self.servers[role] = self.network.start(role, [self.sotto, "serve", role, "--config", role + ".ini"], cwd=self.directory, stderr=log)
        self.wait_until(lambda: "server.started" in self.log_of(role), f"{role} does not start")

    def log_of(self, role):
        return open(self.path(role + ".log"), encoding="utf-8", errors="replace").read()

    def wait_until(self, good, what, seconds=60):
        end = time.time() + seconds
        while not good():
            if time.time() > end:
                raise RuntimeError(what)
            time.sleep(0.1)

    def exchange_keys(self, url):
        """The devices name the leader as the gateway's table does; where that is, only the gateway knows."""
        keys = {}
        for role in ("leader", "helper", "gateway"):
            keys[role] = json.loads("[" + self.say("admin", "keys", "export", "--json", "--config", role + ".ini") + "]")
        self.write("collector.pub", self.say("collect", "key", "collector.key"))
        collector = {"config": open(self.path("collector.pub")).read().strip(), "from": "2020-01-01T00:00:00Z", "until": "2046-01-01T00:00:00Z"}
        self.write("parties.json", json.dumps({
            LEADER: {"role": "leader", "url": "https://leader.example/", "hpke": keys["leader"]},
            HELPER: {"role": "helper", "url": f"{url['helper']}8788/", "hpke": keys["helper"]},
            COLLECTOR: {"role": "collector", "hpke": [collector]},
            "relay": {"role": "relay", "url": f"{url['relay']}8802/leader"},
            "gateway": {"role": "gateway", "url": f"{url['gateway']}8801/", "hpke": keys["gateway"]},
        }))
        self.say("admin", "pair", "new", "--leader", LEADER, "--helper", HELPER, "--collector", COLLECTOR, "--collector-key", "collector.pub",
                 "--parties", "parties.json", "pairing.json")
        for role in ("leader", "helper"):
            self.say("admin", "pair", "take", "pairing.json", "--collector-key", "collector.pub", "--config", role + ".ini")

    def add_task(self, population):
        opens = (int(time.time()) // 10 + 1) * 10
        self.write("recipe.json", json.dumps({
            "recipe": "commute-1", "version": 1, "analysis": "com.example.commute", "description": "How people got to work today.",
            "query": "SELECT way FROM commutes", "pick": "one-at-random",
            "encode": {"way": {"type": "categories", "values": ["walking", "bicycle", "bus", "train", "car"], "oov": True}, "combine": ["way"]},
            "randomizer": {"type": "one-hot", "form": "asymmetric", "epsilon_local": 4.0},
            "participation": {"type": "poisson", "rate": 0.5},
            "privacy": {"adjacency": "replacement", "epsilon": 4.0, "delta": 1e-6, "min_cohort": 10},
            "aggregation": {"trust": "split", "leader": LEADER, "helper": HELPER, "collector": COLLECTOR},
            "schedule": {"opens": stamp(opens), "closes": stamp(opens + 7200), "precision": "10s"},
            "population": population, "on_no_match": "no-value"}))
        self.write("policy.json", json.dumps({
            "policy": "com.example.trial", "version": 1,
            "analyses": {"com.example.commute": {"epsilon": 5, "delta": 1e-5, "reports": 1, "fields": ["commutes.way"]}},
            "fields": {"commutes.way": {"epsilon_local": 5, "epsilon": 5, "delta": 1e-5, "reports": 1}},
            "non_sensitive": [], "min_cohort": 10, "honest": 0.5}))
        for role in ("leader", "helper"):
            self.say("admin", "task", "add", "recipe.json", "parties.json", "--population", str(population), "--config", role + ".ini")
        for role in ("leader", "helper"):
            self.wait_until(lambda: "task.served" in self.log_of(role), f"{role} does not serve the task")
        time.sleep(max(0, opens - time.time()) + 1)

    # ---- the run ----

    def run_fleet(self, devices, seconds, seed):
        words = [self.fleet, self.directory, str(devices), str(seconds), str(seed), DEVICES + "1.0"]
        fleet = self.network.start("devices", words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said, wrong = fleet.communicate()
        if fleet.returncode != 0:
            raise RuntimeError(f"the fleet failed: {wrong[-2000:]}")
        truth = []
        for line in said.split():
            number, address, report, sent, answered, delivered = line.split(",")
            if delivered != "1":
                raise RuntimeError(f"a report was not taken: {line}")
            truth.append((int(number), address, report, float(sent), float(answered)))
        self.wait_until(lambda: self.metric("leader", "sotto_reports_in_jobs") == 0 and self.metric("leader", "sotto_reports_waiting") == 0 and
                        self.metric("leader", "sotto_reports_aggregated_total") >= len(truth), "the leader does not finish its jobs")
        self.batches = int(self.metric("relay", "sotto_relay_batches_total"))
        return truth

    def metric(self, role, name):
        port = {"leader": 9787, "helper": 9788, "gateway": 9801, "relay": 9802}[role]
        ask = f"import urllib.request as u; print(u.urlopen('http://127.0.0.1:{port}/metrics', timeout=20).read().decode())"
        _, text = self.network.ask(role, [sys.executable, "-c", ask])
        found = re.search(rf"^{name} (\S+)$", text, re.M)
        return float(found.group(1)) if found else -1

    # ---- down ----

    def stop(self):
        for capture in self.captures.values():
            capture.send_signal(signal.SIGTERM)
        lost = [role for role, capture in self.captures.items() if capture.wait() != 0]
        self.captures = {}
        if lost:
            raise Lost(f"packets were lost on the way to the capture of {', '.join(lost)}: raise net.core.rmem_max")
        for server in self.servers.values():
            server.send_signal(signal.SIGTERM)
        for role, server in self.servers.items():
            if server.wait() != 0:
                raise RuntimeError(f"{role} ended with {server.returncode}")
        self.servers = {}

    def left_by(self, role):
        """What is on the disk of a role: database, log, and what lies beside them."""
        return glob.glob(self.path(role + ".db*")) + [self.path(role + ".log")]

    def show_logs(self):
        for role in self.address:
            if os.path.exists(self.path(role + ".log")):
                print(f"--- {role}\n{self.log_of(role)[-3000:]}")

    def close(self):
        for process in list(self.captures.values()) + list(self.servers.values()):
            process.kill()
            process.wait()
        self.network.close()
