#!/usr/bin/env python3
"""manpages.py [--check] PROGRAM: writes the commands and options of the man pages from what `PROGRAM VERB --help` prints.

What lies between the two marks of a page of man/ is generated; the rest is written by hand. An option that --help names in
its usage line alone is described by man/options.txt. With --check nothing is written: it fails where a page is not what
would be written, or a page that is written by hand lacks an option or a command.
"""
import os
import re
import subprocess
import sys

GENERATED = ("admin", "analysis", "budget", "collect", "demo", "learn", "log", "serve", "sim")
BY_HAND = ("device", "parties", "recipe")
BEGIN, END = '.\\" What follows is written by tools/manpages.py', '.\\" Until here'
MAN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "man")
failures = 0


def complain(*words):
    global failures
    failures += 1
    print("manpages:", *words)


def help_of(program, words):
    done = subprocess.run([program] + words + ["--help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout


def leaves(program, words):
    """Every verb below that has no verbs of its own, with its help."""
    text = help_of(program, words)
    parts = re.findall(r"^  ([a-z]+) ", text, re.M) if "usage: sotto %s VERB" % " ".join(words) in text else []
    if not parts:
        return [(words, text)]
    return [leaf for part in parts for leaf in leaves(program, words + [part])]


def plain(text):
    """A line of text that no macro begins."""
    text = text.replace("\\", "\\e")
    return "\\&" + text if text[:1] in (".", "'") else text


def sentences(text):
    """One a line, as mdoc wants them."""
    return [plain(s) for s in re.split(r"(?<=\.) (?=[A-Z`])", text) if s]


def word(text):
    """An argument of a macro: what looks like another macro, or is punctuation, is marked as text."""
    text = text.replace("\\", "\\e")
    return "\\&" + text if re.fullmatch(r"[A-Z][a-z0-9]|[A-Z]|\W+", text) else text


def head(text):
    """`--rate, --q` or `--curve NAME=FROM:TO` or a plain word, as an item."""
    if not text.startswith("--"):
        return ".It " + " ".join(word(w) for w in text.split())
    out = []
    for part in text.split():
        comma = part.endswith(",")
        part = part.rstrip(",")
        out += ["Fl " + part[1:] if part.startswith("--") else "Ar " + word(part)] + ([","] if comma else [])
    return ".It " + " ".join(out)


def split_item(text):
    """What is described, and the beginning of its description: behind its arguments, a colon or two blanks."""
    option = re.match(r"((?:--[\w-]+(?: [A-Z][A-Z_=:\[\]]*| [a-z-]+(?=  ))?(?:, )?)+)(?:\s+(.*))?$", text)
    colon = re.match(r"([a-z][\w -]*): (.*)", text)
    name, _, more = text.partition("  ")
    if option:
        name, more = option.group(1), option.group(2) or ""
    elif colon and not more:
        name, more = colon.groups()
    return [name.strip(), more.strip()]


def join(text, more, first):
    """A list of options is set off from the words before it, and so is a sentence from what is none."""
    if re.match(r"\[?--", more) and first and text[-1:] not in ".:;,":
        return text + ": " + more
    if first and re.match(r"(The|All|Most|Leader) ", more) and text[-1:] not in ".:;,":
        return text + ". " + more
    return (text + " " + more).strip()


def read(text):
    """The usage lines, then what follows: paragraphs as text, items as (head, description)."""
    usage, rest, lines = [], [], text.rstrip("\n").split("\n")
    while lines and lines[0].strip():
        usage.append(lines.pop(0))
    for line in lines:
        item = re.match(r"  (\S.*)", line)
        if not line.strip():
            rest.append("")
        elif item:
            rest.append(split_item(item.group(1)))
        elif line.startswith("   ") and rest and isinstance(rest[-1], list):
            rest[-1][1] = join(rest[-1][1], line.strip(), len(rest[-1]) == 2)
            rest[-1].append(line)
        elif rest and rest[-1] and not isinstance(rest[-1], list):
            rest[-1] += " " + line.strip()
        else:
            rest.append(line.strip())
    return usage, rest


def described(options, words, name):
    for key in (" ".join(words) + " " + name, words[0] + " " + name, name):
        if key in options:
            return options[key]
    complain("sotto", *words, name, "has no entry: describe it in man/options.txt")
    return ""


def render(words, text, options, seen):
    usage, rest = read(text)
    out = [".Ss sotto " + " ".join(word(w) for w in words), ".Bd -literal"]
    out += [plain(line) for line in usage] + [".Ed", ".Pp"]
    listed = {n for item in rest if isinstance(item, list) for n in re.findall(r"--[a-z][\w-]*", item[0])}
    extra = []
    for name in dict.fromkeys(re.findall(r"--[a-z][\w-]*", " ".join(usage))):
        if name not in listed:
            argument = re.search(re.escape(name) + r" ([A-Z][A-Z_=,]*(?:\.\.\.)?)", " ".join(usage))
            extra.append([name + (" " + argument.group(1) if argument else ""), described(options, words, name)])
    inside, above = False, False
    for item in rest + ([""] + extra if extra else []):
        if isinstance(item, list):
            if (item[0], item[1]) in seen:
                above = True
                continue
            seen.add((item[0], item[1]))
            if not inside:
                if out[-1] == ".Pp":
                    out.pop()
                out.append(".Bl -tag -width Ds")
                inside = True
            out += [head(item[0])] + sentences(item[1])
            continue
        if inside and item:
            out += [".El", ".Pp"]
            inside = False
        if item:
            out += sentences(item)
        elif not inside and out[-1] != ".Pp":
            out.append(".Pp")
    while out[-1] == ".Pp":
        out.pop()
    if inside:
        out.append(".El")
    if above:
        out += [".Pp", "Options that are described above hold here too."]
    return out


def write_page(program, verb, options, check):
    path = os.path.join(MAN, "sotto-%s.1" % verb)
    page = open(path, encoding="utf-8").read()
    start, end = page.index(BEGIN), page.index(END)
    out, seen = [BEGIN], set()
    for words, text in leaves(program, [verb]):
        out += render(words, text, options, seen)
    made = page[:start] + "\n".join(line for line in out if line) + "\n" + page[end:]
    if check and made != page:
        complain(path, "is not what --help says: run tools/manpages.py PROGRAM")
    elif not check:
        open(path, "w", encoding="utf-8").write(made)
    return made


def check_names(program, verb, page):
    """Every command and every option has an entry."""
    for words, text in leaves(program, [verb]):
        for part in words[1:]:
            if not re.search(r"\b" + part + r"\b", page):
                complain("sotto", *words, "is not in its page")
        for name in set(re.findall(r"--[a-z][\w-]*", text)):
            if name != "--help" and not re.search(r"Fl " + re.escape(name[1:]) + r"(?![\w-])", page):
                complain("sotto", *words, name, "is not in its page")


def main():
    check = "--check" in sys.argv
    program = sys.argv[-1]
    options = {}
    for line in open(os.path.join(MAN, "options.txt"), encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            key, _, text = line.partition(": ")
            options[key] = text.strip()
    for verb in GENERATED:
        page = write_page(program, verb, options, check)
        check_names(program, verb, page)
    for verb in BY_HAND:
        check_names(program, verb, open(os.path.join(MAN, "sotto-%s.1" % verb), encoding="utf-8").read())
    verbs = re.findall(r"^  ([a-z]+) ", help_of(program, []), re.M)
    top = open(os.path.join(MAN, "sotto.1"), encoding="utf-8").read()
    for verb in verbs:
        if "Nm Cm " + verb not in top:
            complain("sotto.1 lacks", verb)
        if verb in GENERATED + BY_HAND and "Xr sotto-%s 1" % verb not in top:
            complain("sotto.1 does not name the page of", verb)
    for verb in set(verbs) - set(GENERATED + BY_HAND) - {"interop"}:
        complain("sotto", verb, "has no page")
    sys.exit(failures > 0)


main()
