#!/usr/bin/env python3
"""test_learn_encrypted.py SOTTO SOURCE: a session of encrypted sums. Minutes of proofs and windows: the short form looks at what is refused
before anything starts. SOTTO_TEST_LONG: two rounds over an aggregator and a witness, one in which devices are lost, and one that is killed."""
import glob
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile

import checks
from checks import check, exit_code

sotto, source = sys.argv[1], sys.argv[2]
example = f"{source}/examples/encrypted-learning/recipe.json"
one_key = f"{source}/examples/encrypted-learning/one-key.json"


def call(*words, **wanted):
    return checks.call(sotto, "learn", *words, **wanted)


def small_recipe(name, rounds, population=24, of=example, **privacy):
    """The example's, for 24 devices that are registered."""
    with open(of) as f:
        recipe = json.load(f)
    recipe["rounds"].update(count=rounds, participations=rounds, goal=12, largest=24)
    recipe["privacy"].update(min_cohort=12, **privacy)
    recipe["aggregation"]["devices"] = {"least": 24, "most": 24}
    recipe["aggregation"].update(checks=46)
    recipe["population"] = population
    with open(name, "w") as f:
        json.dump(recipe, f)


def updates(folder):
    """How many rounds each device has paid for."""
    found = []
    for path in sorted(glob.glob(f"{folder}/devices/*.ledger")):
        with sqlite3.connect(path) as ledger:
            found += [ledger.execute("SELECT coalesce(sum(reports), 0) FROM accounts WHERE name LIKE 'rho recipe %'").fetchone()[0]]
    return found


def receipt(folder, number):
    with open(f"{folder}/receipt-{number}.json") as f:
        return json.load(f)


def kill_in_a_round():
    """The round at hand is burnt, and the session goes on."""
    words = [sotto, "learn", "run", "small.json", "--data", "table", "--out", "killed"]
    run = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    for said in run.stderr:
        if said.startswith("round 0: 24 of 24"):
            os.kill(run.pid, signal.SIGKILL)
            break
    run.wait()
    again = subprocess.run(words, capture_output=True, text=True)
    check("round 0: burnt" in again.stderr and "2 rounds" in again.stdout, "a killed round is burnt", again.stderr)
    check(updates("killed") == [2] * 24, "a round that was paid for is not paid again", updates("killed"))


def run_rounds():
    call("run", "small.json", "--data", "table", "--out", "two", says="it saw who took part")
    with open("two/status.json") as f:
        status = json.load(f)
    check(status["rounds"] == 2 and status["server"] == "key:aggregator", "the session is over", status)
    check("left_out" not in status["encryption"], "a session says nothing of one round", status["encryption"])
    check(updates("two") == [2] * 24, "every device paid for both rounds", updates("two"))
    for path in glob.glob("two/receipt-*.json"):
        said = receipt("two", re.search(r"(\d+)", os.path.basename(path)).group(1))
        check(said["noise_by"] == "committee" and 1 <= said["bound_factor"] < 1.1, "the receipt", said)
        check(set(said["encryption"]["log"]) >= {"key", "certificate", "promises", "leaves", "sums", "verdict"},
              "the receipt says where records are", said["encryption"]["log"])
    # Devices that are off pay nothing, and the receipt counts them.
    # On a busy machine members are late, and the round burns.
    subprocess.run([sotto, "learn", "run", "small.json", "--data", "table", "--out", "lossy", "--drop", "30", "--stop-after", "1", "--quiet"],
                   capture_output=True)
    paid = sum(updates("lossy"))
    if glob.glob("lossy/receipt-0.json"):
        out = receipt("lossy", 0)["encryption"]["left_out"]
        check(sum(out.values()) + receipt("lossy", 0)["reports"] == 24, "all are accounted for", out)
        check(out.get("drawn devices that were switched off", 0) == 24 - paid, "who is off pays nothing", out)


def run_under_one_key():
    """The second round has the first one's key, and the third one a new one."""
    call("run", "keyed.json", "--data", "table", "--out", "keyed", says="it saw who took part")
    boards = [receipt("keyed", i)["encryption"]["log"] for i in range(3) if os.path.exists(f"keyed/receipt-{i}.json")]
    check(len(boards) == 3, "no round is burnt", boards)
    check(["hand-over" in b for b in boards] == [False, True, False], "the key is handed over once", boards)
    check(["key" in b for b in boards] == [True, False, True], "no key is made where one is handed over", boards)
    check(receipt("keyed", 1)["encryption"]["rekey"] == 2, "the receipt says for how many rounds a key is", receipt("keyed", 1))


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    with open("table.csv", "w") as f:
        subprocess.run(["sh", f"{source}/examples/one-server/make-table.sh", "28"], stdout=f, check=True)
    call("data", "csv", "table.csv", "--user", "user", "--label", "kind", "--low", "0", "--high", "100", "--out", "table")
    small_recipe("small.json", 2)
    small_recipe("cheap.json", 2, epsilon=1)
    small_recipe("others.json", 2, population=23)
    small_recipe("keyed.json", 3, of=one_key)
    with open("keyed.json") as f:
        keyed = json.load(f)
    keyed["aggregation"].update(rekey=2, committee={"size": 19, "corrupt": 9, "count": 1})
    with open("keyed.json", "w") as f:
        json.dump(keyed, f)

    call("run", "small.json", "--data", "table", "--library", code=2, says="two servers")
    call("run", "small.json", "--data", "table", "--devices", "13", code=3, says="looks at a leaf")
    call("run", "others.json", "--data", "table", code=4, says="23 devices: all of them are registered here")
    call("run", "cheap.json", "--data", "table", code=3, says="with a committee's noise")
    check(not os.path.exists("learn-session"), "what is refused starts nothing")
    for recipe in (example, one_key):
        lint = subprocess.run([sotto, "recipe", "lint", recipe, "--policy", f"{source}/examples/encrypted-learning/policy.json"],
                              capture_output=True, text=True)
        check(lint.returncode == 0, "the example's policy allows it", lint.stdout + lint.stderr)
    if "SOTTO_TEST_LONG" in os.environ:
        run_rounds()
        run_under_one_key()
        kill_in_a_round()

sys.exit(exit_code())
