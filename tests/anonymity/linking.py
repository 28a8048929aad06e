"""linking.py SOTTO FLEET [PLAY]: who can match reports to devices?

Devices and every service have a namespace of the network each. What each of them can see is captured: packets, database, log. Then every
observer of a table tries to match reports to devices, and what it reaches is compared with guessing. Three more plays switch off a part
that protects: without mixing, with tokens that are asked for when they are used, and with a gateway key for each client, observers must
succeed who otherwise guess. A test that can't fail shows nothing. Two plays are with credentials of ARC, which leader and helper issue: with everything
on, and with credentials that are asked for when they are used.

SOTTO_CHAOS_DEVICES gives another number of devices than 240, SOTTO_CHAOS_SEED another order. Up to 1,000 devices four plays run at once.
Without SOTTO_CHAOS_DEVICES the plays with ARC are left out.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

import match
from deployment import DEVICES, GATEWAY_KEYS, Deployment, Lost
from network import enter, why_not
from observe import DEVICE_SIDE, POINT, REPORT_SIDE, Run

HERE = os.path.dirname(os.path.abspath(__file__))
RATE, ARC_RATE = 40, 20  # devices that are ready in a second, in the mean; half of them are drawn

# ---- what is played ----------------------------------------------------------------------------------------------------

WHOLE, UNMIXED, HASTY, KEYED = "everything on", "no mixing", "tokens at the time of use", "a gateway key for each client"
ARC, HASTY_ARC = "everything on, with ARC", "credentials of ARC at the time of use"


def plan_of(play, devices, seed):
    """What differs from the first play is what the play is about. Hasty and keyed devices are not mixed either: then what their token or their key
    tells is not hidden in a batch. The play without mixing shows that this alone tells it to nobody."""
    plan = {"devices": devices, "rate": 0.5, "mix_least": 16, "mix_delay_ms": 2000, "gateways": 1, "hasty": False, "seed": seed}
    plan["arc"] = play in (ARC, HASTY_ARC)
    if play not in (WHOLE, ARC):
        plan.update(mix_least=1, mix_delay_ms=1)
    if play in (HASTY, HASTY_ARC):
        plan.update(devices=max(120, devices // 2), hasty=True)
    if play == KEYED:
        plan.update(devices=3 * GATEWAY_KEYS, rate=1, gateways=3)
    # Two credentials of ARC cost the machine much more than a token does. Small fleets leave room for that.
    rate = ARC_RATE if plan["arc"] and plan["devices"] > 1000 else RATE
    plan.update(fetch=max(6, plan["devices"] / rate), answer=max(12, plan["devices"] / rate))
    if play in (HASTY, HASTY_ARC):
        plan["answer"] *= 1.5  # they begin sooner, and need not wait for a token's rest
    if play == HASTY_ARC:
        plan["answer"] *= 2  # two credentials take longer: others would ask before a device has used its own
    return plan


# ---- who looks, and what may come of it ---------------------------------------------------------------------------------
#
# GUESSES: what guessing gives. BATCHES: what guessing within the relay's batches gives, JOBS: within the leader's jobs. LINKS: it must
# link, or the run shows nothing; MORE: it must pass what guessing gives. None: this play says nothing of it.
GUESSES, BATCHES, JOBS, LINKS, MORE = "guesses", "guesses within a batch", "guesses within a job", "links", "more than guesses"

OBSERVERS = (
    # device's side, report's side, everything on, no mixing, tokens at the time of use, a key for each client, everything on with ARC, credentials at the time of use
    ("network", None, GUESSES, GUESSES, GUESSES, GUESSES, GUESSES, GUESSES),
    ("relay", None, GUESSES, GUESSES, GUESSES, GUESSES, GUESSES, GUESSES),
    ("attester", None, GUESSES, GUESSES, GUESSES, GUESSES, GUESSES, GUESSES),
    ("issuer", None, GUESSES, GUESSES, GUESSES, GUESSES, GUESSES, GUESSES),
    ("log", None, GUESSES, GUESSES, GUESSES, GUESSES, GUESSES, GUESSES),
    ("witness", None, GUESSES, GUESSES, GUESSES, GUESSES, GUESSES, GUESSES),
    (None, "gateway", GUESSES, GUESSES, GUESSES, GUESSES, GUESSES, GUESSES),
    (None, "leader", GUESSES, GUESSES, GUESSES, GUESSES, GUESSES, GUESSES),
    (None, "helper", GUESSES, GUESSES, GUESSES, GUESSES, GUESSES, GUESSES),
    ("network", "gateway", BATCHES, LINKS, LINKS, LINKS, BATCHES, LINKS),
    ("network", "leader", BATCHES, LINKS, LINKS, LINKS, BATCHES, LINKS),
    ("network", "helper", JOBS, JOBS, JOBS, JOBS, JOBS, JOBS),
    ("network's tokens", "leader", GUESSES, GUESSES, MORE, None, GUESSES, MORE),
    ("network's tokens", "helper", GUESSES, GUESSES, JOBS, None, GUESSES, JOBS),
    ("network's fetches", "leader", GUESSES, GUESSES, GUESSES, None, GUESSES, GUESSES),
    ("network's fetches", "helper", GUESSES, GUESSES, GUESSES, None, GUESSES, GUESSES),
    ("attester", "gateway", GUESSES, GUESSES, MORE, None, GUESSES, MORE),
    ("attester", "leader", GUESSES, GUESSES, MORE, None, GUESSES, MORE),
    ("attester", "helper", GUESSES, GUESSES, JOBS, None, GUESSES, JOBS),
    ("issuer", "leader", GUESSES, GUESSES, MORE, None, GUESSES, GUESSES),
    ("issuer", "helper", GUESSES, GUESSES, JOBS, None, GUESSES, GUESSES),
    # Of ARC a server is the issuer: it has requests and reports itself. It is told here whose each request is, as an attester would.
    ("leader's issuing", "leader", None, None, None, None, GUESSES, MORE),
    ("leader's issuing", "helper", None, None, None, None, GUESSES, JOBS),
    ("helper's issuing", "leader", None, None, None, None, GUESSES, MORE),
    ("helper's issuing", "helper", None, None, None, None, GUESSES, JOBS),
    ("log", "leader", GUESSES, GUESSES, GUESSES, None, GUESSES, GUESSES),
    ("log", "helper", GUESSES, GUESSES, GUESSES, None, GUESSES, GUESSES),
    ("witness", "leader", GUESSES, GUESSES, GUESSES, None, GUESSES, GUESSES),
    ("witness", "helper", GUESSES, GUESSES, GUESSES, None, GUESSES, GUESSES),
    ("gateway's keys", "gateway", GUESSES, GUESSES, GUESSES, LINKS, GUESSES, GUESSES),
    ("gateway's keys", "leader", GUESSES, GUESSES, GUESSES, LINKS, GUESSES, GUESSES),
    # Where each client has a key of its own, the gateway links by itself: see its row with itself.
    ("gateway's keys", "helper", GUESSES, GUESSES, GUESSES, None, GUESSES, GUESSES),
    ("relay", "helper", JOBS, JOBS, JOBS, JOBS, JOBS, JOBS),
    # Stated assumptions: these two must not work together.
    ("relay", "leader", LINKS, LINKS, LINKS, LINKS, LINKS, LINKS),
    ("relay", "gateway", LINKS, LINKS, LINKS, LINKS, LINKS, LINKS),
)
PLAYS = (WHOLE, UNMIXED, HASTY, KEYED, ARC, HASTY_ARC)

# ---- judging ------------------------------------------------------------------------------------------------------------

UNLINKED = 3  # as an exit code: all that is wrong is that an observer, who must, matched too few
failures = 0
unlinked = []


def complain(text):
    global failures
    failures += 1
    print("FAILED:", text)


def reached(run, device_side, report_side):
    """How many matches of the best try are right."""
    seen = DEVICE_SIDE[device_side](run) if device_side and report_side else []
    if seen:
        return match.best(seen, REPORT_SIDE[report_side](run), run.truth)
    # One side alone, or one that sees no device: every address of the fleet is as likely as the others.
    everybody = [(address, 0) for address in run.truth.values()]
    return match.right(match.by_chance(everybody, [(r, 0) for r in run.truth]), run.truth), "by_chance"


def judge(run, play):
    groups = {GUESSES: 1, BATCHES: run.batches, JOBS: run.jobs()}
    print(f"  {len(run.truth)} reports, {run.batches} batches, {groups[JOBS]} jobs; a request waited {sum(run.waits) / len(run.waits):.2f} s "
          f"in the mean, {max(run.waits):.2f} s at most")
    for device_side, report_side, *expected in OBSERVERS:
        may = expected[PLAYS.index(play)]
        if may is None:
            continue
        count, how = reached(run, device_side, report_side)
        # Who must link has to pass the bound that batches of 16 keep. Of all devices that ask for a token, half
        # send a report, and on a busy machine others ask between the two. There it has to pass the bound of the other plays.
        most = match.bound(groups.get(may, 1 if may == MORE else len(run.truth) / 16), len(match.TRIES) * len(OBSERVERS) * len(PLAYS))
        name = " and ".join(x for x in (device_side, report_side) if x)
        print(f"  {name}: {count} of {len(run.truth)} right ({how}); {may}: bound {most}")
        if may in groups and count > most:
            complain(f"{name}: {count} right, and guessing has more than {most} once in a million runs")
        if may in (LINKS, MORE) and count <= most:
            unlinked.append(name)
            complain(f"{name}: {count} right: this run could not show a link")


def look_for_names(run, deployment):
    """Nobody behind relay and attester sees a device's address, no log or database has one, and only the attester knows who is enrolled."""
    for role in deployment.address:
        if role == "devices":
            continue
        if role not in ("relay", "attester"):
            if any(s.source.startswith(DEVICES) or s.target.startswith(DEVICES) for s in run.streams[role]):
                complain(f"{role}: a packet has a device's address")
            if any(run.has_address(bytes(s.data)) for s in run.streams[role]):
                complain(f"{role}: a message has a device's address")
        for name in deployment.left_by(role):
            with open(name, "rb") as file:
                if run.has_address(file.read()):
                    complain(f"{os.path.basename(name)} has a device's address")
        if role != "attester" and run.sees_any(role, run.enrolments):
            complain(f"{role} sees whom the attester enrolled")


