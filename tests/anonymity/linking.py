"""linking.py SOTTO FLEET: who can match reports to devices?

Devices, relay, gateway, leader and helper each have a namespace of the network. What each of them can see is captured: packets,
database, log. Then every observer of a table tries to match reports to devices, and what it reaches is compared with guessing. Without
mixing the same observers must succeed: a test that can't fail shows nothing.

SOTTO_CHAOS_DEVICES gives another number of devices than 240, SOTTO_CHAOS_SEED another order.
"""
import math
import os
import re
import shutil
import sys
import tempfile
import time

import capture
import match
from deployment import DEVICES, Deployment, Lost
from network import enter, why_not

HERE = os.path.dirname(os.path.abspath(__file__))
RATE, LEAST_SECONDS = 40, 20  # devices that are ready in a second, in the mean; half of them are drawn

# ---- what the observer has ---------------------------------------------------------------------------------------------
#
# Features. Each is a function of a run, and gives a list of (who, when). TLS would hide bodies from the devices' network: of that, and
# of that alone, only addresses, times and lengths are used.


def requests_of_devices(run):
    """On the devices' network: which address began to speak to the relay, and when."""
    return [(s.source, s.began) for s in run.streams["devices"] if s.target == run.address["relay"]]


def requests_at_the_relay(run):
    """When the relay sent each device's request on: it knows the bodies, which are the same on both sides."""
    came = {body_of(s): s.source for s in run.streams["relay"] if s.target == run.address["relay"]}
    left = []
    for s in run.streams["relay"]:
        if s.target == run.address["gateway"]:
            left += [(came[body], t) for body, t in bodies_of(s) if body in came]
    return left


def reports_sent_to(target):
    """When each report's id first passed on its way to this role. Of those in one packet, the place tells the order."""
    def seen(run):
        first = {}
        for s, report, at in run.ids_in(target):
            when = s.time_at(at) + at * 1e-10
            if s.target == run.address[target] and when < first.get(report, math.inf):
                first[report] = when
        return list(first.items())
    return seen


DEVICE_SIDE = {"network": requests_of_devices, "relay": requests_at_the_relay}
REPORT_SIDE = {"gateway": reports_sent_to("leader"), "leader": reports_sent_to("leader"), "helper": reports_sent_to("helper")}

# ---- who looks, and what may come of it ---------------------------------------------------------------------------------
#
# GUESSES: what guessing gives. BATCHES: what guessing within the relay's batches gives, JOBS: within the leader's jobs. LINKS: it must
# link, or the run shows nothing. A role that is added is a row here, its features are rows above.
GUESSES, BATCHES, JOBS, LINKS = "guesses", "guesses within a batch", "guesses within a job", "links"

OBSERVERS = (
    # device's side, report's side, with mixing, without
    ("network", None, GUESSES, GUESSES),
    ("relay", None, GUESSES, GUESSES),
    (None, "gateway", GUESSES, GUESSES),
    (None, "leader", GUESSES, GUESSES),
    (None, "helper", GUESSES, GUESSES),
    ("network", "gateway", BATCHES, LINKS),
    ("network", "leader", BATCHES, LINKS),
    ("network", "helper", JOBS, JOBS),
    ("relay", "helper", JOBS, JOBS),
    # Stated assumptions: these two must not work together.
    ("relay", "leader", LINKS, LINKS),
    ("relay", "gateway", LINKS, LINKS),
)


def body_of(stream):
    return bytes(stream.data).partition(b"\r\n\r\n")[2]


def bodies_of(stream):
    """The bodies of the requests of a connection that is used again, with the time at which each began."""
    data, at, found = bytes(stream.data), 0, []
    while at < len(data):
        end = data.find(b"\r\n\r\n", at)
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", data[at:end + 2]) if end > 0 else None
        if not length:
            break
        size = int(length.group(1))
        found.append((data[end + 4:end + 4 + size], stream.time_at(at)))
        at = end + 4 + size
    return found


class Run:
    """What one deployment left behind."""

    def __init__(self, deployment, truth):
        self.address = deployment.address
        self.truth = {report: address for _, address, report, _, _ in truth}
        self.waits = [answered - sent for _, _, _, sent, answered in truth]
        self.streams = {role: capture.streams(capture.read(deployment.path(role + ".packets"), deployment.began)) for role in deployment.address}
        self.found = {}
        self.batches = deployment.batches

    def ids_in(self, role):
        """Every id of a report that a role's packets have: the stream, the id and its place."""
        if role not in self.found:
            self.found[role] = []
            for s in self.streams[role]:
                data = bytes(s.data)
                for report in self.truth:
                    at = data.find(bytes.fromhex(report))
                    if at >= 0:
                        self.found[role].append((s, report, at))
        return self.found[role]

    def jobs(self):
        marks = rb"(?:PUT|POST) [^ ]*aggregation_jobs"
        return sum(len(re.findall(marks, bytes(s.data))) for s in self.streams["helper"] if s.target == self.address["helper"])


