#!/usr/bin/env python3
"""places.py SOURCE [OVER]: pages that draw the tree draw the one that is there.

Every file, folder, function and constant that docs/architecture.md, docs/life-of-a-report.md, CONTRIBUTING.md and the README pages of
src/ name exists. architecture.md names every room of src/ and every folder of src/serve/ and src/device/. In docs/protocols/,
`file.c: function, function` and `program: test` are there, too. What the folder OVER has stands before what SOURCE has.
"""
import os
import re
import sys

NAMED = re.compile(r"(?<![\w/.*<{-])((?:\.\./)*(?:[\w-]+/)*[\w-][\w.-]*\.(?:c|h|py|sh|md|txt|cmake))(?![\w/])")
FOLDER = re.compile(r"(?<![\w/.])((?:src|tests|tools|apps|bench|fuzz|docs|include|cmake)/[\w/.-]*[\w*-])(?![\w*<])")
OURS = re.compile(r"\b(?:sotto|SOTTO)_\w*[a-zA-Z0-9](?![\w*])")
WITHIN = re.compile(r"`([\w/]+\.c)` `(\w+)`")
# What a page of docs/protocols says of a step: where it is, and which test shows it.
SHOWN = re.compile(r"`((?:[\w-]+/)*[\w-]+\.[ch]): (\w+(?:, \w+)*)`")
TEST = re.compile(r"`([a-z0-9_]+): ([a-z0-9_]+)`")
LONG = re.compile(r"\b[a-z0-9]+(?:_[a-z0-9]+){3,}\b")
BARE = re.compile(r"`([a-z0-9]+(?:_[a-z0-9]+){3,})`")
CASE = re.compile(r"\bCASE\(\s*(\w+)\s*\)")
# Places that a page invents to say what goes where.
EXAMPLES = {"src/ROOM/FILE.c", "tests/wrong/ROOM/FILE.txt", "ctime_file.c", ("program", "case")}


class Tree:
    def __init__(self, roots):
        self.files, self.folders, self.by_name, self.words, self.long = {}, set(), {}, set(), set()
        for root in roots:
            self.walk(root)
        for path in self.files:
            self.by_name.setdefault(os.path.basename(path), []).append(path)
            if path.startswith(("src/", "include/", "apps/", "tests/", "cmake/")) and path.endswith((".c", ".h", ".cmake", ".py", ".sh", ".txt")):
                text = self.read(path)
                self.words.update(OURS.findall(text))
                self.long.update(LONG.findall(text))

    def walk(self, root):
        for folder, below, names in os.walk(root):
            below[:] = [name for name in below if name not in ("build", ".git", "__pycache__")]
            where = os.path.relpath(folder, root)
            self.folders.add(where)
            self.files.update((os.path.normpath(os.path.join(where, name)), root) for name in names)

    def read(self, path):
        with open(os.path.join(self.files[path], path), encoding="utf-8", errors="replace") as f:
            return f.read()

    def finds(self, name, page):
        """The files that a page can mean by a name."""
        if name.startswith("../"):
            name = os.path.normpath(os.path.join(os.path.dirname(page), name))
        if name.startswith("_"):  # encoding_bin.c, _tree.c
            return [path for path in self.files if path.endswith(name)]
        return [path for path in self.by_name.get(os.path.basename(name), []) if path == name or path.endswith("/" + name)]

    def has_folder(self, name):
        begin = name.rstrip("*") if "*" in name else name + "-" if re.search(r"decisions/\d+$", name) else None
        return name in self.folders or name in self.files or begin and any(path.startswith(begin) for path in self.files)


def mistakes_of(tree, page):
    text = tree.read(page)
    for name in sorted(set(NAMED.findall(text)) - EXAMPLES):
        if not tree.finds(name, page):
            yield f"{page}: there is no {name}"
    for name in sorted(set(FOLDER.findall(text))):
        if name not in EXAMPLES and not re.search(r"\.\w+$", name) and not tree.has_folder(name):
            yield f"{page}: there is no {name}"
    for name in sorted(set(OURS.findall(text))):
        if name not in tree.words:
            yield f"{page}: nothing is called {name}"
    for name, function in sorted(set(WITHIN.findall(text))):
        if not any(re.search(rf"\b{function}\(", tree.read(path)) for path in tree.finds(name, page)):
            yield f"{page}: {name} has no {function}"


def cases_of(tree):
    """Test cases by the folder and name of their program, as `serve/test_uploads.c` is of serve_uploads."""
    cases = {}
    for path in tree.files:
        program = re.fullmatch(r"tests/(\w+)/test_(\w+)\.c", path)
        if program:
            names = (f"{program[1]}_{program[2]}", program[2])
            for name in names:
                cases.setdefault(name, set()).update(CASE.findall(tree.read(path)))
    return cases


def not_shown(tree, page, cases):
    """Functions and tests of a protocol's page that are not where it says."""
    text = tree.read(page)
    for name, functions in sorted(set(SHOWN.findall(text))):
        found = [tree.read(path) for path in tree.finds(name, page)]
        for function in functions.split(", "):
            if not any(re.search(rf"\b{function}\(", code) for code in found):
                yield f"{page}: {name} has no {function}"
    for program, case in sorted(set(TEST.findall(text)) - EXAMPLES):
        # The same program on the other database has the same cases.
        if case not in cases.get(program.removesuffix("_postgres"), ()):
            yield f"{page}: {program} has no test {case}"
    for name in sorted(set(BARE.findall(text))):
        if name not in tree.long:
            yield f"{page}: nothing is called {name}"


def left_out(tree, page):
    """Rooms and folders that the page of the whole does not name."""
    text = tree.read(page)
    for folder in sorted(tree.folders):
        parts = folder.split("/")
        if parts[0] != "src" or len(parts) not in (2, 3) or len(parts) == 3 and parts[1] not in ("serve", "device"):
            continue
        if not re.search(rf"(?<![\w]){re.escape(folder if len(parts) == 2 else parts[2])}/", text):
            yield f"{page}: does not name {folder}"


def main():
    tree = Tree(sys.argv[1:])
    pages = ["CONTRIBUTING.md", "docs/architecture.md", "docs/life-of-a-report.md"]
    pages += sorted(path for path in tree.files if path.startswith("src/") and os.path.basename(path) == "README.md")
    found = [mistake for page in pages for mistake in mistakes_of(tree, page)] + list(left_out(tree, "docs/architecture.md"))
    protocols = sorted(path for path in tree.files if path.startswith("docs/protocols/") and path.endswith(".md"))
    cases = cases_of(tree)
    found += [mistake for page in protocols for mistake in not_shown(tree, page, cases)]
    print("\n".join(found) if found else f"{len(pages) + len(protocols)} pages name what there is")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
