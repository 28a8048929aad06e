#!/usr/bin/env python3
"""test_learn_run.py SOTTO SOURCE: a session over real servers. It is killed, a server is killed, and it goes on: nothing is published or
collected twice, and a sum that was collected is the same when it is asked for again. SOTTO_TEST_LONG: more rounds, and more kills."""
import hashlib
import json
import os
import random
import re
import resource
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

import checks
from checks import check, exit_code, servers_of

sotto, source = sys.argv[1], sys.argv[2]
long_form = "SOTTO_TEST_LONG" in os.environ
rounds, kills = (6, 20) if long_form else (2, 0)


def call(*words, **wanted):
    return checks.call(sotto, "learn", *words, **wanted)


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has ended meanwhile


def hold_port(folder, name, seconds):
    """As a connection of the server that was killed might, for a while."""
    with open(f"{folder}/deployment.json") as f:
        port = json.load(f)[name]
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    for _ in range(600):  # its servers end after a run that was killed
        try:
            held.bind(("127.0.0.1", port))
            break
        except OSError:
            time.sleep(0.1)
    held.listen()
    threading.Timer(seconds, held.close).start()


def run_until(words, line, act):
    """Starts a run, acts when it prints a line that has these words, and waits for its end."""
    run = subprocess.Popen([sotto, "learn", "run", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    text = ""
    for said in run.stderr:
        text += said
        if line and line in said:
            act(run)
            line = None
    return run.wait(), text


def sums_of(text):
    return dict(re.findall(r"round (\d+): collected \d+ reports, sum ([0-9a-f]+)", text))


def published(folder):
    with open(f"{folder}/log-files/checkpoint") as f:
        return int(f.read().split("\n")[1])


def collected(folder):
    with sqlite3.connect(f"file:{folder}/leader.db?mode=ro", uri=True) as db:
        return db.execute("SELECT count(DISTINCT task) FROM release WHERE answer IS NOT NULL").fetchone()[0], \
            db.execute("SELECT count(*) FROM release").fetchone()[0]


def a_session_goes_on_wherever_it_was_killed():
    call("init", "plan", "--devices", "20", "--cohort", "20", "--rounds", str(rounds), "--participations", str(rounds),
         "--epsilon", "30", says="recipe.json")
    call("check", "plan/recipe.json", "--policy", "plan/policy.json", says="62 bits")
    words = ["plan/recipe.json", "--out", "session", "--policy", "plan/policy.json"]
    seen = {}

    def note(text):
        for number, digest in sums_of(text).items():
            check(seen.setdefault(number, digest) == digest, f"round {number}: another sum when it is asked for again", text)

    code, text = run_until(words, "round 0: collected", lambda run: run.kill())
    note(text)
    code, text = run_until(words, "round 1: published",
                           lambda run: [kill(pid) for pid in servers_of(run.pid, "leader")])
    note(text)
    check("goes on after" in text or "round 0: collected" in text, "it goes on", text)
    check(code in (0, 7), f"a leader that was killed: wanted 7, got {code}", text)
    for _ in range(kills):
        at = random.choice(["published", "devices sent", "collected", "closed"])
        code, text = run_until(words, at, lambda run: run.kill())
        note(text)
        if code == 0:
            break
    hold_port("session", "helper", 2)
    done = call("run", *words, "--json")
    note(done.stderr)
    status = json.loads(done.stdout)
    check(status["rounds"] == rounds and status["burnt"] == 0, "rounds", done.stdout)
    check(published("session") == rounds, f"{published('session')} records are published")
    check(collected("session") == (rounds, rounds), f"{collected('session')} batches are collected")
    check(0 < status["epsilon"] <= 30 and "Bun and Steinke 2016" in status["theorem"], "the receipt's claim", done.stdout)
    check("honest_devices" not in status and status["one_report_a_device"] is False, "who is counted on", done.stdout)
    check("must be honest" in status["honest"] and status["bound_factor"] == 1.2, "the receipt's trust", done.stdout)
    check("not claimed" in status["sampling"], "nothing is claimed for sampling", done.stdout)
    again = json.loads(call("run", *words, "--json").stdout)
    check(again["transcript"] == status["transcript"], "a session that is over stays as it is")
    return status


def its_model_and_receipts_are_in_the_folder(status):
    shown = call("watch", "session", says=f"{rounds} of {rounds} rounds").stdout
    check("loss against round" in shown and "accuracy against round" in shown, "curves on a terminal", shown)
    check(json.loads(call("watch", "session", "--json").stdout)["model"] == status["model"], "watch --json")
    call("export", "session", "--to", "m.safetensors", says="m.safetensors")
    call("export", "session", "--to", "m.npz", "--json", says=status["model"])
    with open("m.safetensors", "rb") as f:
        bytes_ = f.read()
    check(hashlib.sha256(bytes_).hexdigest() == status["model"], "the digest is that of the file")
    head = json.loads(bytes_[8:8 + struct.unpack("<Q", bytes_[:8])[0]])
    check(any(name.endswith("weight") for name in head), "a safetensors file", str(head)[:200])
    check(zipfile.ZipFile("m.npz").testzip() is None, "an npz file")
    for number in range(rounds):
        with open(f"session/receipt-{number}.json") as f:
            receipt = json.load(f)
        check(receipt["round"] == number and receipt["epsilon"] == status["epsilon"], "a round's receipt", str(receipt))
    with open("session/curve.csv") as f:
        check(len(f.readlines()) == rounds + 1, "a point of the curve a round")
    with open("session/curve.svg") as f:
        text = f.read()
        check("<svg" in text and ">loss<" in text and ">accuracy<" in text, "curves")


def rounds_that_are_too_small_burn():
    os.mkdir("small")  # an empty folder will do
    done = call("run", "plan/recipe.json", "--out", "small", "--drop", "100", "--json", code=5)
    status = json.loads(done.stdout)
    check(status["burnt"] == rounds and status["reports"] == 0, "burnt rounds are counted", done.stdout)
    check("0 reports, 16 needed" in done.stderr, "why a round burns", done.stderr)
    check(collected("small") == (0, 0), "nothing of a burnt round is collected")


def devices_answer_by_the_library():
    """Each has a ledger in a file of its own. Killed in between, a device that has paid sends what it has, and pays no more."""
    words = ["plan/recipe.json", "--out", "library", "--library"]
    code, text = run_until(words, "round 0: published", lambda run: run.kill())
    done = call("run", *words, "--json")
    status = json.loads(done.stdout)
    check(status["rounds"] == rounds and status["burnt"] == 0, "rounds by the library", done.stderr + done.stdout)
    check(published("library") == rounds, f"{published('library')} records are published")
    for name in os.listdir("library/devices"):
        if name.endswith(".ledger"):
            with sqlite3.connect(f"file:library/devices/{name}?mode=ro", uri=True) as db:
                check(db.execute("PRAGMA integrity_check").fetchone()[0] == "ok", f"the ledger {name}")


def no_file_grows_beyond(size):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def a_full_disk_loses_nothing():
    """A round's reports do not fit. With room again the same command goes on, and nothing is published or collected twice."""
    words = ["plan/recipe.json", "--out", "full"]
    # The leader says 503, and devices try again for minutes: nobody waits for that here.
    run = subprocess.Popen([sotto, "learn", "run", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                           preexec_fn=lambda: no_file_grows_beyond(700000))
    try:
        text = run.communicate(timeout=12)[1]
    except subprocess.TimeoutExpired:
        run.kill()
        text = run.communicate()[1]
    check("round 0: collected" not in text, "a full disk is met in the first round", text)
    status = json.loads(call("run", *words, "--json").stdout)
    check(status["rounds"] == rounds and status["burnt"] == 0, "after a full disk", str(status))
    check(published("full") == rounds and collected("full") == (rounds, rounds), "what is published and collected after a full disk")


def noise_by_shares_counts_on_honest_devices():
    """A receipt of such a claim says on how many."""
    call("init", "many", "--devices", "200", "--cohort", "200", "--rounds", "1", "--participations", "1", "--epsilon", "30")
    with open("many/recipe.json") as f:
        text = f.read().replace('"by": "servers"', '"by": "shares"')
    # Without the projection, honest reports would need 8.3 clips or more.
    text = text.replace('"bound_factor": 1.2', '"bound_factor": 4')
    text = re.sub(r'("scale": [0-9]+)', r'\1, "projection": {"dimension": 1000}, "weights": "capped", "cap": 20', text)
    with open("many/recipe.json", "w") as f:
        f.write(re.sub(r'"multiplier": [0-9.]+', '"multiplier": 0.8', text))
    status = json.loads(call("run", "many/recipe.json", "--json").stdout)
    check(status["honest_devices"] == 80 and status["min_cohort"] == 160, "who is counted on", str(status))
    check(status["bound_factor"] == 4 and 2.8284 < status["lift"] < 2.8285, "a sum is lifted from a projection", str(status))
    with open("many.learn/receipt-0.json") as f:
        check(json.load(f)["honest_devices"] == 80, "who is counted on in a round")


def weights_of(folder, digest):
    with open(f"{folder}/models/{digest}", "rb") as f:
        data = f.read()
    numbers = data[8 + struct.unpack("<Q", data[:8])[0]:]
    return struct.unpack(f"<{len(numbers) // 4}f", numbers)


def how_far_it_moves(name, server):
    """One round, of which a quarter of 100 devices drops out: how far the model moves, and the deviation of the noise that both servers added to
    each entry of the sum, over the public divisor of 100."""
    call("init", name, "--devices", "100", "--cohort", "100", "--rounds", "1", "--participations", "1", "--epsilon", "2")
    with open(f"{name}/recipe.json") as f:
        recipe = json.load(f)
    recipe["privacy"]["min_cohort"] = recipe["rounds"]["goal"] = 50
    recipe["learn"]["server"] = server
    with open(f"{name}/recipe.json", "w") as f:
        json.dump(recipe, f)
    status = json.loads(call("run", f"{name}/recipe.json", "--drop", "25", "--json").stdout)
    first, last = (weights_of(f"{name}.learn", digest) for digest in (recipe["learn"]["model"]["init"], status["model"]))
    check(status["reports"] < 95 and status["divisor"] == 100, "devices that dropped out", str(status))
    noise = 2 ** 0.5 * recipe["privacy"]["multiplier"] * recipe["learn"]["update"]["clip"] / 100
    return (sum((a - b) ** 2 for a, b in zip(first, last)) / len(first)) ** 0.5, noise


def a_model_moves_as_the_recipe_says():
    """By the public divisor, however many came, and by its optimizer. Updates are so short that noise says how far, to a hundredth."""
    moved, noise = how_far_it_moves("public", {"optimizer": "sgd", "rate": 1})
    check(0.95 < moved / noise < 1.08, f"the model moved by {moved}, and {noise} is of noise")
    # Adam's first step: a tenth of the mean, over a tenth of its length and 0.001.
    moved, noise = how_far_it_moves("adam", {"optimizer": "adam", "rate": 0.01})
    steps = [noise * i / 1000 for i in range(-6000, 6001)]
    odds = [2.718281828 ** (-0.5 * (x / noise) ** 2) for x in steps]
    wanted = 0.01 * (sum(o * (x / (abs(x) + 0.01)) ** 2 for x, o in zip(steps, odds)) / sum(odds)) ** 0.5
    check(0.95 < moved / wanted < 1.05, f"the model moved by {moved}, and {wanted} is Adam's")


def mistakes_are_told():
    with open("plan/recipe.json") as f:
        text = f.read()
    with open("other.json", "w") as f:
        f.write(text.replace('"rate": 0.1', '"rate": 0.2'))
    call("run", "other.json", "--out", "session", code=4, says="another recipe")
    with open("wrong.json", "w") as f:
        f.write(re.sub(r'"init": "..', '"init": "00', text))
    call("run", "wrong.json", "--out", "none", code=4, says="digest of the first model")
    call("check", "wrong.json", code=4)
    with open("wrong.json", "w") as f:
        f.write(text.replace('"scale": 65536', '"scale": 1099511627776'))
    call("check", "wrong.json", code=3)
    call("run", f"{source}/examples/heatmap/recipe.json", "--out", "none", code=3, says="no learning recipe")
    with open("many.json", "w") as f:
        f.write(text.replace(f'"count": {rounds}', '"count": 5000'))
    call("check", "many.json", code=4, says="a session holds 4096")
    with open("rows", "wb") as f:
        f.write(b"no rows")
    call("run", "plan/recipe.json", "--out", "session", "--data", "rows", code=4, says="other data")
    os.makedirs("mine")
    with open("mine/lock", "w") as f:
        f.write("mine")
    call("run", "plan/recipe.json", "--out", "mine", code=4, says="no session's folder")
    check(os.path.exists("mine/lock"), "a folder of somebody else stays as it is")
    # A file that is not there, or can't be written, is no server that is down.
    call("run", "plan/recipe.json", "--out", "none", "--data", "nowhere", code=1, says="nowhere")
    call("run", "plan/recipe.json", "--out", "nowhere/session", code=1)
    call("run", code=2)
    call("run", "plan/recipe.json", "--devices", "1", code=2)
    call("init", "plan", code=1, says="File exists")
    call("init", "none", "--model", "vgg", code=2, says="--model")
    call("init", "none", "--rounds", "2", "--participations", "3", code=2)
    call("init", "late", "--participations", "1", says="it may burn")
    call("watch", "none", code=1, says="no such folder")
    call("check", "plan/recipe.json", says="20 reports expected in each; 16 needed")
    check(not os.path.exists("none"), "what is refused makes no folder")


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    state = a_session_goes_on_wherever_it_was_killed()
    its_model_and_receipts_are_in_the_folder(state)
    rounds_that_are_too_small_burn()
    devices_answer_by_the_library()
    a_full_disk_loses_nothing()
    noise_by_shares_counts_on_honest_devices()
    a_model_moves_as_the_recipe_says()
    mistakes_are_told()
    os.chdir("/")
sys.exit(exit_code())