# ---- judging ------------------------------------------------------------------------------------------------------------

failures = 0


def complain(text):
    global failures
    failures += 1
    print("FAILED:", text)


def reached(run, device_side, report_side):
    """How many matches of the best try are right."""
    if device_side and report_side:
        return match.best(DEVICE_SIDE[device_side](run), REPORT_SIDE[report_side](run), run.truth)
    # One side alone: every address of the fleet is as likely as the others.
    everybody = [(address, 0) for address in run.truth.values()]
    return match.right(match.by_chance(everybody, [(r, 0) for r in run.truth]), run.truth), "by_chance"


def judge(run, mixed):
    groups = {GUESSES: 1, BATCHES: run.batches, JOBS: run.jobs()}
    print(f"  {len(run.truth)} reports, {run.batches} batches, {groups[JOBS]} jobs; a request waited {sum(run.waits) / len(run.waits):.2f} s "
          f"in the mean, {max(run.waits):.2f} s at most")
    for device_side, report_side, with_mixing, without in OBSERVERS:
        may = with_mixing if mixed else without
        count, how = reached(run, device_side, report_side)
        # Who must link has to pass the bound that batches of 16 keep.
        most = match.bound(groups.get(may, len(run.truth) / 16), len(match.TRIES))
        name = " and ".join(x for x in (device_side, report_side) if x)
        print(f"  {name}: {count} of {len(run.truth)} right ({how}); {may}: bound {most}")
        if may in groups and count > most:
            complain(f"{name}: {count} right, and guessing has more than {most} once in a million runs")
        if may == LINKS and count <= most:
            complain(f"{name}: {count} right: this run could not show a link")


def addresses_in(data):
    return set(re.findall(re.escape(DEVICES.encode()) + rb"[0-9]{1,3}\.[0-9]{1,3}", data))


def look_for_names(run, deployment):
    """Nobody behind the relay sees a device's address, no log or database has one; the relay sees no report."""
    wanted = {address.encode() for address in run.truth.values()}
    for role in deployment.address:
        if role == "devices":
            continue
        if role != "relay" and any(s.source.startswith(DEVICES) or s.target.startswith(DEVICES) for s in run.streams[role]):
            complain(f"{role}: a packet has a device's address")
        if role != "relay" and any(addresses_in(bytes(s.data)) & wanted for s in run.streams[role]):
            complain(f"{role}: a message has a device's address")
        for name in deployment.left_by(role):
            if addresses_in(open(name, "rb").read()) & wanted:
                complain(f"{os.path.basename(name)} has a device's address")
    if run.ids_in("relay"):
        complain("the relay sees the id of a report")
    sizes = {len(s.data) for s in run.streams["devices"] if s.target == run.address["relay"]}
    if len(sizes) != 1:
        complain(f"requests of devices have {len(sizes)} lengths")
    sizes = {len(body_of(s)) for s in run.streams["devices"] if s.source == run.address["relay"]}
    if len(sizes) != 1:
        complain(f"answers to devices have {len(sizes)} lengths")


def play(title, mixed, devices, seed, sotto, fleet, **mixing):
    print(f"{title}: {devices} devices")
    directory = tempfile.mkdtemp()
    deployment = Deployment(directory, sotto, fleet, HERE)
    try:
        deployment.start(population=devices, **mixing)
        truth = deployment.run_fleet(devices, max(LEAST_SECONDS, devices / RATE), seed)
        deployment.stop()
        run = Run(deployment, truth)
        missing = len(run.truth) - len(REPORT_SIDE["helper"](run))
        if missing > 0:
            complain(f"{missing} reports did not get to the helper")
        look_for_names(run, deployment)
        judge(run, mixed)
    finally:
        deployment.close()
        if failures:
            deployment.show_logs()
        shutil.rmtree(directory)


def main():
    reason = why_not()
    if reason:
        print("skipped:", reason)
        return 77
    enter()
    sotto, fleet = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    devices, seed = int(os.environ.get("SOTTO_CHAOS_DEVICES", 240)), int(os.environ.get("SOTTO_CHAOS_SEED", 1))
    began = time.time()
    try:
        play("mixing", True, devices, seed, sotto, fleet, mix_least=16, mix_delay_ms=2000)
        play("no mixing", False, devices, seed, sotto, fleet, mix_least=1, mix_delay_ms=1)
    except Lost as reason:
        print("skipped:", reason)
        return 77
    print(f"{time.time() - began:.0f} s; {'all right' if failures == 0 else f'{failures} failures'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
