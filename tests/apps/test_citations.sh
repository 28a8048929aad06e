#!/bin/sh
# test_citations.sh PROGRAM SOURCE: papers are cited by author and year, in pages, man pages and everything that is printed,
# and every one of them is in docs/references.md. Nobody is sent to a numbering that only we know.
program=$1
source=$2
exec python3 - "$program" "$source" <<'END'
import glob, re, subprocess, sys

program, source = sys.argv[1:]
# Our own numbers of documents, and confessions that a source was not looked at.
ours = re.compile(r"\b(?:seeds?|documents?) 00\d|not at hand|from memory", re.I)
pages = [p for p in glob.glob(f"{source}/docs/**/*.md", recursive=True)] + glob.glob(f"{source}/*.md")
pages += glob.glob(f"{source}/man/*") + glob.glob(f"{source}/examples/**/*.md", recursive=True)
code = [p for d in ("src", "apps", "include") for e in ("c", "h", "md") for p in glob.glob(f"{source}/{d}/**/*.{e}", recursive=True)]
cites = re.compile(r"\(([A-Z][A-Za-z]+)(?:(?:, [A-Z]\w+)*,? and [A-Z]\w+| et al\.) ((?:19|20)\d\d)")
listed = open(f"{source}/docs/references.md").read()
entries = re.split(r"\n(?=\d+\. )", listed)
failures = found = 0


def complain(*words):
    global failures
    failures += 1
    print("FAILED", *words)


def is_listed(name, year):
    return any(name in entry.split("*")[0] and re.search(r"\b" + year + r"\b", entry.split("*")[0]) for entry in entries[1:])


def check(where, text):
    global found
    for number, line in enumerate(text.split("\n"), 1):
        if ours.search(line):
            complain(f"{where}:{number}: {ours.search(line).group(0)!r}: cite author, year and title")
    for name, year in cites.findall(" ".join(text.split())):
        found += 1
        if not is_listed(name, year):
            complain(f"{where}: {name} {year} is not in docs/references.md")


for path in sorted(set(pages + code)):
    check(path, open(path, encoding="utf-8").read())


def asked(words):
    done = subprocess.run([program] + words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check("sotto " + " ".join(words), done.stdout)
    return done.stdout


for verb in ("account", "plan"):
    asked(["budget", verb, "--help"])
claim = ["--trust", "split", "--hidden", "--dishonest", "0", "--delta", "1e-6", "--adjacency"]
replaced, removed = claim + ["replacement"], claim + ["add-remove"]
questions = [["shuffled", "--eps0", "2", "--n", "5000"] + replaced, ["shuffled", "--eps0", "2", "--n", "5000", "--rate", "0.1"] + replaced,
             ["rappor", "--eps0", "2", "--n", "5000"] + replaced, ["donation", "--slots", "90", "--release-epsilon", "0.1", "--delta-each", "1e-9"] + removed,
             ["pure", "--release-epsilon", "0.1", "--rounds", "9"] + removed, ["laplace", "--scale", "3"] + removed,
             ["geometric", "--scale", "3", "--sensitivity", "1"] + removed, ["gaussian", "--sigma", "3"] + removed,
             ["discrete-gaussian", "--sigma", "3", "--sensitivity", "1"] + removed,
             ["noise-shares", "--sigma", "3", "--sensitivity", "1", "--dimension", "2", "--cohort", "9"] + removed]
questions += [["check-in", "--variant", v, "--eps0", "0.1", "--window", "5000"] + more + replaced
              for v, more in (("fixed", []), ("sliding", []), ("averaged", ["--cohort", "1000000"]))]
for q in questions:
    said = asked(["budget", "account", "--mechanism"] + q)
    theorem = re.search(r"theorem   (.*)", said)
    if not theorem or not cites.search(theorem.group(1)):
        complain("sotto budget account", *q, "names no author and year:\n" + said)
asked(["recipe", "new"])
if found < 40:
    complain(f"only {found} citations were found")
sys.exit(failures > 0)
END
