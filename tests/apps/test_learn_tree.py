#!/usr/bin/env python3
"""test_learn_tree.py SOTTO SOURCE: sessions over real servers whose noise is of a tree, or of buffers that were proposed. The session and a
server are killed in between, and a round is burnt. Both servers go on with the noise that they have, and nobody answers two rounds that are
too near."""
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile

from checks import call, check, exit_code, servers_of

sotto, source = sys.argv[1], sys.argv[2]
ROUNDS, RESTART, COHORT, DEVICES = 5, 4, 10, 400


def recipe(name, numbers="", example="tree", **privacy):
    """A device takes part where its coin says so, four rounds apart: about 80, 64, 51, 41 and 49 devices in turn. Fewer than ten do once in
    10^6 runs."""
    with open(f"{source}/examples/{example}.json") as f:
        text = json.load(f)
    text["rounds"].update({"count": ROUNDS, "goal": COHORT, "largest": 400, "participations": 2})
    text["participation"]["rate"] = 0.2
    text["privacy"].update({"min_cohort": COHORT, **privacy})
    text["population"] = DEVICES
    words = numbers.split()
    for key, value in zip(words[::2], map(int, words[1::2])):
        for part in (text["rounds"], text["participation"], text["privacy"]["correlation"], text):
            if key in part:
                part[key] = value
                break
    with open(f"{name}.json", "w") as f:
        json.dump(text, f)


def run_until(name, words, act):
    """Starts a run, acts when it prints a line that has these words, and waits for its end."""
    run = subprocess.Popen([sotto, "learn", "run", f"{name}.json", "--out", name], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           text=True)
    text = ""
    for said in run.stderr:
        text += said
        if words and words in said:
            act(run)
            words = None
    run.wait()
    return text


def rows(name, server, sql):
    with sqlite3.connect(f"file:{name}/{server}.db?mode=ro", uri=True) as db:
        return db.execute(sql).fetchall()


def kill_helper(run):
    for pid in servers_of(run.pid, "helper"):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it has ended meanwhile


def a_session_goes_on_with_the_noise_that_it_has():
    recipe("tree")
    run_until("tree", "round 0: collected", lambda run: run.kill())
    run_until("tree", "round 2: published", kill_helper)
    done = call(sotto, "learn", "run", "tree.json", "--out", "tree", "--json", timeout=500)
    told = json.loads(done.stdout)
    check(told["rounds"] == ROUNDS and told["restart"] == RESTART, "its rounds", done.stdout)
    check("secret" in told["correlated"] and told["epsilon"] <= 8, "its receipt", done.stdout)
    released = {server: [n for (n,) in rows("tree", server, "SELECT round FROM round_noise ORDER BY round")]
                for server in ("leader", "helper")}
    check(released["leader"] == released["helper"] and len(released["leader"]) == ROUNDS - told["burnt"],
          f"rounds that both servers added noise to: {released}", done.stderr)
    for server in released:
        kept = [n for (n,) in rows("tree", server, "SELECT round FROM round_noise WHERE length(seed) > 0 ORDER BY round")]
        check(kept[-1] == ROUNDS - 1 and 0 not in kept and 1 not in kept, f"seeds that the {server} still has: {kept}")
        count = rows("tree", server, "SELECT count(*), count(DISTINCT seed) FROM round_noise WHERE length(seed) > 0")[0]
        check(count[0] == count[1] == len(kept), f"each seed of the {server} is another one")
    return told


def a_session_by_buffers_goes_on_with_all_of_its_noise():
    """The matrix is proposed for these rounds. Later ones need the noise of each, so no seed goes while the session runs."""
    recipe("buffers", example="buffers", multiplier=1)
    call(sotto, "learn", "check", "buffers.json", code=3, says="privacy.epsilon: claims less than the")
    found = json.loads(call(sotto, "learn", "buffers", "buffers.json", "--out", "buffers.json", "--json").stdout)
    with open("buffers.json") as f:
        privacy = json.load(f)["privacy"]
    check(privacy["correlation"] == found["correlation"] and privacy["multiplier"] == found["multiplier"], "what was proposed is written", str(privacy))
    check(found["epsilon"] <= 8 and found["left_clips"] < found["left_clips_fresh"], "what it costs", str(found))
    run_until("buffers", "round 0: collected", lambda run: run.kill())
    run_until("buffers", "round 2: published", kill_helper)
    done = call(sotto, "learn", "run", "buffers.json", "--out", "buffers", "--json", timeout=500)
    told = json.loads(done.stdout)
    check(told["rounds"] == ROUNDS and told["buffers"] == 3 and "restart" not in told, "its rounds", done.stdout)
    check("secret" in told["correlated"] and "until its operator clears the session away" in told["kept"] and "backup" in told["kept"] and told["epsilon"] <= 8, "its receipt", done.stdout)
    released = {server: rows("buffers", server, "SELECT round, length(seed) FROM round_noise ORDER BY round") for server in ("leader", "helper")}
    check([n for n, _ in released["leader"]] == [n for n, _ in released["helper"]], f"rounds that both servers added noise to: {released}", done.stderr)
    check(len(released["leader"]) == ROUNDS - told["burnt"], f"{told['burnt']} burnt, and released: {released}")
    for server in released:
        check(all(size > 64 for _, size in released[server]), f"each seed of the {server} is there, with that of the round before: {released}")
    call(sotto, "learn", "buffers", "shares.json", code=3, says="devices of a round are others")


def nobody_answers_two_rounds_that_are_too_near():
    """By the library: each device keeps its distance by a ledger of its own. All would answer, so the round between burns."""
    recipe("library", "count 3 separation 2 rate 1 restart 2 population 40", multiplier=6)
    told = json.loads(call(sotto, "learn", "run", "library.json", "--out", "library", "--library", "--json", timeout=500).stdout)
    check(told["rounds"] == 3 and told["burnt"] == 1, "its rounds", str(told))
    reports = rows("library", "leader", "SELECT n.round, r.reports FROM release r JOIN round_noise n ON n.task = r.task ORDER BY n.round")
    check(reports == [(0, 40), (2, 40)], f"reports of each round: {reports}")


def too_little_noise_is_refused():
    recipe("little", multiplier=2.4)
    call(sotto, "learn", "check", "little.json", code=3, says="privacy.epsilon: claims less than the")
    recipe("shares", by="shares")
    call(sotto, "learn", "check", "shares.json", code=3, says="devices of a round are others")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    a_session_goes_on_with_the_noise_that_it_has()
    nobody_answers_two_rounds_that_are_too_near()
    too_little_noise_is_refused()
    a_session_by_buffers_goes_on_with_all_of_its_noise()
    os.chdir("/")
sys.exit(exit_code())
