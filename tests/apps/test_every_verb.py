#!/usr/bin/env python3
"""test_every_verb.py PROGRAM SOURCE: goes over the table of verbs, as --help lists it. Each verb takes --json and nothing that it does not
know. Those that can be run cheaply print one JSON value, or lines of them."""
import json
import os
import re
import subprocess
import sys
import tempfile

program, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
failures = 0


def fail(*words):
    global failures
    failures += 1
    print("FAILED:", *words)


def run(*words):
    return subprocess.run([program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)


def leaves(words):
    text = run(*words, "--help").stdout
    is_table = "usage: sotto%s VERB" % "".join(" " + w for w in words) in text
    parts = re.findall(r"^  ([a-z]+) ", text, re.M) if is_table else []
    return [leaf for part in parts for leaf in leaves(words + [part])] if parts else [(words, text)]


verbs = leaves([])
for words, text in verbs:
    name = " ".join(words)
    if "--json" not in text:
        fail(name, "--help does not name --json")
    done = run(*words, "--json", "--no-such-option")
    said = done.stdout + done.stderr
    if done.returncode != 2 or "no-such-option" not in said or "--json:" in said or "'--json'" in said:
        fail(name, "--json --no-such-option: exit", done.returncode, said)

os.chdir(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))
example = os.path.join(source, "examples", "launch-times")
for file in ("recipe", "policy", "parties", "streams"):
    with open(file + ".json", "w") as out:
        out.write(run("recipe", "new", *([] if file == "recipe" else ["--" + file])).stdout)
with open("rows.csv", "w") as out:
    out.write("launch_ms\n" + "".join("%d\n" % (i * 37 % 5000) for i in range(1200)))
with open("table.csv", "w") as out:
    out.write("user,x,label\n" + "".join("u%d,0.%d,%d\n" % (i % 20, i % 10, i % 2) for i in range(200)))
with open(os.path.join(example, "recipe.json")) as file:
    small = re.sub(r'"min_cohort": *[0-9]+', '"min_cohort": 1000', file.read())
with open("launches.json", "w") as out:
    out.write(small)
with open("other.json", "w") as out:
    out.write(small.replace('"launch-times"', '"launch-times-b"'))
launches = ["--policy", os.path.join(example, "policy.json")]
rows = [*launches, "--csv", "rows.csv", "--fast", "--quiet", "--threads", "1"]

# Each has --json put behind it. In this order: later ones read what earlier ones wrote.
cheap = [
    "recipe new", "recipe new --policy", "recipe lint recipe.json", "recipe explain recipe.json", "recipe compile recipe.json parties.json",
    "recipe price recipe.json", "recipe reference", "recipe lint no-such-analysis.json",
    f"recipe round {source}/examples/learning/digits.json", "parties key vendor.key", "parties sign parties.json --key vendor.key",
    "parties show parties.signed", "parties check parties.signed", "log key log.example/a --out log.key", "collect key collector.key",
    "budget account --mechanism gaussian --sigma 10 --adjacency add-remove --trust central --dishonest 0 --delta 1e-6", "budget committee --trust aero --corrupt 0.05 --size 45",
    "device new", "learn key owner.key", f"learn buffers {source}/examples/buffers.json", "learn data csv table.csv --out table", "learn init plan --data table --devices 18 --cohort 18 --rounds 1 --epsilon 30",
    "learn check plan/recipe.json --data table", "serve leader --sample", "serve helper --reference", "sim figures --only mcmillan-1 --points 0",
    ["sim", "run", "--recipe", "launches.json", *rows], ["sim", "sweep", "--recipe", "launches.json", "--vary", "devices=1100,1200", *rows],
    ["sim", "compare", "--recipe", "launches.json", "--recipe", "other.json", *rows],
    ["analysis", "start", "F", "--recipe", "launches.json", *launches, "--simulate", "rows.csv", "--fast"],
    "analysis watch F", "analysis result F --quiet", "analysis drill F --quantile 0.5", "analysis export F --step 1 --csv t.csv --out t.json", "analysis stop F",
]
refused = {"recipe lint no-such-analysis.json": 1}
for command in cheap:
    words = command.split() if isinstance(command, str) else command
    done = run(*words, "--json")
    if done.returncode != refused.get(command if isinstance(command, str) else "", 0):
        fail(" ".join(words), "--json: exit", done.returncode, done.stderr)
    elif done.returncode == 0:
        try:
            values = [json.loads(done.stdout)]
        except ValueError:
            try:
                values = [json.loads(line) for line in done.stdout.splitlines()]
            except ValueError as why:
                fail(" ".join(words), "--json: not JSON:", why, done.stdout[:300])
                continue
        if not values:
            fail(" ".join(words), "--json: prints nothing")
    if words[:2] == ["parties", "sign"]:
        with open("parties.signed", "w") as out:
            out.write(json.loads(done.stdout)["signed"])
with open("t.json") as file:
    if json.load(file)["receipt"] is None:
        fail("analysis export --out: no answer")
if len(verbs) < 70:
    fail("only", len(verbs), "verbs were found")
print(len(verbs), "verbs,", len(cheap), "commands,", failures, "failed")
sys.exit(1 if failures else 0)
