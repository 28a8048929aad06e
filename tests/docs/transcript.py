"""transcript.py SOTTO SOURCE PAGE: runs what a page types, in a directory of its own, and compares what it prints.

A line `    $ COMMAND` of a page is a command; the indented lines below it are its output, where `...` stands for any lines. Standard error is not
compared. examples/ of the source lies in the directory."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sotto, source, page = (os.path.abspath(a) for a in sys.argv[1:4])
failed = False


def matches(wanted, got):
    """Whether the lines are those of the page."""
    pattern = "".join(r"(?:.*\n)*" if line.strip() == "..." else re.escape(line) + "\n" for line in wanted)
    return re.fullmatch(pattern, "".join(line + "\n" for line in got)) is not None


def steps(text):
    """Commands and the outputs below them."""
    found = []
    inside = False
    for line in text.split("\n"):
        if line.startswith("    $ "):
            found.append([line[6:], []])
            inside = True
        elif inside and found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1][0] += "\n" + line
        elif inside and (line.startswith("    ") or not line):
            found[-1][1].append(line[4:])
        else:
            inside = False
    return [(command, "\n".join(out).strip("\n").split("\n") if any(out) else []) for command, out in found]


with tempfile.TemporaryDirectory() as work:
    shutil.copytree(os.path.join(source, "examples"), os.path.join(work, "examples"))
    environment = dict(os.environ, PATH=os.path.dirname(sotto) + os.pathsep + os.environ["PATH"], LC_ALL="C", TMPDIR=work)
    commands = steps(open(page, encoding="utf-8").read())
    if not commands:
        print(page, "types nothing")
        failed = True
    for command, wanted in commands:
        done = subprocess.run(["sh", "-c", command], cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        got = done.stdout.rstrip("\n").split("\n") if done.stdout.strip() else []
        if wanted and not matches([w.rstrip() for w in wanted], [g.rstrip() for g in got]):
            print(f"$ {command}\nprints, with exit code {done.returncode}:\n{done.stdout}{done.stderr}\nwhere the page has:\n" + "\n".join(wanted))
            failed = True
        elif not wanted and done.returncode != 0:
            print(f"$ {command}\nfails:\n{done.stderr}")
            failed = True
sys.exit(failed)
