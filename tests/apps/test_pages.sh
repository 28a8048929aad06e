#!/bin/sh
# test_pages.sh PROGRAM GOLDEN SOURCE: what docs/budget.md, docs/recipe.md and docs/reproduction.md say to type is typed, and prints what
# they print; the table of docs/reproduction.md has the numbers that sotto-golden finds.
#
# Words are compared as they are, numbers by their first eight digits: later ones change with the evaluation. Lines that
# a page leaves out are not looked at, nor is the time that an answer took.
program=$1
golden=$2
source=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/here"
ln -s "$program" "$work/bin/sotto"
"$golden" --json "$source/tests/golden/seeds.csv" >"$work/golden"
cd "$work/here" || exit 1
PATH=$work/bin:$PATH exec python3 - "$source" "$work/golden" <<'END'
import csv, json, re, subprocess, sys

DIGITS = 8
source, golden = sys.argv[1:]
number = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])")
failures = 0


def complain(*words):
    global failures
    failures += 1
    print("FAILED", *words)


def steps(page):
    """Each command of a page with the lines below it: indented by four, the first after a dollar sign."""
    found, inside = [], False
    for line in open(f"{source}/docs/{page}").read().split("\n"):
        if line.startswith("    $ "):
            found.append(([line[6:]], []))
            inside = True
        elif inside and found[-1][0][-1].endswith("\\") and not found[-1][1]:
            found[-1][0].append(line)
        elif inside and line.startswith("    "):
            found[-1][1].append(line[4:])
        elif line != "":
            inside = False
    return [("\n".join(command), shown) for command, shown in found]


def alike(shown, said):
    if number.sub("#", shown) != number.sub("#", said):
        return False
    pairs = zip(number.findall(shown), number.findall(said))
    return shown.startswith("  time ") or all(
        abs(float(a) - float(b)) <= 10 ** (1 - DIGITS) * abs(float(b)) / 2 for a, b in pairs)


def run(page):
    code = 0
    commands = steps(page)
    for command, shown in commands:
        if command.startswith("cat "):
            open(command[4:], "w").write("\n".join(shown) + "\n")
            continue
        if command == "echo $?":
            if shown != [str(code)]:
                complain(page, "exit code", code, "not", shown)
            continue
        done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        code, rest = done.returncode, done.stdout.split("\n")
        for line in shown:
            if line.strip() in ("", "..."):
                continue
            at = next((i for i, said in enumerate(rest) if alike(line, said)), None)
            if at is None:
                complain(page, "is to print:", line, "\nbut prints:\n" + done.stdout)
                break
            rest = rest[at + 1:]
    return len(commands)


def check_table():
    """A number of the table is what both ends have, but for one in its last digit."""
    table = [line for line in open(f"{source}/docs/reproduction.md") if re.match(r"\| \[\d\] ", line)]
    printed = [n for line in table for n in number.findall(line.split("|")[5])]
    rows = list(csv.DictReader(open(f"{source}/tests/golden/seeds.csv")))
    found = 0
    for line in open(golden):
        if not line.startswith('{"file"'):
            continue
        answer = json.loads(line)
        row = rows[answer["line"] - 2]
        if row["kind"] == "note" or "7 participations" in row["item"]:
            continue
        ends = [answer["high"]] + ([answer["low"]] if row["kind"].startswith("exact") else [])
        found += 1
        if not any((len(n.replace(".", "").lstrip("0")) >= 6 or float(n) == answer["high"]) and
                   all(abs(end - float(n)) <= unit(n) for end in ends) for n in printed):
            complain("docs/reproduction.md has no number between", answer["low"], "and", answer["high"], row["item"])
    return found


def unit(text):
    digits, _, power = text.partition("e")
    return 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))


if run("budget.md") < 10 or run("reproduction.md") < 6 or run("recipe.md") < 6:
    complain("too few commands were found")
if check_table() < 55:
    complain("too few rows of the table were found")
sys.exit(failures > 0)
END
