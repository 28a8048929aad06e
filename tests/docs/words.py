"""words.py SOURCE [--whole]: holds what people read to docs/glossary.md.

Pages (README.md, docs/*.md, README.md of a room, man pages), the string literals of apps/ and src/, and every comment use none of the words in
the glossary's table "Words not to use". A sentence of a page, of a comment, and of a message of apps/sotto and src/recipe, has at most 30 words,
but for those in tests/docs/long_sentences.txt. A first run fits on a screen.
"""

import glob
import os
import re
import sys

COMMENTED = ("apps", "bench", "examples", "fuzz", "include", "src", "tests", "tools", "cmake", "packaging")
LIMIT = 30
SCREEN = 24


def banned(source):
    """Rows of the last table of the glossary: word, instead, allowed in."""
    text = open(f"{source}/docs/glossary.md", encoding="utf-8").read()
    rows = text[text.index("## Words not to use"):].split("\n")
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if row.startswith("| ")]
    found = []
    for word, instead, allowed in rows[1:]:
        pattern = r"\b" + re.escape(word).replace(r"\ ", r"\s+").replace(r"\.\.\.", r".{1,40}?") + r"\b"
        first = re.split(r"\s|\.\.\.", word)[0].lower()
        found.append((first, re.compile(pattern, re.I), word, instead, allowed.split(", ")))
    return found


def page_blocks(path, text):
    """Paragraphs, list items and table cells of a page, as (line, text), without code."""
    if path.endswith(".md"):
        return markdown_blocks(text)
    return man_blocks(text)


def markdown_blocks(text):
    blocks, current, start, fenced = [], [], 1, False

    def end():
        if current:
            blocks.append((start, " ".join(current)))
            current.clear()

    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            end()
            fenced = not fenced
            continue
        indented = line.startswith("    ") and not current
        if fenced or indented or not line.strip() or line.startswith("#") or line.startswith("<!--"):
            end()
            continue
        if line.startswith("|"):
            end()
            blocks += [(number, cell) for cell in line.strip("|").split("|")]
            continue
        if re.match(r"\s*([-*]|\d+\.) ", line):
            end()
        if not current:
            start = number
        current.append(line.strip())
    end()
    return blocks


def man_blocks(text):
    blocks, current, start, literal = [], [], 1, False

    def end():
        if current:
            blocks.append((start, " ".join(current)))
            current.clear()

    inline = ("Fl", "Ar", "Pa", "Nm", "Xr", "Fn", "Fa", "Ev", "Cm", "Em", "Sy", "Li", "Va", "Dq", "Vt", "Ql", "Dv", "Er", "B", "I", "BR", "IR")
    for number, line in enumerate(text.split("\n"), 1):
        macro = re.match(r"\.\s*(\S*)\s*(.*)", line)
        if macro and macro.group(1) in ("Bd", "nf", "EX"):
            literal = True
        if macro and macro.group(1) in ("Ed", "fi", "EE"):
            literal = False
        if macro and macro.group(1) not in inline or literal or not line.strip():
            end()
            continue
        if not current:
            start = number
        current.append(macro.group(2) if macro else line)
    end()
    return blocks


def sentences(block):
    plain = re.sub(r"`[^`]*`", "code", block)
    plain = re.sub(r"\]\([^)]*\)", "]", plain)
    plain = re.sub(r"\b(?:e\.g|i\.e|et al|vs|no)\.", "x", plain)
    return [s for s in re.split(r"(?<=[.!?])[\"')*]*\s+|(?<=[.!?]) *\\?[|]", plain) if s.strip()]


def words_of(sentence):
    return [w for w in re.split(r"\s+", sentence) if re.search(r"\w", w)]


def message_blocks(text):
    """Paragraphs of a message or a usage text. Lines that are indented are rows of a list, of their own each."""
    blocks = [""]
    for line in text.split("\\n"):
        if not line.strip() or line.startswith("usage: ") or line.startswith("  "):
            blocks += [line, ""]
        else:
            blocks[-1] += " " + line
    return [block for block in blocks if block.strip()]


def literals(path):
    """String literals of a C file, neighbours joined, as (line, text); comments and includes are left out."""
    text = open(path, encoding="utf-8").read()
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    text = re.sub(r"/\*.*?\*/|^#include[^\n]*", lambda m: blank(m), text, flags=re.S | re.M)
    literal, between = r"\"(?:[^\"\\\n]|\\.)*\"", r"\s*(?:PRI[diuxX]\d+\s*)?"
    for m in re.finditer(f"{literal}(?:{between}{literal})*", text):
        yield text.count("\n", 0, m.start()) + 1, re.sub(f"\"{between}\"", "", m.group(0))[1:-1]


def c_comments(text):
    """Comments of a C file, as (line, lines without their stars)."""
    token = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|/\*.*?\*/"
    for m in re.finditer(token, text, flags=re.S):
        if m.group(0).startswith("/*"):
            yield text.count("\n", 0, m.start()) + 1, [re.sub(r"^\s*\*(?!\*)|\s*\\$", "", row) for row in m.group(0)[2:-2].split("\n")]


def hash_comments(text):
    """Comments of a shell script, of CMake or of Python: neighbouring lines that begin with #."""
    current, start = [], 1
    for number, line in enumerate(text.split("\n") + [""], 1):
        m = re.match(r"\s*#(?!!)(.*)", line)
        if m:
            start = start if current else number
            current.append(m.group(1))
        elif current:
            yield start, current
            current = []


