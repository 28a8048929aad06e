#!/bin/sh
# test_demo_own.sh SOTTO SOURCE: `sotto demo` with a recipe and rows of one's own, through real servers; and a deployment that stays, to
# which ten devices report and which is collected from.
sotto=$1 source=$2
work=$(mktemp -d) || exit 1
keeper=
trap '[ -z "$keeper" ] || kill "$keeper" 2>/dev/null; rm -rf "$work"' EXIT
failed=0
TMPDIR=$work
export TMPDIR
cd "$work" || exit 1

complain() {
    echo "$1"
    failed=1
}

# ---- a recipe and rows of one's own ------------------------------------------------------------------------------------------
cp "$source/examples/error-codes/policy.json" .
"$source/examples/error-codes/make-users.sh" 300 >users.csv
sed 's/"min_cohort": 10000/"min_cohort": 200/' "$source/examples/error-codes/recipe.json" >recipe.json
sed 's/"min_cohort": 1000/"min_cohort": 100/' policy.json >allowed.json
"$sotto" demo --recipe recipe.json --csv users.csv --policy allowed.json --check --json >out 2>err || { complain "an own recipe"; cat err; }
python3 - out <<'CHECK' || failed=1
import json, sys
d = json.load(open(sys.argv[1]))
assert d["reports"] == d["trial"]["devices"] == d["trial"]["should_count"] == 300, d["trial"]
assert sum(b["truth"] for b in d["bins"]) == 300 and len(d["bins"]) == 120
assert "not claimed: the recipe names no relay" not in d["receipt"]["sampling_why"], d["receipt"]
CHECK
# The same files as `sotto sim run` writes: without the truth, which a collector does not have.
sed '5s/.*/4.8,E01/' users.csv >ragged.csv
echo '{"errors": {"fields": {"version": "text", "code": "text", "model": "text"}, "max_age": "30d", "max_rows": 100}}' >streams.json
"$sotto" demo --recipe recipe.json --csv ragged.csv --policy allowed.json --streams streams.json --skip-bad-rows --check --without relay,tokens,log \
    --answer answer.json --table table.csv --svg bars.svg --html page.html >out 2>err || { complain "files of an answer"; cat err; }
grep -qx "bad rows that were left out: 1" err || { complain "a bad row that is left out is not counted"; cat err; }
[ "$(wc -l <table.csv)" -eq 122 ] && head -1 table.csv | grep -q '^bin,label,sum,' || complain "no table"
grep -q '</svg>' bars.svg || complain "no picture"
grep -q '<h2>code by version</h2>' page.html || complain "no page"
grep -q truth table.csv answer.json && complain "a file has the truth"
grep -q "(truth " out || complain "the truth is not printed"
python3 -c "
import json
assert json.load(open('answer.json'))['reports'] == 299" || failed=1
sed 's/"code": "text"/"code": "integer"/' streams.json >wrong.json
"$sotto" demo --recipe recipe.json --csv ragged.csv --policy allowed.json --streams wrong.json >out 2>err && complain "codes as numbers"
"$sotto" demo --keep --svg bars.svg 2>err
[ $? -eq 2 ] || complain "a picture of what is not collected"
"$sotto" demo --recipe recipe.json --csv users.csv --policy policy.json >out 2>err
[ $? -eq 3 ] || complain "a policy that refuses: no exit code 3"
grep -qF "min_cohort" err || { complain "a policy that refuses: does not say why"; cat err; }
cp users.csv some-users.csv
printf '4.5\n' >>users.csv
"$sotto" demo --recipe recipe.json --csv users.csv >out 2>err && complain "a ragged row"
grep -qF "line 302: 1 fields for 3 columns" err || { complain "a ragged row: does not say where"; cat err; }
sed 's/"query": "[^"]*"/"query": "SELECT avg(model) AS version, code FROM errors"/' recipe.json >mean.json
awk -F, -v OFS=, 'NR > 1 { $3 = NR % 3 ? NR : "n/a" } 1' some-users.csv >mixed.csv
"$sotto" demo --recipe mean.json --csv mixed.csv >out 2>err && complain "a mean of texts"
grep -qF "line 3: column model: 'n/a' is no number, as 200 of the first 300 values are" err || { complain "a mean of texts: does not say where"; cat err; }
echo '{' >broken.json
"$sotto" demo --recipe broken.json --csv users.csv >out 2>err
[ $? -eq 3 ] || complain "a broken recipe: no exit code 3"
# Rows of few users, some with a code that is not listed: both are said.
awk -F, 'NR == 1 { print "user," $0 } NR > 1 && NR < 13 { print "u" NR % 6 "," $0 } END { print "u1,4.8,E99,mini" }' some-users.csv >grouped.csv
sed 's/"min_cohort": 200/"min_cohort": 10/' recipe.json >ten.json
"$sotto" demo --recipe ten.json --csv grouped.csv >out 2>err || { complain "few rows"; cat err; }
grep -qF "if it names devices, add --device-column 'user'" err || { complain "few rows: no word about users"; cat err; }
grep -qF "reports of no value: 1;" out || { complain "few rows: no word about what has no bin"; cat out; }
head -100 users.csv >few.csv
"$sotto" demo --recipe recipe.json --csv few.csv >out 2>err
[ $? -eq 5 ] || complain "too few rows: no exit code 5"
grep -qF "99 devices; the recipe demands 200" err || { complain "too few rows: does not say so"; cat err; }
sed 's/"rate": 1}/"rate": 0.5}/' recipe.json >half.json
head -301 users.csv >some.csv
"$sotto" demo --recipe half.json --csv some.csv --policy allowed.json >out 2>err
[ $? -eq 3 ] || complain "half of the rows: no exit code 3"
grep -qF "about 150 reports are expected" err || { complain "half of the rows: does not say so"; cat err; }
"$sotto" demo --csv users.csv >out 2>err
[ $? -eq 2 ] || complain "rows without a recipe: no usage"

