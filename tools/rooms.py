#!/usr/bin/env python3
"""Keeps the picture of rooms true: reads every #include of src/ and include/ against tools/rooms.txt."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
lines = [line.split("#")[0].strip() for line in (root / "tools/rooms.txt").read_text().splitlines()]
may = {k.strip(): v.split() for k, v in (line.split(":") for line in lines if ":" in line)}
inside = {room: may.pop(room) for room in list(may) if "/" in room}
home = {k.strip(): v.strip() for k, v in (line.split(">") for line in lines if ">" in line)}
wrong = []
used = set()


def check_cycle(room, path):
    if room in path:
        wrong.append("rooms.txt: a cycle: " + " -> ".join(path + [room]))
        return
    for other in may.get(room, []):
        check_cycle(other, path + [room])


for room in may:
    check_cycle(room, [])
for path in sorted(root.glob("src/**/*.[ch]")) + sorted(root.glob("include/sotto/*.h")):
    name = path.relative_to(root).as_posix()
    room = home.get(path.name) if name.startswith("include/") else name.split("/")[1]
    if name == "include/sotto/sotto.h":  # gathers all of them
        continue
    if room not in may:
        wrong.append(f"{name}: rooms.txt does not know its room")
        continue
    for header in re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', path.read_text(), re.M):
        first, _, rest = header.partition("/")
        target = home.get(rest, "?" + rest) if first == "sotto" else first
        if "/" not in header or (first != "sotto" and not (root / "src" / first).is_dir()):
            continue  # a header of the system, or of a library
        used.add((room, target))
        if target != room and target not in may[room]:
            wrong.append(f"{name}: {room} may not include {header} ({target})")
        folder, other = "/".join(name.split("/")[1:3]), header.split("/")[1]
        used.add((folder, other))
        if target == room and folder in inside and header.count("/") > 1:
            if other not in inside[folder] and folder != f"{room}/{other}":
                wrong.append(f"{name}: {folder} may not include {header}")
wrong += [f"rooms.txt: nobody uses the door from {a} to {b}"
          for a, doors in {**may, **inside}.items() for b in doors if (a, b) not in used]
print("\n".join(wrong) if wrong else f"{len(may)} rooms, no forbidden door, no unused one, no cycle")
sys.exit(bool(wrong))
