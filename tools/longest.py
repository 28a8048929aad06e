#!/usr/bin/env python3
"""longest.py LIMIT FILE...: the ten longest functions; fails if one has more lines than the limit."""
import re
import sys

limit, files = int(sys.argv[1]), sys.argv[2:]
found = []
for name in files:
    start, title = None, ""
    for number, line in enumerate(open(name, encoding="utf-8"), 1):
        # In our format a function's braces stand alone in the first column, and nothing else's do.
        called = re.match(r"[a-zA-Z].*?(\w+)\(", line)
        if called:
            title = called.group(1)
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start:
            found.append((number - start + 1, title, name, start))
            start = None
found.sort(reverse=True)
for lines, title, name, start in found[:10]:
    print(f"{lines:5} lines  {title}  {name}:{start}")
too_long = [f for f in found if f[0] > limit]
if too_long:
    print(f"longer than {limit} lines: " + ", ".join(f[1] for f in too_long))
sys.exit(bool(too_long))
