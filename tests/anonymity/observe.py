"""What each role of a run had before its eyes.

Features are functions of a run; each gives a list of (who, when). TLS would hide bodies from the devices' network: of that, and of that
alone, only addresses, times and lengths are used. Roles that see no address are given more than they have: the issuer and the log are told
which device made each request that they got. If they still can't match it to a report, they can't without it.
"""
import math
import os
import re
import subprocess

import capture
from deployment import DEVICES

# ---- what the device side shows -----------------------------------------------------------------------------------------


def through_the_relay(kind):
    """On the devices' network: which address began to speak to the relay, and when. Fetches and reports differ in length."""
    return lambda run: [(s.source, s.began) for s in run.to("devices", "relay") if run.kind_of(s) == kind]


def requests_at_the_relay(kind):
    """When the relay sent each device's request on: it knows the bodies, which are the same on both sides."""
    def seen(run):
        came = {body_of(s): s.source for s in run.to("relay", "relay") if run.kind_of(s) == kind}
        return [(came[body], t) for s in run.to("relay", "gateway") for body, t in bodies_of(s) if body in came]
    return seen


def requests_at(role):
    """Requests for tokens, as they came to the attester, or as it sent them on to the issuer, or to a server that issues credentials."""
    def seen(run):
        who = {run.blinded_in(body_of(s)): s.source for s in run.to("attester", "attester") if s.source.startswith(DEVICES)}
        if role == "attester":
            return [(s.source, s.began) for s in run.to("attester", "attester") if s.source.startswith(DEVICES)]
        return [(who[asked], t) for s in run.to(role, role) for body, t in bodies_of(s) for asked in run.all_blinded_in(body) if asked in who]
    return seen


def keys_at_the_gateway(run):
    """Which key each request was sealed to, for a gateway that remembers to which devices it gave which key. Where all devices
    have the same key, that says nothing."""
    owners = dict(reversed([(key, run.fleet[n]) for n, key in enumerate(run.gateway_keys)]))
    return [(owners.get((s.target_port, body[0]), run.fleet[0]), t) for s in run.to("gateway", "gateway") for body, t in bodies_of(s)
            if len(body) == run.report_body]


# ---- what the report side shows -----------------------------------------------------------------------------------------


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


DEVICE_SIDE = {
    "network": through_the_relay("report"),
    "network's fetches": through_the_relay("fetch"),
    "network's tokens": lambda run: [(s.source, s.began) for s in run.to("devices", "attester")],
    "relay": requests_at_the_relay("report"),
    "attester": requests_at("attester"),
    "issuer": requests_at("issuer"),
    "leader's issuing": requests_at("leader"),
    "helper's issuing": requests_at("helper"),
    "log": requests_at_the_relay("fetch"),
    "witness": lambda run: [],  # it sees checkpoints alone
    "gateway's keys": keys_at_the_gateway,
}
REPORT_SIDE = {"gateway": reports_sent_to("leader"), "leader": reports_sent_to("leader"), "helper": reports_sent_to("helper")}

# ---- messages -----------------------------------------------------------------------------------------------------------

REPORT_ID = 16
OHTTP_BATCH, LENGTH = b"application/sotto-ohttp-requests", 4
BLINDED, ARC_BLINDED = 256, 226  # bytes at the end of a request for a token, or for a credential of ARC
TYPE2_REQUEST = 3 + BLINDED  # type and the key's last byte before it
ARC_RESPONSE = 6 * 33 + 8 * 32  # bytes in which a credential comes
POINT, ARC_POINTS = 33, 4 * 33  # at the beginning of a presentation, which is behind the id of its key: commitments, and the tag
TOKEN_NONCE, TOKEN_DIGEST, TOKEN_KEY, TOKEN_SIGNATURE = 32, 32, 32, 256  # a token's parts behind its type, RFC 9578


def body_of(stream):
    return bytes(stream.data).partition(b"\r\n\r\n")[2]


def bodies_of(stream):
    """The bodies of the requests of a connection that is used again, with the time at which each began. Of a batch from the relay, each
    request: its place tells the order."""
    data, at, found = bytes(stream.data), 0, []
    while at < len(data):
        end = data.find(b"\r\n\r\n", at)
        if end < 0:
            break
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", data[at:end + 2])
        size = int(length.group(1)) if length else 0
        body = data[end + 4:end + 4 + size]
        if OHTTP_BATCH in data[at:end]:
            found += [(one, stream.time_at(end + 4 + place) + (end + 4 + place) * 1e-10) for one, place in parts_of(body)]
        else:
            found.append((body, stream.time_at(at)))
        at = end + 4 + size
    return found


def parts_of(batch):
    """The requests of a batch, each behind its length, and where each of them begins."""
    at, parts = 0, []
    while at + LENGTH <= len(batch):
        size = int.from_bytes(batch[at:at + LENGTH], "big")
        parts.append((batch[at + LENGTH:at + LENGTH + size], at + LENGTH))
        at += LENGTH + size
    return parts


# ---- the run ------------------------------------------------------------------------------------------------------------


