"""threats.py SOURCE [PAGE]: every row of docs/threat-model.md names tests that exist, or says "-" and that the attack is not stopped.

A test is `name`, or `name: case`; a case without a name in front is of the test before it. The findings that were carried out against a running
build are in FOUND, each by the test that repeats it: the page must name them.
"""

import glob
import re
import sys

FOUND = (
    ("a leader alone opens reports", "serve_task_keys", "a_leader_alone_opens_no_report"),
    ("a parties file takes the leader's token", "serve_paired_urls", "a_strangers_url_gets_neither_the_token_nor_a_batch_held"),
    ("an index's name shows an order", "device_query_hidden", "indexes_can_not_be_named"),
    ("idle connections silence a server", "serve_descriptors", "operations_answer_while_the_main_port_is_full"),
    ("slow bodies hold the memory for uploads", "transport_http_slow_bodies", "honest_uploads_succeed_beside_slow_bodies"),
    ("far-future recipes block a device", "device_shelf", "far_future_recipes_take_no_room"),
    ("old TLS suites are spoken", "transport_http_tls", "old_suites_are_not_spoken"),
    ("no control-flow and stack-clash protection", "build_hardened", None),
    ("all reports of a batch but one are an analyst's", "analyse_receipt", "a_receipt_says_what_an_analyst_can_do_at_worst"),
)


def declared(source):
    """Tests by name: the texts of the files that their line in CMake names."""
    tests = {}
    for path in glob.glob(f"{source}/tests/**/CMakeLists.txt", recursive=True) + glob.glob(f"{source}/apps/**/CMakeLists.txt", recursive=True):
        text = open(path, encoding="utf-8").read()
        folder = path[: -len("/CMakeLists.txt")]
        for m in re.finditer(r"^\s*(?:sotto\w*|add_test)\((?:NAME\s+)?(\w+)([^)]*)\)", text, flags=re.M):
            files = [f for word in re.findall(r"[\w./]+\.c\b", m.group(2)) for f in glob.glob(f"{folder}/{word}")]
            name = ("ctime_" if "_ctime_test(" in m.group(0) else "") + m.group(1)
            tests.setdefault(name, "")
            tests[name] += "".join(open(f, encoding="utf-8").read() for f in files)
    return tests


def main():
    source = sys.argv[1]
    page = sys.argv[2] if len(sys.argv) > 2 else f"{source}/docs/threat-model.md"
    tests, failures, rows = declared(source), [], 0
    named = set()
    for number, line in enumerate(open(page, encoding="utf-8"), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if len(cells) != 4 or cells[3] in ("test", "---"):
            continue
        rows += 1
        name = None
        if cells[3] == "-" and "Not stopped" not in cells[2]:
            failures.append(f"{number}: no test, and not said to be an attack that is not stopped")
        if cells[3] != "-" and "`" not in cells[3]:
            failures.append(f"{number}: names no test")
        for quoted in re.findall(r"`([^`]+)`", cells[3]):
            case = quoted
            if ":" in quoted:
                name, case = (part.strip() for part in quoted.split(":"))
            elif quoted in tests:
                name, case = quoted, None
            if name not in tests:
                failures.append(f"{number}: no such test: {name or quoted}")
            elif case and not re.search(rf"\b{case}\b", tests[name]):
                failures.append(f"{number}: {name} has no case {case}")
            named.add((name, case))
    for what, name, case in FOUND:
        if (name, case) not in named and (name, None) not in named:
            failures.append(f"no row for: {what} ({name})")
        if case and not re.search(rf"\b{case}\b", tests.get(name, "")):
            failures.append(f"{name} has no case {case}")
    if rows < 60:
        failures.append(f"only {rows} rows were found")
    for failure in failures:
        print(f"docs/threat-model.md:{failure}")
    return len(failures) > 0


if __name__ == "__main__":
    sys.exit(main())