def comment_blocks(start, rows):
    """Paragraphs of a comment. A row of a table has two spaces or more between its words, and is a paragraph; so is an indented formula."""
    blocks, current, first, before, tabled = [], [], start, 1, False

    def end():
        if current:
            blocks.append((first, " ".join(current)))
            current.clear()

    for number, row in enumerate(rows, start):
        indent = len(row) - len(row.lstrip())
        table = re.search(r"\S {2,}\S", row) or re.match(r"\s*([-*]|\d+\.) ", row)
        turns = (indent >= 3) != (before >= 3) and (number > start + 1 or indent >= 3)
        if not row.strip() or table or turns and not (tabled and indent >= 3):
            end()
        if row.strip():
            if not current:
                first, tabled = number, bool(table)
            current.append(row.strip())
            before = indent
    end()
    return blocks


def commented(source):
    """Every comment, as (path, line, paragraph)."""
    for folder in COMMENTED:
        for path in sorted(glob.glob(f"{source}/{folder}/**/*", recursive=True)):
            kind = c_comments if re.search(r"\.[ch](\.in)?$", path) else hash_comments if re.search(r"\.(sh|py|cmake)$|CMakeLists.txt$", path) else None
            if kind and os.path.isfile(path) and "/wrong/" not in path:
                for start, rows in kind(open(path, encoding="utf-8").read()):
                    for number, block in comment_blocks(start, rows):
                        yield path, number, block


def main():
    source = sys.argv[1]
    pages = [f"{source}/README.md"] + sorted(glob.glob(f"{source}/src/**/README.md", recursive=True)) + sorted(glob.glob(f"{source}/docs/*.md")) + sorted(glob.glob(f"{source}/man/*.[0-9]"))
    code = sorted(p for d in ("apps/sotto", "src") for p in glob.glob(f"{source}/{d}/**/*.[ch]", recursive=True))
    exceptions_path = f"{source}/tests/docs/long_sentences.txt"
    exceptions = [line.rstrip("\n") for line in open(exceptions_path, encoding="utf-8") if line.strip() and not line.startswith("#")]
    shown = 10000 if "--whole" in sys.argv else 90
    used, failures = set(), 0
    words = banned(source)

    def complain(path, line, what):
        nonlocal failures
        failures += 1
        print(f"{os.path.relpath(path, source)}:{line}: {what}")

    def look_for_words(path, line, text):
        lower = text.lower()
        for first, pattern, word, instead, allowed in words:
            # Looking for the first word as it is takes a tenth of the time, and few blocks have it.
            if first in lower and pattern.search(text) and not any(os.path.relpath(path, source).endswith(a) or a in os.path.dirname(path) + "/" for a in allowed):
                complain(path, line, f'"{word}": write {instead}')

    def look_for_length(path, line, block):
        for sentence in sentences(block):
            count = len(words_of(sentence))
            if count <= LIMIT:
                continue
            known = [e for e in exceptions if sentence.strip().startswith(e)]
            used.update(known)
            if not known:
                complain(path, line, f"a sentence of {count} words: {sentence.strip()[:shown]}")

    checked = 0
    for path in pages:
        text = open(path, encoding="utf-8").read()
        body = text.split("## Words not to use")[0] if path.endswith("docs/glossary.md") else text
        for number, block in page_blocks(path, body):
            look_for_words(path, number, block)
            look_for_length(path, number, block)
            checked += len(sentences(block))
    said = 0
    for path in code:
        for number, text in literals(path):
            said += 1
            look_for_words(path, number, text.replace("\\n", " "))
            if os.path.relpath(path, source).startswith(("apps/sotto/", "src/recipe/")):
                for block in message_blocks(text):
                    look_for_length(path, number, block)
    remarks = 0
    for path, number, block in commented(source):
        remarks += 1
        look_for_words(path, number, block)
        look_for_length(path, number, block)
    for e in exceptions:
        if e not in used:
            complain(exceptions_path, exceptions.index(e) + 1, f"no such sentence: {e}")
    for what in screens(source):
        complain(f"{source}/docs/operating.md", 1, what)
    if checked < 1000 or said < 1000 or remarks < 5000:
        complain(source, 0, f"only {checked} sentences, {said} messages and {remarks} comments were found")
    return failures > 0


def screens(source):
    """docs/operating.md's first run: what either operator types fits on one screen."""
    text = open(f"{source}/docs/operating.md", encoding="utf-8").read().split("## Rules for these steps")[0]
    for side in ("Helper", "Leader"):
        blocks = re.findall(rf"^{side}:\n\n```sh\n(.*?)```", text, flags=re.S | re.M)
        typed = sum(block.count("\n") for block in blocks)
        if len(blocks) < 4 or typed > SCREEN:
            yield f"{side} types {typed} lines in {len(blocks)} blocks, more than a screen of {SCREEN}"
    services = open(f"{source}/docs/operating.md", encoding="utf-8").read()
    for service in ("gateway", "relay", "log", "witness", "issuer", "attester"):
        blocks = re.findall(rf"^## \d+\. An? {service}\n.*?```sh\n(.*?)```", services, flags=re.S | re.M)
        typed = sum(block.count("\n") for block in blocks)
        if len(blocks) != 1 or typed > SCREEN:
            yield f"{service}: a first run of {typed} lines, more than a screen of {SCREEN}"


if __name__ == "__main__":
    sys.exit(main())
