"""Every service as a process in its namespace, and a fleet of devices in theirs."""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

from network import Loopback, Network

DEVICES = "10.78."  # addresses of devices begin so
# role, address, port, lines of its file
ROLES = (
    ("devices", "10.77.0.1", 0, None),
    ("helper", "10.77.0.2", 8788, ["address_share = 100"]),
    ("leader", "10.77.0.3", 8787, ["address_share = 100"]),
    ("gateway", "10.77.0.4", 8801, ["address_share = 100", "targets = targets.txt"]),
    ("relay", "10.77.0.5", 8802, ["gateways = gateways.txt"]),
    ("witness", "10.77.0.6", 8792, ["key = witness-signing.key", "logs = witness.logs"]),
    ("log", "10.77.0.7", 8791, ["key = log-signing.key", "token = log.token", "witnesses = witnesses", "directory = log-files"]),
    ("issuer", "10.77.0.8", 8793, ["operator_token = operator.token", "attester_token = shared.token"]),
    ("attester", "10.77.0.9", 8794, ["operator_token = operator.token", "issuer_token = shared.token", "workers = 4"]),
)
LEADER, HELPER, COLLECTOR, ISSUER = "key:leader", "key:helper", "key:collector", "key:issuer"
GATEWAY_KEYS = 9  # that a gateway has as soon as it has started, if its keys change as often as they may
PRECISION = 5  # seconds, of the times that reports state
# Several PUTs over one connection: HOST PORT TOKEN, then a path in each line of the input.
PUT_ALL = """
import http.client, sys
host, port, token = sys.argv[1:4]
client = http.client.HTTPConnection(host, int(port), timeout=60)
for path in sys.stdin.read().split():
    client.request("PUT", path, headers={"Authorization": "Bearer " + token})
    answer = client.getresponse()
    answer.read()
    if answer.status not in (200, 201, 204):
        sys.exit(f"{path}: {answer.status}")
"""


class Lost(Exception):
    """The kernel kept too few packets for a capture: what is missing can't be told from what was not sent."""


