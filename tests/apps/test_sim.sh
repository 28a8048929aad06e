#!/bin/sh
# test_sim.sh SOTTO SOURCE: `sotto sim` on rows of a file: the same bits for a seed, truth beside answers, and what it says of bad rows.
sotto=$1 source=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
TMPDIR=$work
export TMPDIR
cd "$work" || exit 1

expect() { # CODE WHAT COMMAND...
    wanted=$1 what=$2
    shift 2
    "$@" >out 2>err
    got=$?
    if [ "$got" -ne "$wanted" ]; then
        echo "$what: wanted exit $wanted, got $got"
        cat err
        failed=1
    fi
}

says() { # WHAT WORDS FILE
    grep -qF -- "$2" "$3" || { echo "$1: does not say '$2'"; cat "$3"; failed=1; }
}

same() { # WHAT FILE FILE
    cmp -s "$2" "$3" || { echo "$1: not the same"; diff "$2" "$3" | head -5; failed=1; }
}

cp "$source"/examples/error-codes/*.json .
"$source/examples/error-codes/make-users.sh" 12000 | cut -d, -f1,2 >users.csv
sim() { # VERB OPTIONS...
    verb=$1
    shift
    "$sotto" sim "$verb" --policy policy.json --csv users.csv --quiet "$@"
}

# ---- the same bits at any number of threads, at both speeds ----------------------------------------------------------------
for threads in 1 2 3; do
    sim run --recipe recipe.json --fast --json --seed 4 --threads $threads >"fast.$threads" || failed=1
done
same "two threads" fast.1 fast.2
same "three threads" fast.1 fast.3
sim run --recipe recipe.json --fast --json --seed 5 >fast.seed || failed=1
cmp -s fast.1 fast.seed && { echo "another seed gives the same"; failed=1; }
sed 's/"min_cohort": 10000/"min_cohort": 1000/' recipe.json >small.json
for threads in 1 3; do
    sim run --recipe small.json --devices 1000 --json --seed 4 --threads $threads >"whole.$threads" || failed=1
done
same "three threads of the whole path" whole.1 whole.3

# ---- what answers say ---------------------------------------------------------------------------------------------------------
expect 0 "a run" sim run --recipe recipe.json --fast --out lines.csv --svg bars.svg
says "a run" "12000 devices simulated, seed 1, --fast: 12000 reported, 0 were silent" out
says "a run" "as it should be" out
says "a run's CSV" "cohort,line,truth,estimate,error,predicted,half_width,held,runs,low,high" lines.csv
says "a run's CSV" "0,4.8 | E17," lines.csv
says "a run's SVG" "</svg>" bars.svg
expect 0 "runs" sim run --recipe recipe.json --fast --repeat 40
says "runs" "40 runs of 12000 devices" out
python3 - out <<'CHECK' || failed=1
import re, sys
error, predicted, held = map(float, re.search(r"error ([\d.]+) .* predicted ([\d.]+); ([\d.]+)%", open(sys.argv[1]).read()).groups())
assert abs(error / predicted - 1) < 0.05 and 93.5 < held < 97, (error, predicted, held)
CHECK
expect 0 "more devices than rows" sim run --recipe recipe.json --fast --devices 24000 --json
python3 - out <<'CHECK' || failed=1
import json, sys
d = json.load(open(sys.argv[1]))
assert d["devices"] == d["reports"] == 24000, d
assert sum(l["truth"] for l in d["lines"]) == 24000
CHECK
expect 0 "a sweep" sim sweep --recipe recipe.json --fast --vary privacy.sigma=9,18,36 --out sweep.csv --svg sweep.svg
says "a sweep" "privacy.sigma=18: error" out
says "a sweep's CSV" "privacy.sigma,cohort,line," sweep.csv
says "a sweep's SVG" "</svg>" sweep.svg
python3 - sweep.csv <<'CHECK' || failed=1
import csv, sys
predicted = {}
for row in csv.DictReader(open(sys.argv[1])):
    predicted[row["privacy.sigma"]] = float(row["predicted"])
assert abs(predicted["36"] / predicted["9"] - 4) < 1e-9, predicted
CHECK
expect 3 "a sweep over what lint refuses" sim sweep --recipe recipe.json --fast --vary privacy.sigma=1,9
says "a sweep over what lint refuses" "privacy.sigma=9: error" out
line=$(grep -n '"epsilon"' recipe.json | head -1 | cut -d: -f1)
says "a sweep over what lint refuses" "recipe.json:$line:" err
says "a sweep over what lint refuses" "that is said of the recipe with privacy.sigma=1" err
grep -q "recipe lint" err && { echo "a sweep over what lint refuses: lint would say ok"; failed=1; }
expect 0 "a sweep over a new key" sim sweep --recipe recipe.json --fast --vary pick=first,one-at-random
says "a sweep over a new key" "pick=first: error" out
expect 2 "a sweep over no key" sim sweep --recipe recipe.json --fast --vary nothing.sigma=1,9
says "a sweep over no key" "nothing.sigma: the recipe has no such key" err
echo '{"recipe": ' >torn.json
expect 3 "a sweep over no JSON" sim sweep --recipe torn.json --fast --vary privacy.sigma=1,9
says "a sweep over no JSON" "torn.json:" err
sed 's/"sigma": 9/"sigma": 18/' recipe.json >other.json
expect 0 "a comparison" sim compare --recipe recipe.json --recipe other.json --fast
says "a comparison" "other.json" out

# ---- rows of one device -------------------------------------------------------------------------------------------------------
awk 'BEGIN { print "user,version,code"; for (i = 0; i < 30000; i++) printf "u%d,4.%d,E%02d\n", i % 12000, 5 + i % 4, 1 + i % 30 }' >rows.csv
cat >streams.json <<'STREAMS'
{"errors": {"fields": {"version": "text", "code": "text"}, "max_age": "30d", "max_rows": 100}}
STREAMS
expect 0 "rows by device" "$sotto" sim run --policy policy.json --csv rows.csv --recipe recipe.json --device-column user --fast --quiet --json
cp out grouped
expect 0 "rows by device, from a pipe" sh -c "cat rows.csv | '$sotto' sim run --policy policy.json --csv /dev/stdin --recipe recipe.json \
    --device-column user --streams streams.json --fast --quiet --json"
python3 - grouped out <<'CHECK' || failed=1
import json, sys
for name in sys.argv[1:]:
    d = json.load(open(name))
    assert d["devices"] == d["reports"] == 12000 and d["wrong"] == 0, d
CHECK
ls sotto-rows-* 2>/dev/null && { echo "rows are left behind"; failed=1; }

# A file of several rows a device, read as one of as many devices: it is said, and once in a sweep. What has no bin is counted.
expect 0 "rows that are no devices" "$sotto" sim run --policy policy.json --csv rows.csv --recipe recipe.json --fast --quiet
says "rows that are no devices" "if it names devices, add --device-column 'user'" err
expect 0 "rows by device" "$sotto" sim run --policy policy.json --csv rows.csv --recipe recipe.json --fast --quiet --device-column user
grep -q device-column err && { echo "rows by device: a hint that was followed"; failed=1; }
expect 0 "a sweep over rows" "$sotto" sim sweep --policy policy.json --csv rows.csv --recipe recipe.json --fast --quiet --vary privacy.sigma=9,18
[ "$(grep -c device-column err)" = 1 ] || { echo "a sweep over rows: not said once"; cat err; failed=1; }
awk 'BEGIN { print "userId,paid,version,code"; for (i = 0; i < 12000; i++) printf "u%d,1,4.%d,E%02d\n", i, 5 + i % 4, 1 + i % 30 }' >single.csv
expect 0 "a row a user" "$sotto" sim run --policy policy.json --csv single.csv --recipe recipe.json --fast --quiet
grep -q device-column err && { echo "a row a user: a hint"; failed=1; }
{ cat users.csv; for i in 1 2 3; do echo "4.5,E99"; done; } >unknown.csv
expect 0 "values without a bin" "$sotto" sim run --policy policy.json --csv unknown.csv --recipe recipe.json --fast --quiet
says "values without a bin" "reports of no value: 3; the query had no row, or its value has no bin" out
sed 's/"oov": false/"oov": true/' recipe.json >open.json
expect 0 "values of <oov>" "$sotto" sim run --policy policy.json --csv unknown.csv --recipe open.json --fast --quiet
says "values of <oov>" "reports of <oov>: 3; they have a value that no bin names" out
expect 0 "values of <oov>, for programs" "$sotto" sim run --policy policy.json --csv unknown.csv --recipe open.json --fast --quiet --json
says "values of <oov>, for programs" '"reports_of_oov": 3' out

# ---- bad rows: what happened, which line, what to type next ------------------------------------------------------------------
bad() { # WHAT WORDS BYTES
    { cat users.csv; printf "$3"; } >bad.csv
    expect 1 "$1" "$sotto" sim run --policy policy.json --recipe recipe.json --csv bad.csv --fast --quiet
    says "$1" "line 12002: $2" err
    says "$1" "--skip-bad-rows" err
    expect 0 "$1, left out" "$sotto" sim run --policy policy.json --recipe recipe.json --csv bad.csv --fast --quiet --skip-bad-rows
    says "$1, left out" "bad rows that were left out: 1" err
}
bad "a ragged row" "3 fields for 2 columns" '4.5,E01,x\n'
bad "bad UTF-8" "not UTF-8" '4.5,\377\n'
bad "a NUL byte" "a NUL byte" '4.5,\000\n'
bad "a quote within a field" "a quote within a field" '4.5,E"01\n'
bad "text behind a quote" "text behind a closing quote" '4.5,"E01"x\n'
bad "a quote that stays open" "a quote is not closed" '4.5,"E01\n'

# In the middle of a file it takes no other row with it, and a pipe says that it would.
{ head -100 users.csv; printf '4.5,"E01\n'; tail -n +101 users.csv; } >open.csv
expect 0 "an open quote among rows" "$sotto" sim run --policy policy.json --recipe recipe.json --csv open.csv --fast --quiet --skip-bad-rows
says "an open quote among rows" "12000 reported" out
says "an open quote among rows" "bad rows that were left out: 1" err
expect 1 "an open quote in a pipe" sh -c "cat open.csv | '$sotto' sim run --policy policy.json --recipe recipe.json --csv /dev/stdin \
    --streams streams.json --fast --quiet --skip-bad-rows"
says "an open quote in a pipe" "rows behind it are lost in a pipe" err

cat >ages.json <<'RECIPE'
{"recipe": "ages", "version": 1, "analysis": "com.example.errors", "query": "SELECT version FROM errors",
 "statistic": "mean", "encode": {"version": {"type": "integer", "min": 0, "max": 100}},
 "participation": {"type": "poisson", "rate": 1},
 "privacy": {"adjacency": "replacement", "by": "servers", "sigma": 1000, "epsilon": 1, "delta": 1e-6, "min_cohort": 1000},
 "aggregation": {"trust": "split", "leader": "key:l", "helper": "key:h"},
 "schedule": {"opens": "2026-11-20T00:00:00Z", "closes": "2026-11-27T00:00:00Z", "precision": "1h"}, "population": 20000}
RECIPE
awk 'BEGIN { print "version"; for (i = 0; i < 20000; i++) print i % 90; print "old" }' >ages.csv
expect 1 "a value of another type" "$sotto" sim run --policy policy.json --recipe ages.json --csv ages.csv --fast --quiet
says "a value of another type" "line 20002: column version: 'old' is no integer" err
awk 'BEGIN { print "version"; for (i = 0; i < 20000; i++) print i == 7 ? "old" : i % 90 }' >early.csv
expect 1 "a value of another type among the first" "$sotto" sim run --policy policy.json --recipe ages.json --csv early.csv --fast --quiet
says "a value of another type among the first" "line 9: column version: 'old' is no integer" err
# A column of numbers and texts is neither: no mean counts texts as 0.
cat >typed.json <<'STREAMS'
{"errors": {"fields": {"version": "text"}, "max_age": "30d", "max_rows": 100}}
STREAMS
sed 's/SELECT version FROM/SELECT AVG( DISTINCT version) AS mean FROM/; s/{"version": {"type"/{"mean": {"type"/' ages.json >added.json
sed 's/SELECT version FROM/SELECT max(version) AS most FROM/; s/{"version": {"type"/{"most": {"type"/' ages.json >most.json
awk 'BEGIN { print "version"; for (i = 0; i < 20000; i++) print i % 4 == 2 ? i % 90 : "n/a" }' >few.csv
awk 'BEGIN { print "version"; for (i = 0; i < 20000; i++) print i % 4 == 2 ? "n/a" : i % 90 }' >many.csv
for recipe in ages added; do
    expect 1 "$recipe, of few numbers" "$sotto" sim run --policy policy.json --recipe $recipe.json --csv few.csv --fast --quiet
    says "$recipe, of few numbers" "line 2: column version: 'n/a' is no number, as 2500 of the first 10000 values are: a text would count as 0" err
    says "$recipe, of few numbers" "--skip-bad-rows; or state the types of columns with --streams FILE" err
    expect 0 "$recipe, of few rows" "$sotto" sim run --policy policy.json --recipe $recipe.json --csv few.csv --fast --quiet --skip-bad-rows
    says "$recipe, of few rows" "bad rows that were left out: 15000" err
done
expect 1 "texts among numbers" "$sotto" sim run --policy policy.json --recipe most.json --csv many.csv --fast --quiet --skip-bad-rows
says "texts among numbers" "line 4: column version: 'n/a' is no number, as 7500 of the first 10000 values are: state its type" err
says "texts among numbers" "that takes --streams FILE" err
expect 0 "texts, as stated" "$sotto" sim run --policy policy.json --recipe most.json --csv many.csv --fast --quiet --streams typed.json
expect 0 "a few numbers among texts" "$sotto" sim run --policy policy.json --recipe most.json --csv few.csv --fast --quiet
expect 0 "a mean" "$sotto" sim run --policy policy.json --recipe ages.json --csv ages.csv --fast --quiet --skip-bad-rows
says "a mean" "within its interval" out
grep -q "ends of the range" out && { echo "a mean: no number is beyond its range"; failed=1; }
sed 's/"max": 100/"max": 50/' ages.json >short.json
expect 0 "a mean of clipped numbers" "$sotto" sim run --policy policy.json --recipe short.json --csv ages.csv --fast --quiet --skip-bad-rows
says "a mean of clipped numbers" "reports at the ends of the range: 223 at 0, 8880 at 50; numbers beyond count as these" out
awk 'BEGIN { print "version"; for (i = 0; i < 20000; i++) print i % 90 }' >half.csv
expect 0 "a picture of a mean" "$sotto" sim run --policy policy.json --recipe ages.json --csv half.csv --fast --quiet --svg mean.svg --html mean.html
says "a picture of a mean" '<title>mean: ' mean.svg
says "a page of a mean" '<line class="error"' mean.html

# One run of several that has too few reports is counted, and the others go on.
sed 's/"rate": 1}/"rate": 0.5}/; s/"min_cohort": 1000/"min_cohort": 10000/' ages.json >half.json
expect 0 "runs that are too small" "$sotto" sim run --policy policy.json --recipe half.json --csv half.csv --fast --quiet --repeat 20
says "runs that are too small" "of 20 runs had fewer reports than the recipe's min_cohort" err

# The same rows with a byte order mark, CRLF and quotes.
{ printf '\357\273\277"version","code"\r\n'; tail -n +2 users.csv | sed 's/\(.*\),\(.*\)/"\1","\2"\r/'; } >windows.csv
expect 0 "a mark, CRLF and quotes" "$sotto" sim run --policy policy.json --recipe recipe.json --csv windows.csv --fast --quiet --json --seed 4
same "a mark, CRLF and quotes" fast.1 out
printf '\377\376v\000' >utf16.csv
expect 1 "UTF-16" "$sotto" sim run --policy policy.json --recipe recipe.json --csv utf16.csv --fast
says "UTF-16" "iconv -f UTF-16 -t UTF-8" err
printf '' >empty.csv
expect 1 "an empty file" "$sotto" sim run --policy policy.json --recipe recipe.json --csv empty.csv --fast
says "an empty file" "its first line names the columns" err
printf 'version,code\n' >norows.csv
expect 1 "a file without rows" "$sotto" sim run --policy policy.json --recipe recipe.json --csv norows.csv --fast
says "a file without rows" "no row behind its first line" err
says "a file without rows" "a row into each line below it" err
grep -q "skip-bad-rows" err && { echo "a file without rows: a hint at bad rows"; failed=1; }
: >nothing.json
expect 3 "an empty recipe" "$sotto" sim run --policy policy.json --recipe nothing.json --csv users.csv --fast
says "an empty recipe" '`sotto recipe new` prints one' err
expect 3 "an empty policy" "$sotto" sim run --policy nothing.json --recipe recipe.json --csv users.csv --fast
says "an empty policy" '`sotto recipe new --policy` prints one' err
printf 'version;code\n4.5;E01\n' >semicolons.csv
expect 1 "semicolons" "$sotto" sim run --policy policy.json --recipe recipe.json --csv semicolons.csv --fast
says "semicolons" "no column 'version'; the first line has: version;code" err
printf 'version,version\n1,2\n' >twice.csv
expect 1 "a column twice" "$sotto" sim run --policy policy.json --recipe recipe.json --csv twice.csv --fast
says "a column twice" "two columns are named 'version'" err
expect 1 "no file" "$sotto" sim run --policy policy.json --recipe recipe.json --csv none.csv --fast
says "no file" "No such file" err

# ---- labels that are no plain words --------------------------------------------------------------------------------------------
python3 - recipe.json <<'HOSTILE'
import csv, json, sys
recipe = json.load(open(sys.argv[1]))
labels = ["=1+2", "\u001b[2J\u001b]0;x\u0007", "<script>alert(1)</script>", 'a,b "q"', "x\u202egnp.exe", "+cmd'!A0", "p|q\\"]
recipe["query"], recipe["encode"] = "SELECT code FROM errors", {"code": {"type": "categories", "oov": False, "values": labels}}
json.dump(recipe, open("hostile.json", "w"))
with open("hostile.csv", "w", newline="") as file:
    csv.writer(file).writerows([["version", "code"]] + [["4.5", labels[i % 7]] for i in range(12000)])
HOSTILE
expect 0 "hostile labels" "$sotto" sim run --policy policy.json --recipe hostile.json --csv hostile.csv --fast --quiet --svg h.svg --html h.html \
    --out h.csv --table h-table.csv --answer h.json
cp out shown
expect 0 "hostile labels, again and again" "$sotto" sim run --policy policy.json --recipe hostile.json --csv hostile.csv --fast --quiet --repeat 2
cat out >>shown
python3 - <<'CHECK' || failed=1
import csv, json, xml.dom.minidom
shown = open("shown", "rb").read()
assert b"\x1b" not in shown and b"\x07" not in shown and b"\xe2\x80\xae" not in shown, "a terminal is moved"
for name in "h.svg", "h.html":
    assert "<script" not in open(name, encoding="utf-8").read(), name
xml.dom.minidom.parse("h.svg")
for name in "h.csv", "h-table.csv":
    cells = [row[1] for row in csv.reader(open(name, newline="", encoding="utf-8"))]
    assert {"<script>alert(1)</script>", "p|q\\"} <= set(cells), cells # nothing is escaped but by the format's own rules
    assert "'=1+2" in cells and "'+cmd'!A0" in cells and 'a,b "q"' in cells, cells
    assert not any(cell[:1] in ("=", "+", "-", "@") for cell in cells), cells
wanted = json.load(open("hostile.json"))["encode"]["code"]["values"]
assert [b["label"] for b in json.load(open("h.json"))["bins"]] == wanted, wanted
CHECK

# ---- exit codes ---------------------------------------------------------------------------------------------------------------
head -2001 users.csv >few.csv
expect 5 "too few" "$sotto" sim run --policy policy.json --recipe recipe.json --csv few.csv --fast
says "too few" "a batch of 2000 reports; the recipe demands 10000" err
says "too few" "--devices N" err
sed 's/"sigma": 9/"sigma": 1/' recipe.json >weak.json
expect 3 "a recipe that lint refuses" sim run --recipe weak.json --fast
says "a recipe that lint refuses" "weak.json:" err
expect 2 "no recipe" sim run
expect 2 "an unknown option" sim run --recipe recipe.json --frobnicate
expect 2 "an unknown verb" "$sotto" sim frobnicate
expect 0 "help" "$sotto" sim run --help

exit $failed