class Run:
    """What one deployment left behind."""

    def __init__(self, deployment, truth):
        self.address, self.token_keys, self.gateway_keys = deployment.address, deployment.token_keys, deployment.gateway_keys
        self.arc = deployment.plan.get("arc", False)
        self.truth = {report: address for _, address, report, _, _ in truth}
        self.waits = [answered - sent for _, _, _, sent, answered in truth]
        self.batches, self.directory = deployment.batches, deployment.directory
        self.fleet = [f"{DEVICES}{(256 + n) >> 8}.{(256 + n) & 255}" for n in range(deployment.plan["devices"])]
        self.names = {address.encode() for address in self.fleet}
        self.enrolments = [bytes.fromhex(key) for key in deployment.enrolments]
        self.report_ids = [bytes.fromhex(report) for report in self.truth]
        self.streams = {role: capture.streams(capture.read(deployment.path(role + ".packets"), deployment.began)) for role in deployment.address}
        self.files = {role: [open(name, "rb").read() for name in deployment.left_by(role)] for role in deployment.address if role != "devices"}
        self.found, self.all = {}, {}
        self.find = os.path.join(os.path.dirname(deployment.fleet), "anonymity_find")
        sizes = sorted({len(body_of(s)) for s in self.to("devices", "relay")})
        self.fetch_body, self.report_body = sizes[0], sizes[-1]

    def to(self, role, target):
        """What this role's packets show of streams to another, or to itself."""
        return [s for s in self.streams[role] if s.target == self.address[target]]

    def kind_of(self, stream):
        return "fetch" if len(body_of(stream)) == self.fetch_body else "report"

    def ids_in(self, role):
        """Every id of a report that a role's packets have: the stream, the id and its first place there."""
        if role not in self.found:
            known = {bytes.fromhex(report): report for report in self.truth}
            self.found[role] = []
            for s in self.streams[role]:
                data, there = bytes(s.data), set()
                for at in range(len(data) - REPORT_ID + 1):
                    report = known.get(data[at:at + REPORT_ID])
                    if report and report not in there:
                        there.add(report)
                        self.found[role].append((s, report, at))
        return self.found[role]

    def jobs(self):
        marks = rb"(?:PUT|POST) [^ ]*aggregation_jobs"
        return sum(len(re.findall(marks, bytes(s.data))) for s in self.to("helper", "helper"))

    def has_address(self, data):
        return not self.names.isdisjoint(re.findall(re.escape(DEVICES.encode()) + rb"[0-9]{1,3}\.[0-9]{1,3}", data))

    def sees_any(self, role, texts):
        """Whether packets, database or log of a role have one of these, as bytes or in hexadecimal digits."""
        if role not in self.all:
            self.all[role] = os.path.join(self.directory, role + ".all")
            with open(self.all[role], "wb") as file:
                file.write(b"\0".join([bytes(s.data) for s in self.streams[role]] + self.files[role]))
        patterns = os.path.join(self.directory, "patterns")
        with open(patterns, "w", encoding="ascii") as file:
            file.writelines(text.hex() + "\n" for text in texts)
        code = subprocess.run([self.find, patterns, self.all[role]], check=False).returncode
        if code not in (0, 1):
            raise RuntimeError("anonymity_find failed")
        return code == 0

    def tokens_used(self):
        """Nonce and signature of the token of each report, as the leader gets them; of ARC the points of both presentations."""
        parts = []
        for s, _, at in self.ids_in("leader"):
            data = bytes(s.data)
            for token_key in self.token_keys if s.target == self.address["leader"] else []:
                key = data.find(token_key, at)
                if key >= 0 and self.arc:
                    parts.append(data[key + TOKEN_KEY:key + TOKEN_KEY + ARC_POINTS])
                elif key >= 0:
                    parts += [data[key - TOKEN_DIGEST - TOKEN_NONCE:key - TOKEN_DIGEST], data[key + TOKEN_KEY:key + TOKEN_KEY + TOKEN_SIGNATURE]]
        return parts

    def points_in(self, presentations):
        return {text[i:i + POINT] for text in presentations for i in range(0, len(text), POINT)}

    def blinded_in(self, body):
        return body[-(ARC_BLINDED if self.arc else BLINDED):]

    def all_blinded_in(self, body):
        """An attester sends requests for tokens to the issuer together, one behind another."""
        size = TYPE2_REQUEST if not self.arc and len(body) % TYPE2_REQUEST == 0 else len(body)
        return [self.blinded_in(body[i:i + size]) for i in range(0, len(body), size)] if body else []

    def tokens_asked(self):
        """Blinded messages, and the answers to them."""
        asked, size = [self.blinded_in(body_of(s)) for s in self.to("devices", "attester")], ARC_RESPONSE if self.arc else BLINDED
        return asked + [body_of(s)[:size] for s in self.streams["devices"] if s.source == self.address["attester"] and len(body_of(s)) == size]

    def lengths(self):
        """Of requests and answers that pass the devices' network, by what they are for."""
        sizes, back = {}, {}
        for s in self.to("devices", "relay"):
            sizes.setdefault("requests with a " + self.kind_of(s), set()).add(len(s.data))
            back.setdefault((s.source, s.source_port), []).append(s)
        for s in self.streams["devices"]:
            if s.source == self.address["relay"]:
                # A device that got the same port twice: its answer began after the later one of the requests before it.
                request = max((r for r in back[(s.target, s.target_port)] if r.began <= s.began), key=lambda r: r.began)
                sizes.setdefault("answers to a " + self.kind_of(request), set()).add(len(body_of(s)))
        sizes["requests for a token"] = {len(s.data) for s in self.to("devices", "attester")}
        return sizes

    def requests_at_the_log(self):
        return {head for s in self.to("log", "log") if s.source == self.address["gateway"] for head in re.findall(rb"GET [^\r]*feed[^\r]*\r\n", bytes(s.data))}
