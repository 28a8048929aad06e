#!/usr/bin/env python3
"""test_learn_slots.py SOTTO SOURCE: sessions over real servers in which a device takes part once, in a round that it draws in secret. The
model moves by each policy of slots, and neither session nor receipts say how many reports a round had."""
import json
import os
import re
import sqlite3
import sys
import tempfile

from checks import call, check, exit_code

sotto, source = sys.argv[1], sys.argv[2]
# Devices draw for themselves, so chance decides how many a round has. One has too few with a chance of 3 * 10^-8 where all are added up.
# Where one of a slot is used the chance is 5 * 10^-9, and with sliding windows 5 * 10^-8.
COHORT = 10


def recipe(name, rounds, participation, **rest):
    with open(f"{source}/examples/checkins.json") as f:
        text = json.load(f)
    text["rounds"].update({"count": rounds, "goal": COHORT, "largest": 100})
    text["participation"] = {"start": text["schedule"]["opens"], "slot": "1h", **participation}
    text["privacy"]["min_cohort"] = COHORT
    text.update(rest)
    with open(f"{name}.json", "w") as f:
        json.dump(text, f)


def run(name, *words):
    done = call(sotto, "learn", "run", f"{name}.json", "--out", name, "--json", *words, timeout=200)
    return (json.loads(done.stdout) if done.returncode == 0 else {}), done.stderr


def counted(name):
    """Reports of each released round, as both servers have them."""
    with sqlite3.connect(f"file:{name}/leader.db?mode=ro", uri=True) as db:
        return [row[0] for row in db.execute("SELECT reports FROM release WHERE answer IS NOT NULL ORDER BY n")]


def examine(name, told, text, policy, rounds):
    check(told.get("slots", {}).get("policy") == policy, f"{name}: no policy {policy}", told)
    check("reports" not in told and told["slots"]["epsilon"] is None, f"{name}: counts or gains are told", told)
    check("relay" in told["slots"]["why"], f"{name}: nothing says why no gain is claimed", told)
    released = counted(name)
    check(len(released) == rounds and all(n >= COHORT for n in released), f"{name}: {rounds} rounds wanted, {released} released", text)
    check(len(re.findall(r"collected, sum", text)) == rounds, f"{name}: not every round is collected", text)
    with open(f"{name}/receipt-{told['rounds'] - 1}.json") as f:
        receipt = json.load(f)
    check("reports" not in receipt and receipt["epsilon"] < 6, f"{name}: a receipt counts reports", receipt)
    return sum(released)


def all_of_a_round_are_added_up_once():
    recipe("all", 2, {"type": "check-in", "variant": "averaged", "window": 2}, population=60)
    told, text = run("all", "--library")
    check(examine("all", told, text, "all", 2) == 60, "all: a device takes part once, each of them", text)


def one_of_a_slot_is_used():
    recipe("one", 2, {"type": "check-in", "variant": "fixed", "window": 64}, population=80)
    told, text = run("one")
    sent = sum(int(n) for n in re.findall(r": (\d+) of \d+ devices sent", text))
    used = examine("one", told, text, "one-of", 2)
    check(sent == 80 and used <= 64, f"one: {used} of {sent} reports are used, of 64 slots", text)
    check(told["divisor"] == 32, "one: a sum is divided by the slots of a round", told)


def warm_ups_are_not_released():
    recipe("sliding", 4, {"type": "check-in", "variant": "sliding", "window": 2}, population=120)
    told, text = run("sliding")
    examine("sliding", told, text, "all-after-warm-up", 3)
    check("round 0: not released" in text and told["burnt"] == 1, "sliding: its warm-up is released", text)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    all_of_a_round_are_added_up_once()
    one_of_a_slot_is_used()
    warm_ups_are_not_released()
    os.chdir("/")
sys.exit(exit_code())
