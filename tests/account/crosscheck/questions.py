"""questions.py: random questions, and our program's answers to them. Standard library only."""
import csv
import json
import os
import subprocess
import tempfile

# What a question is made of: options of `sotto budget account`, as they are typed.
OPTIONS = ["mechanism", "sigma", "rate", "rounds", "releases", "sensitivity", "release-epsilon", "delta"]


def question(mechanism, columns=None, **given):
    row = dict.fromkeys(columns or OPTIONS, "")
    row["mechanism"] = mechanism
    for name, value in given.items():
        row[name.replace("_", "-")] = value if isinstance(value, str) else f"{value:.5g}" if isinstance(
            value, float) else str(value)
    return row


def spread(rng, low, high):
    """Uniform in the logarithm."""
    return low * (high / low) ** rng.random()


def ask(program, questions, columns=None):
    """Our answers: (low, high) as the text the program printed, or None where it refused."""
    columns = columns or OPTIONS
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "questions.csv")
        with open(name, "w", newline="", encoding="utf-8") as f:
            out = csv.DictWriter(f, columns, extrasaction="ignore", lineterminator="\n")
            out.writeheader()
            out.writerows(questions)
        run = subprocess.run([program, "budget", "account", "--batch", name, "--json", "--trust", "split", "--hidden",
                              "--dishonest", "0", "--adjacency", "add-remove"],
                             stdout=subprocess.PIPE, text=True, check=False)
    answers = [None] * len(questions)
    for line in run.stdout.splitlines():
        item = json.loads(line, parse_float=str, parse_int=str)
        if "low" in item:
            answers[int(item["line"]) - 2] = (item["low"], item["high"])
    return answers
