"""What the tests of rules need that the product must not hold (base/rule.h, CONTRIBUTING.md).

wrong.py EDITS SOURCE OUT   writes OUT: SOURCE with the edits of the file EDITS
wrong.py --check ROOT       every rule in src/ and apps/ is a guard, and every edit below tests/wrong/ fits its source

tests/wrong/ROOM/FILE.txt edits src/ROOM/FILE.c. An edit is a line `== rule...` and then the lines of a diff: ` ` stays,
`-` is right and goes, `+` comes in its place and can be wrong when the rule is off. An empty line ends it. The lines that
stay and go must be in the source exactly once, one after the other. `#` begins a comment between edits.
"""
import os
import re
import sys

RULE = re.compile(r"\bSOTTO_RULE\((\w*)\)")
EMPTY = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.S)


class Wrong(Exception):
    pass


class Edit:
    def __init__(self, path, number, rules):
        self.path, self.number, self.rules, self.lines = path, number, rules, []

    def taken(self):
        return [text for _, mark, text in self.lines if mark != "+"]

    def check(self):
        where = f"{self.path}:{self.number}"
        named = set(RULE.findall("\n".join(text for _, mark, text in self.lines if mark == "+")))
        if not self.rules or named != set(self.rules):
            raise Wrong(f"{where}: is to name the rules of its + lines: {' '.join(sorted(named))}")
        if not self.taken():
            raise Wrong(f"{where}: no line says where it belongs")


def read_edits(path):
    edits, open_edit = [], None
    for number, line in enumerate(open(path, encoding="utf-8").read().splitlines(), 1):
        if line.startswith("== "):
            open_edit = Edit(path, number, line[3:].split())
            edits.append(open_edit)
        elif not line:
            open_edit = None
        elif open_edit and line[0] in " -+":
            open_edit.lines.append((number, line[0], line[1:]))
        elif open_edit or line[0] != "#":
            raise Wrong(f"{path}:{number}: neither an edit nor a comment")
    if not edits:
        raise Wrong(f"{path}: no edits")
    for edit in edits:
        edit.check()
    return edits


def find(edit, source, name):
    taken = edit.taken()
    at = [i for i in range(len(source) - len(taken) + 1) if source[i : i + len(taken)] == taken]
    if len(at) != 1:
        raise Wrong(f"{edit.path}:{edit.number}: its right lines are in {name} {len(at)} times, not once")
    return at[0]


def apply_edits(edits, source, name):
    """The lines of the copy, with #line wherever the next one does not follow the last."""
    places = sorted(((find(edit, source, name), edit) for edit in edits), key=lambda place: place[0])
    include = next((i for i, line in enumerate(source) if line.startswith("#include")), 0)
    out, at, follows = list(source[:include]), include, None

    def put(text, path, number):
        nonlocal follows
        if follows != (path, number):
            out.append(f'#line {number} "{path}"')
        out.append(text)
        follows = (path, number + 1)

    def put_source(end):
        nonlocal at
        for i in range(at, end):
            put(source[i], name, i + 1)
        at = end

    out.append('#include "base/rule.h"')
    for begin, edit in places:
        if begin < at:
            raise Wrong(f"{edit.path}:{edit.number}: overlaps another edit, or the lines before the first #include")
        put_source(begin)
        for number, mark, text in edit.lines:
            if mark == "+":
                put(text, edit.path, number)
            elif mark == "-":
                at += 1
            else:
                put_source(at + 1)
    put_source(len(source))
    return out


def write_copy(edits, source, out):
    lines = apply_edits(read_edits(edits), open(source, encoding="utf-8").read().splitlines(), source)
    os.makedirs(os.path.dirname(out) or ".", exist_ok=True)
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


# ---- whether a rule is a guard ----


def blank(match):
    """Comments and texts become spaces of the same length; line numbers stay."""
    return re.sub(r"[^\n]", " ", match.group())


def past(code, at, begin="(", end=")"):
    """Behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] == begin) - (code[i] == end)
        if depth == 0:
            return i + 1
    return len(code)


def skip_blank(code, at):
    return at + len(code[at:]) - len(code[at:].lstrip())


def past_statement(code, at):
    at = skip_blank(code, at)
    head = re.match(r"(if|for|while|switch)\s*(?=\()", code[at:])
    if head:
        at = past_statement(code, past(code, at + head.end()))
        other = skip_blank(code, at)
        if head.group(1) == "if" and re.match(r"else\b", code[other:]):
            return past_statement(code, other + 4)
        return at
    if code[at : at + 1] == "{":
        return past(code, at, "{", "}")
    while at < len(code) and code[at] != ";":
        at = past(code, at, "{", "}") if code[at] == "{" else at + 1
    return at + 1


def why_no_guard(code, rule):
    before = re.search(r"\bif\s*\($", code[: rule.start()].rstrip())
    if not before or not re.match(r"\s*&&", code[rule.end() :]):
        return "its condition begins otherwise"
    opens = before.end() - 1
    closes = past(code, opens)
    depth = 0
    for i in range(opens + 1, closes - 1):
        depth += (code[i] == "(") - (code[i] == ")")
        if depth == 0 and (code[i : i + 2] == "||" or code[i] == "?"):
            return "its condition has alternatives"
    after = past_statement(code, closes)
    if re.match(r"else\b", code[skip_blank(code, after) :]):
        return "it has an else"
    return None


def check_source(path):
    code = EMPTY.sub(blank, open(path, encoding="utf-8").read())
    for use in re.finditer(r"\bSOTTO_RULE(S|_OFF)?\b", code):
        number = code.count("\n", 0, use.start()) + 1
        rule = RULE.match(code, use.start())
        why = why_no_guard(code, rule) if rule else "it is no SOTTO_RULE(name)"
        if why:
            yield (f"{path}:{number}: not a guard, `if (SOTTO_RULE(name) && bad) reject;`: {why}. "
                   "What is wrong without the rule belongs to tests/wrong/")


def below(root, folder, ending):
    for place, _, names in sorted(os.walk(os.path.join(root, folder))):
        yield from (os.path.join(place, name) for name in sorted(names) if name.endswith(ending))


def check(root):
    said = []
    for path in [*below(root, "src", (".c", ".h")), *below(root, "apps", (".c", ".h"))]:
        if not path.endswith("src/base/rule.h"):
            said += check_source(path)
    wrong = os.path.join(root, "tests/wrong")
    for path in below(root, "tests/wrong", ""):
        source = os.path.join(root, "src", os.path.relpath(path, wrong)[:-4] + ".c")
        try:
            if not path.endswith(".txt") or not os.path.exists(source):
                raise Wrong(f"{path}: edits no source: {source}")
            apply_edits(read_edits(path), open(source, encoding="utf-8").read().splitlines(), source)
        except Wrong as e:
            said.append(str(e))
    return said


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--check":
        said = check(arguments[1])
        for line in said:
            print(line)
        return 1 if said else 0
    if len(arguments) != 3:
        print(__doc__)
        return 2
    try:
        write_copy(*arguments)
    except Wrong as e:
        print(e)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
