#!/bin/sh
# errors.sh SOURCE: what applications call clears their error first, so that it speaks of the last call alone
# (docs/decisions/0070): every public function of these headers that takes one.
exec python3 - "$1" <<'END'
import glob, re, sys

source = sys.argv[1]
names = set()
for header in "device", "recipe", "lint", "collect", "analyse", "privacy", "view":
    text = re.sub(r"/\*.*?\*/", "", open(f"{source}/include/sotto/{header}.h").read(), flags=re.S)
    for declaration in re.findall(r"SOTTO_API\s+([^;]*?);", text):
        if "sotto_err *" in declaration:
            names.add(re.search(r"(sotto_\w+)\(", declaration).group(1))
assert len(names) > 40, names
# The first line of each function's body. A file is read once for all names.
definition = re.compile(r"^\w[\w \*]*?\**\b(sotto_\w+)\([^;{]*\)\n\{\n(.*)", re.M)
begins = {}
for path in glob.glob(f"{source}/src/**/*.c", recursive=True):
    for name, line in definition.findall(open(path).read()):
        begins.setdefault(name, line.strip())
failed = 0
for name in sorted(names):
    if begins.get(name) != "sotto_err_clear(err);":
        print(f"{name}: does not begin with sotto_err_clear(err)")
        failed = 1
print(f"{len(names)} functions")
sys.exit(failed)
END
