"""words.py SOURCE [--whole]: holds what people read to docs/glossary.md.

Pages (README.md, docs/*.md, README.md of a room, man pages) and the string literals of apps/ and src/ use none of the words in the glossary's
table "Words not to use"; a sentence of a page, and of a message of apps/sotto and src/recipe, has at most 30 words, but for those in
tests/docs/long_sentences.txt; and a first run fits on a screen.
"""

import glob
import os
import re
import sys

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
        found.append((re.compile(pattern, re.I), word, instead, allowed.split(", ")))
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
        for pattern, word, instead, allowed in words:
            if pattern.search(text) and os.path.basename(path) not in allowed:
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
    for e in exceptions:
        if e not in used:
            complain(exceptions_path, exceptions.index(e) + 1, f"no such sentence: {e}")
    for what in screens(source):
        complain(f"{source}/docs/operating.md", 1, what)
    if checked < 1000 or said < 1000:
        complain(source, 0, f"only {checked} sentences and {said} messages were found")
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