def look_for_reports(run):
    """Whoever knows devices sees no report, and no token as it is used; whoever sees reports sees no request for a token."""
    for role in ("relay", "attester", "issuer", "log", "witness"):
        if run.sees_any(role, run.report_ids):
            complain(f"{role} sees the id of a report")
    used, asked = run.tokens_used(), run.tokens_asked()
    if len(used) != 2 * len(run.truth) or not asked or len(set(used)) != len(used):
        complain(f"{len(used)} parts of tokens, and {len(asked)} of requests were found: the test looks in the wrong place")
    for role in ("relay", "attester", "issuer", "log", "witness"):
        if run.sees_any(role, used):
            complain(f"{role} sees a token that was used")
    points = run.points_in(used)
    if run.arc and any(text[i:i + POINT] in points for text in asked for i in range(len(text) - POINT + 1)):
        complain("a presentation has a point of a request or of a credential")
    for role in ("relay", "gateway", "log", "witness") + (() if run.arc else ("leader", "helper")):
        if run.sees_any(role, asked):
            complain(f"{role} sees a request for a token")
    if run.sees_any("relay", run.token_keys):
        complain("the relay sees the key of a token")


def look_at_lengths(run):
    """Requests of devices have two lengths, of fetches and of reports, and so have the answers. All fetches are the same request at the log."""
    for what, sizes in run.lengths().items():
        if len(sizes) != 1:
            complain(f"{what} have {len(sizes)} lengths")
    if len(run.requests_at_the_log()) != 1:
        complain(f"the log sees {len(run.requests_at_the_log())} different requests")