# ---- a deployment that stays, with the reports of a file -----------------------------------------------------------------------
head -301 users.csv >some.csv
"$sotto" demo --keep --recipe recipe.json --csv some.csv --policy allowed.json >kept 2>err &
keeper=$!
for i in $(seq 300); do
    grep -q "Ctrl-C ends" kept && break
    sleep 0.1
done
grep -q "The devices of some.csv have reported" kept || { complain "kept servers: rows are not said"; cat kept err; }
folder=$(sed -n 's|^  \(.*\)/recipe.json .*|\1|p' kept)
(cd "$folder" && "$sotto" collect --recipe recipe.json --parties parties.json --pairing pairing.json --key collector-key.json \
    --policy policy.json --close-early --json) >out 2>err || { complain "kept servers: no answer"; cat err; }
python3 -c "
import json
assert json.load(open('out'))['reports'] == 300" || failed=1
kill -INT "$keeper"
wait "$keeper" || complain "Ctrl-C is no clean end"
keeper=

# ---- a deployment that stays --------------------------------------------------------------------------------------------------
"$sotto" demo --keep >kept 2>err &
keeper=$!
for i in $(seq 100); do
    grep -q "Ctrl-C ends" kept && break
    sleep 0.2
done
folder=$(sed -n 's|^  \(.*\)/recipe.json .*|\1|p' kept)
[ -n "$folder" ] || { complain "no files are listed"; cat kept err; exit 1; }
for file in recipe policy parties streams pairing collector-key; do
    [ -s "$folder/$file.json" ] || complain "$file.json is not there"
done
url=$(python3 -c "
import base64, json, subprocess, sys
task = json.loads(subprocess.run(['$sotto', 'recipe', 'compile', '$folder/recipe.json', '$folder/parties.json', '--json'], stdout=subprocess.PIPE).stdout)
print(json.load(open('$folder/parties.json'))['key:leader']['url'] + 'tasks/' + task['task_id'] + '/reports')")
for i in 1 2 3 4 5 6 7 8 9 10; do
    mkdir "device$i" "device$i/sent"
    cp "$folder"/policy.json "$folder"/parties.json "$folder"/streams.json "device$i"
    echo '{"way": "bus"}' | "$sotto" device donate commutes --json-lines - --dir "device$i" >/dev/null || complain "device $i: no event"
    "$sotto" device consent yes --dir "device$i" >/dev/null || complain "device $i: no consent"
    "$sotto" device offer "$folder/recipe.json" --dir "device$i" >/dev/null || complain "device $i: the recipe is refused"
    "$sotto" device tick --idle --charging --network --out "device$i/sent" --dir "device$i" >/dev/null || complain "device $i: no report"
    for body in "device$i"/sent/*; do
        python3 - "$url" "$body" <<'POST' || complain "device $i: not taken"
import sys, urllib.request
request = urllib.request.Request(sys.argv[1], open(sys.argv[2], "rb").read(), {"Content-Type": "application/ppm-dap;message=upload-req"}, method="POST")
assert urllib.request.urlopen(request).status == 200
POST
    done
done
(cd "$folder" && "$sotto" collect --recipe recipe.json --parties parties.json --pairing pairing.json --key collector-key.json \
    --policy policy.json --close-early --json) >out 2>err || { complain "no answer"; cat err; }
python3 -c "
import json
assert json.load(open('out'))['reports'] == 10" || failed=1
kill -INT "$keeper"
wait "$keeper" || complain "Ctrl-C is no clean end"
keeper=
[ -e "$folder" ] && complain "files are left"
exit $failed