class Late(Exception):
    """The collection opens too soon for what has to be done before: the machine is slower than was thought."""


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class Deployment:
    """Roles in namespaces, captured; or on the addresses of `loopback`, which ends with a dot, as "127.3.4.".

    `plan` is a dict: devices, rate (of taking part), mix_least, mix_delay_ms, fetch and answer (seconds), gateways (more than one: each device has a
    key of its own, GATEWAY_KEYS of each gateway), hasty (tokens are asked for when they are used), arc (credentials of leader and helper in place of tokens), length (seconds of the collection; else so
    many as answers need)."""

    def __init__(self, directory, sotto, fleet, here, plan, loopback=None):
        self.directory, self.sotto, self.fleet, self.here, self.plan = directory, sotto, fleet, here, plan
        self.loopback, self.devices = loopback, loopback + "100" if loopback else DEVICES + "1.0"
        self.address = {role: loopback + address.rsplit(".", 1)[1] if loopback else address for role, address, _, _ in ROLES}
        self.port = {role: port for role, _, port, _ in ROLES}
        self.servers, self.captures, self.batches, self.gateway_keys, self.left = {}, {}, 0, [], []
        self.closes = 0
        self.started = time.time()
        self.began = int(self.started)
        self.network = Loopback() if loopback else Network()
        for role, address in self.address.items():
            self.network.add(role, address)
        self.network.give_all("devices", DEVICES + "0.0/16")
        for role in ("relay", "attester"):
            self.network.route(role, DEVICES + "0.0/16", self.address["devices"])

    def path(self, name):
        return os.path.join(self.directory, name)

    def url(self, role):
        return f"http://{self.address[role]}:{self.port[role]}/"

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read().strip()

    def write(self, name, text, mode=0o600):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)

    def say(self, *words, inside=None):
        """A command of sotto; what it prints."""
        before = self.network.inside(inside) if inside else []
        done = subprocess.run(before + [self.sotto] + list(words), cwd=self.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"sotto {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def ask(self, role, script, *words, text=None):
        """Runs Python in a role's namespace; what it prints."""
        done = subprocess.run(self.network.inside(role) + [sys.executable, "-c", script] + [str(w) for w in words], input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{role}: {done.stderr[-2000:]}")
        return done.stdout

    # ---- up ----

    def start(self):
        self.write("targets.txt", f"https://leader.example/ {self.url('leader')}\nhttps://log.example/ {self.url('log')}\n")
        numbers = range(self.plan["gateways"])
        self.write("gateways.txt", "".join(f"leader{n} {self.gateway(n)}.well-known/ohttp-gateway\n" for n in numbers))
        for name in ("log.token", "operator.token", "shared.token"):
            self.write(name, os.urandom(24).hex() + "\n")
        self.write("log.pub", self.say("log", "key", "log.example/test", "--out", "log-signing.key"))
        self.write("witness.pub", self.say("log", "key", "witness.example/test", "--out", "witness-signing.key", "--cosigns"))
        self.write("witness.logs", self.read("log.pub") + "\n")
        self.write("witnesses", f"{self.read('witness.pub')} {self.url('witness')}\n")
        more = {"relay": [f"mix_least = {self.plan['mix_least']}", f"mix_delay_ms = {self.plan['mix_delay_ms']}"],
                "attester": [f"issuer = {self.url('issuer')}"] + [f"{role} = {self.url(role)}\n{role}_token = shared.token" for role in self.issuers()
                                                                  if role != "issuer"],
                "gateway": ["key_active = 1h", "key_pending = 1m", "key_lead = 4h"] if self.plan["gateways"] > 1 else []}
        for role, _, port, lines in ROLES:
            for n in numbers if role == "gateway" else [0] if lines else []:
                name = f"{role}-{n}" if n else role
                own = [f"[{role}]", f"listen = {self.listening(role)}:{port + 10 * n}", f"operations = {self.own(role)}:{port + 10 * n + 1000}",
                       "plain_http = yes", f"database = sqlite:{name}.db", f"datastore_key = {name}.key", "log_level = debug"]
                self.write(name + ".ini", "\n".join(own + lines + more.get(role, [])) + "\n")
                self.serve(role, name)
        for role in self.servers:
            self.wait_until(lambda: "server.started" in self.log_of(role), f"{role} does not start")
        self.exchange_keys()
        self.enrol()
        self.wait_until(lambda: "log.confirmed" in self.log_of("log"), "the witness does not cosign")
        self.ask_everybody()
        for role in [] if self.loopback else self.address:
            words = [sys.executable, os.path.join(self.here, "capture.py"), self.path(role + ".packets")]
            self.captures[role] = self.network.start(role, words, stdout=subprocess.PIPE)
        for capture in self.captures.values():
            capture.stdout.readline()

    def issuers(self):
        """Who issues: of ARC leader and helper themselves."""
        return ("leader", "helper") if self.plan.get("arc") else ("issuer",)

    def serve(self, role, name):
        with open(self.path(name + ".log"), "ab") as log:
            self.left.append(name)
            self.servers[name] = self.network.start(role, [self.sotto, "serve", role, "--config", name + ".ini"], cwd=self.directory, stderr=log)

    def own(self, role):
        """Where a role reaches itself."""
        return self.address[role] if self.loopback else "127.0.0.1"

    def listening(self, role):
        return self.address[role] if self.loopback else "0.0.0.0"

    def gateway(self, n):
        return f"http://{self.address['gateway']}:{self.port['gateway'] + 10 * n}/"

    def log_of(self, role):
        return open(self.path(role + ".log"), encoding="utf-8", errors="replace").read()

    def wait_until(self, good, what, seconds=120):
        end = time.time() + seconds
        while not good():
            ended = [role for role, server in self.servers.items() if server.poll() is not None]
            if ended or time.time() > end:
                raise RuntimeError(f"{what}; ended: {ended}")
            time.sleep(0.1)

    def keys_of(self, role):
        return json.loads("[" + self.say("admin", "keys", "export", "--json", "--config", role + ".ini") + "]")

    def exchange_keys(self):
        """The devices name the leader as the gateway's table does; where that is, only the gateway knows."""
        keys = {role: self.keys_of(role) for role in ("leader", "helper", "gateway")}
        self.write("collector.pub", self.say("collect", "key", "collector.key"))
        collector = {"config": self.read("collector.pub"), "from": "2020-01-01T00:00:00Z", "until": "2046-01-01T00:00:00Z"}
        parties = {
            LEADER: {"role": "leader", "url": "https://leader.example/", "hpke": keys["leader"]},
            HELPER: {"role": "helper", "url": self.url("helper"), "hpke": keys["helper"]},
            COLLECTOR: {"role": "collector", "hpke": [collector]},
            "key:relay": {"role": "relay", "url": self.url("relay") + "leader0"},
            "key:gateway": {"role": "gateway", "url": self.url("gateway"), "hpke": keys["gateway"]},
            "key:attester": {"role": "attester", "url": self.url("attester")},
            ISSUER: {"role": "issuer", "url": self.url("issuer")},
        }
        self.write("parties.json", json.dumps(parties))
        self.say("admin", "pair", "new", "--leader", LEADER, "--helper", HELPER, "--collector", COLLECTOR, "--collector-key", "collector.pub",
                 "--parties", "parties.json", "pairing.json")
        for role in ("leader", "helper"):
            self.say("admin", "pair", "take", "pairing.json", "--collector-key", "collector.pub", "--config", role + ".ini")
        if self.plan["gateways"] > 1:
            self.give_keys(parties)

    def give_keys(self, parties):
        """Gateways that want to know their clients apart: each client gets another key."""
        always = {"from": "2020-01-01T00:00:00Z", "until": "2046-01-01T00:00:00Z"}
        for n in range(self.plan["gateways"]):
            keys = self.keys_of(f"gateway-{n}" if n else "gateway")
            if len(keys) != GATEWAY_KEYS:
                raise RuntimeError(f"a gateway has {len(keys)} keys")
            for key in keys:
                parties["key:relay"]["url"] = self.url("relay") + f"leader{n}"
                parties["key:gateway"].update(url=self.gateway(n), hpke=[dict(always, config=key["config"])])
                self.write(f"parties-{len(self.gateway_keys)}.json", json.dumps(parties))
                self.gateway_keys.append((self.port["gateway"] + 10 * n, bytes.fromhex(key["config"])[0]))

    def enrol(self):
        """As the attester's operator does before devices are given away."""
        done = subprocess.run([self.fleet, str(self.plan["devices"]), str(self.plan["seed"])], stdout=subprocess.PIPE, text=True, check=True)
        self.enrolments = done.stdout.split()
        self.ask("attester", PUT_ALL, self.address["attester"], self.port["attester"], self.read("operator.token"),
                 text="\n".join("/devices/" + key for key in self.enrolments))

    # ---- the question ----

    def ask_everybody(self):
        """Recipe and keys are published before the collection opens. On a slow machine the first try may be too late for that."""
        took = time.time() - self.started  # for the services to start
        for attempt in range(4):
            try:
                return self.publish(attempt, max(3, 1.5 * took) * 3 ** attempt)
            except Late:
                continue
        raise RuntimeError("this machine is too slow to publish a recipe")

    def publish(self, attempt, spare):
        plan = self.plan
        # Not before the last try's end: epochs of ARC never overlap.
        self.opens = max(self.closes, int(time.time() + spare + plan["fetch"] + PRECISION) // PRECISION * PRECISION)
        # Tokens rest for a quarter of the collection at most. Devices answer after that quarter.
        length = plan.get("length") or int(4 / 3 * (plan["answer"] + 5) + PRECISION) // PRECISION * PRECISION
        self.rest, self.closes = length // 4 + 1, self.opens + length
        analysis = f"com.example.commute{attempt}"
        self.write_question(analysis, attempt)
        self.token_keys = [self.make_key(role, analysis) for role in self.issuers()]
        trust = ["--log", self.read("log.pub"), "--witness", self.read("witness.pub")]
        to = ["--from", f"http://{self.own('log')}:{self.port['log']}/"] + trust  # from its own namespace: plain HTTP is for loopback
        self.say("recipe", "publish", "recipe.json", "--policy", "policy.json", *to, "--token", "log.token", "--out", "recipe.bundle", inside="log")
        bundles = []
        for issuer in self.issuers():
            bundles.append(f"keys-{issuer}.bundle")
            self.say("log", "publish", f"keys-{issuer}.signed", *to, "--token", "log.token", "--out", bundles[-1], inside="log")
        self.say("log", "feed", "recipe.bundle", *bundles, *to, "--out", "log-files/feed", inside="log")
        keys = [] if plan.get("arc") else ["--token-keys", bundles[0], *trust]
        for role in ("leader", "helper"):
            self.say("admin", "task", "add", "recipe.json", "parties.json", "--population", str(plan["devices"]), *keys, "--config", role + ".ini")
        for role in ("leader", "helper"):
            self.wait_until(lambda: self.log_of(role).count("task.served") > attempt, f"{role} does not serve the task")
        if time.time() > self.opens - plan["fetch"] - 2:
            raise Late()

    def make_key(self, role, analysis):
        """The key of this collection, or of this epoch: its id, once the signed list is written."""
        name = f"keys-{role}"
        if role == "issuer":
            self.ask("issuer", PUT_ALL, self.address["issuer"], self.port["issuer"], self.read("operator.token"),
                     text=f"/collections/{analysis}/{self.opens}/{self.closes}")
            get = f"import urllib.request as u; print(u.urlopen({self.url('issuer') + 'keys'!r}, timeout=60).read().decode())"
            self.write(name + ".json", self.ask("issuer", get).strip())
        else:
            self.say("admin", "arc", "add", stamp(self.opens), stamp(self.closes), "--attester-token", "shared.token", "--config", role + ".ini")
            self.write(name + ".json", self.say("admin", "arc", "list", "--config", role + ".ini"))
        self.write(name + ".signed", self.say("parties", "sign", name + ".json", "--token-keys", "--key", role + ".sign"))
        return bytes.fromhex(next(k["id"] for k in json.loads(self.read(name + ".json"))["keys"] if k["opens"] == self.opens and
                                  k.get("analysis", analysis) == analysis))

    def write_question(self, analysis, attempt):
        for role in self.issuers():
            if not os.path.exists(self.path(role + ".sign")):
                self.write(role + ".pub", self.say("parties", "key", role + ".sign"))
        tokens = {"tokens": "arc"} if self.plan.get("arc") else {"tokens": "type-2", "issuer": ISSUER}
        self.write("recipe.json", json.dumps({
            "recipe": f"commute-{attempt}", "version": 1, "analysis": analysis, "description": "How people got to work today.",
            "query": "SELECT way FROM commutes", "pick": "one-at-random",
            "encode": {"way": {"type": "categories", "values": ["walking", "bicycle", "bus", "train", "car"], "oov": True}, "combine": ["way"]},
            "randomizer": {"type": "one-hot", "form": "asymmetric", "epsilon_local": 4.0},
            "participation": {"type": "poisson", "rate": self.plan["rate"]},
            "privacy": {"adjacency": "replacement", "epsilon": 4.0, "delta": 1e-6, "min_cohort": 10},
            "aggregation": {"trust": "split", "leader": LEADER, "helper": HELPER, "collector": COLLECTOR},
            "anonymity": {"relay": "key:relay", "gateway": "key:gateway", "attester": "key:attester", "log": "main", **tokens},
            "schedule": {"opens": stamp(self.opens), "closes": stamp(self.closes), "precision": f"{PRECISION}s"},
            "population": self.plan["devices"], "on_no_match": "no-value"}))
        self.write("policy.json", json.dumps({
            "policy": "com.example.trial", "version": 1,
            "analyses": {analysis: {"epsilon": 5, "delta": 1e-5, "reports": 1, "fields": ["commutes.way"]}},
            "fields": {"commutes.way": {"epsilon_local": 5, "epsilon": 5, "delta": 1e-5, "reports": 1}},
            "issuers": {"key:" + role: self.read(role + ".pub") for role in self.issuers()},
            "logs": {"main": {"key": self.read("log.pub"), "witnesses": [self.read("witness.pub")], "feed": "https://log.example/feed"}},
            "non_sensitive": [], "min_cohort": 10, "honest": 0.5}))

    # ---- the run ----

    def run_fleet(self):
        plan = self.plan
        answers = self.opens + (0 if plan["hasty"] else self.rest)  # hasty devices have clocks that are ahead
        words = [self.fleet, self.directory, str(plan["devices"]), str(plan["seed"]), self.devices, str(plan["fetch"]),
                 str(answers), str(plan["answer"]), str(self.rest if plan["hasty"] else 0)]
        fleet = self.network.start("devices", words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # Batches that leave from now on have reports; those before had fetches.
        time.sleep(max(0, answers - time.time()))
        before = self.metric("relay", "sotto_relay_batches_total")
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
        self.batches = int(self.metric("relay", "sotto_relay_batches_total") - before)
        return truth

    def metric(self, role, name):
        get = f"import urllib.request as u; print(u.urlopen('http://{self.own(role)}:{self.port[role] + 1000}/metrics', timeout=60).read().decode())"
        found = re.search(rf"^{name} (\S+)$", self.ask(role, get), re.M)
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
        files = [name for name in glob.glob(self.path("log-files/**"), recursive=True) if os.path.isfile(name)] if role == "log" else []
        return files + glob.glob(self.path(role + "*.db*")) + glob.glob(self.path(role + "*.log"))

    def show_logs(self):
        for name in self.left:
            print(f"--- {name}\n{self.log_of(name)[-3000:]}")

    def close(self):
        for process in list(self.captures.values()) + list(self.servers.values()):
            process.kill()
            process.wait()
        self.network.close()