def look_for_participants(run):
    """Whoever carries reports for devices sees which of them took part, and the page of threats says so. Attester, issuer and log do not: every device asks
    and fetches, and those that were drawn do it no sooner and no later than the others."""
    drawn = set(run.truth.values())
    for side in ("network", "relay"):
        if {who for who, _ in DEVICE_SIDE[side](run)} != drawn:
            complain(f"{side}: who sent a report is not who took part: this run could not show what they see")
    for side in ("network's tokens", "network's fetches", "attester", "log") + (("leader's issuing", "helper's issuing") if run.arc else ("issuer",)):
        seen = DEVICE_SIDE[side](run)
        unseen = set(run.fleet) - {who for who, _ in seen}
        if unseen:
            complain(f"{side}: {len(unseen)} devices are not seen there, and each asks and fetches")
        first = dict(sorted(seen, key=lambda x: -x[1]))  # of two requests of a device the earlier: only devices are independent
        distance = match.rank_distance([t for who, t in first.items() if who in drawn], [t for who, t in first.items() if who not in drawn])
        print(f"  {side}: {distance:+.2f} deviations between those who took part and the others")
        if abs(distance) > match.FAR:
            complain(f"{side}: who took part asks or fetches at other times")


def play_one(play, devices, seed, sotto, fleet):
    plan = plan_of(play, devices, seed)
    print(f"{play}: {plan['devices']} devices")
    directory = tempfile.mkdtemp()
    deployment = Deployment(directory, sotto, fleet, HERE, plan)
    try:
        deployment.start()
        truth = deployment.run_fleet()
        deployment.stop()
        run = Run(deployment, truth)
        missing = len(run.truth) - len(REPORT_SIDE["helper"](run))
        if missing > 0:
            complain(f"{missing} reports did not get to the helper")
        look_for_names(run, deployment)
        look_for_reports(run)
        look_at_lengths(run)
        look_for_participants(run)
        judge(run, play)
    except Lost as reason:
        print("skipped:", reason)
        return 77
    finally:
        deployment.close()
        if failures or sys.exc_info()[0]:
            deployment.show_logs()
        shutil.rmtree(directory)
    return 0 if not failures else UNLINKED if len(unlinked) == failures else 1


