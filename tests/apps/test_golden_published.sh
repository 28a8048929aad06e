#!/bin/sh
# Holds the accountant against the published reference numbers, which live outside of this tree.
#   test_golden_published.sh PROGRAM PROJECT_ROOT
# Rows of tests/golden/disputed.txt may fail, as long as they still hold the number that is disputed there: each was
# evaluated by a third method, which agreed with ours. Exit 77 means skipped: there are no reference numbers here.
set -eu
program=$1
root=$2
golden=${SOTTO_GOLDEN:-$root/../shared/golden}

if [ ! -d "$golden" ]; then
    echo "skipped: no reference numbers at $golden; SOTTO_GOLDEN names their folder"
    exit 77
fi
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$program" --json "$golden" >"$out" || [ $? -eq 1 ]
tail -n 1 "$out"
exec python3 - "$out" "$root/tests/golden/disputed.txt" <<'END'
import csv, json, os, sys

disputed = {(r["file"], r["inputs"], r["reference"]) for r in csv.DictReader(open(sys.argv[2]))}
passed = wrong = 0
for line in list(open(sys.argv[1]))[:-1]:
    item = json.loads(line)
    passed += item["verdict"] == "passed"
    if item["verdict"] != "failed":
        continue
    with open(item["file"]) as source:
        rows = list(csv.reader(source))
    row, value = rows[item["line"] - 1], rows[0].index("value") if "value" in rows[0] else 0
    known = (os.path.basename(item["file"]), ",".join(row[:value]), row[value]) in disputed
    wrong += not known
    print("disputed" if known else "FAILED", item["file"], item["line"], item["reason"])
sys.exit(wrong > 0 or passed == 0)
END