# ---- all of them --------------------------------------------------------------------------------------------------------


def play_all(devices):
    """Each play is a process with a network of its own. Small fleets wait most of the time, so that plays can share the machine."""
    at_once = 4 if devices <= 1000 else 1
    # Devices with ARC need more of the machine than other tests leave: their plays are for the long form.
    plays = PLAYS if "SOTTO_CHAOS_DEVICES" in os.environ else PLAYS[:4]
    codes, waiting, running = [], list(plays), []
    while waiting or running:
        while waiting and len(running) < at_once:
            running.append(subprocess.Popen([sys.executable] + sys.argv[:3] + [waiting.pop(0)], stdout=subprocess.PIPE, text=True))
        said = running.pop(0)
        print(said.communicate()[0], end="", flush=True)
        codes.append(said.returncode)
    # On a busy machine a device that asks when it answers is not as quick as the play is about. Such a play is repeated once, alone: its
    # bound is passed by guessing in two runs of a million then. What must not be linked is never tried again.
    for i, code in enumerate(codes):
        if code == UNLINKED:
            print(f"once more, alone: {PLAYS[i]}", flush=True)
            codes[i] = subprocess.run([sys.executable] + sys.argv[:3] + [PLAYS[i]]).returncode
    return codes


def main():
    reason = why_not()
    if reason:
        print("skipped:", reason)
        return 77
    devices, seed = int(os.environ.get("SOTTO_CHAOS_DEVICES", 240)), int(os.environ.get("SOTTO_CHAOS_SEED", 1))
    if len(sys.argv) > 3:
        enter()
        return play_one(sys.argv[3], devices, seed, os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
    began = time.time()
    codes = play_all(devices)
    wrong = [code for code in codes if code not in (0, 77)]
    print(f"{time.time() - began:.0f} s; {'all right' if not any(codes) else f'{len(wrong)} plays failed, {codes.count(77)} skipped'}")
    return 1 if wrong else 77 if 77 in codes else 0


if __name__ == "__main__":
    sys.exit(main())
