#!/bin/sh
# test_analysis.sh SOTTO SOURCE: `sotto analysis` over simulated devices, and over a leader and a helper that run.
# It goes through steps in a folder, what a crash leaves, bad input, and a search of three rounds that real devices answer.
sotto=$1 source=$2
work=$(mktemp -d) || exit 1
keeper=
trap '[ -z "$keeper" ] || kill "$keeper" 2>/dev/null; rm -rf "$work"' EXIT
failed=0
TMPDIR=$work
export TMPDIR
cd "$work" || exit 1

expect() { # CODE WORDS ARGUMENTS...
    wanted=$1 words=$2
    shift 2
    "$sotto" analysis "$@" >out 2>err
    got=$?
    [ "$got" -eq "$wanted" ] || { echo "$*: wanted exit $wanted, got $got"; cat out err; failed=1; }
    [ -z "$words" ] || grep -qF -- "$words" out err || { echo "$*: does not say '$words'"; cat out err; failed=1; }
}

complain() {
    echo "$1"
    failed=1
}

cp "$source"/examples/launch-times/*.json .
"$source/examples/launch-times/make-users.sh" >launches.csv

# ---- a question, a finer one, and what they cost -----------------------------------------------------------------------------
expect 0 "step 1 is F/01/recipe.json" start F --recipe recipe.json --policy policy.json --simulate launches.csv --fast
expect 5 "no answer yet" drill F --quantile 0.5
expect 0 "asked" watch F
expect 0 "quantile 0.5   1024" result F --quiet
cp F/01/answer.json first.json
expect 0 "receipt" result F --quiet
cmp -s F/01/answer.json first.json || complain "an answer was asked for twice"
[ "$(grep -c answered F/journal.txt)" = 1 ] || complain "the journal has an answer twice"
expect 0 "17 bins from 768 to 1280, in steps of 32" drill F --quantile 0.5
expect 0 "quantile 0.5   928" result F --quiet
expect 0 '"state": "answered"' watch F --json
expect 0 "" export F --csv t.csv --html t.html --out t.json
head -1 t.csv | grep -q "^bin,label,sum,count" || complain "the table has no header"
grep -q "<html" t.html || complain "the page is none"
python3 -c "import json; assert json.load(open('t.json'))['reports'] == 20000" || failed=1
# The policy allows four answers.
for step in 3 4; do
    sed "s/\"launch-times\"/\"launch-$step\"/" recipe.json >own.json
    expect 0 "step $step is" drill F --recipe own.json
    expect 0 "receipt" result F --quiet
done
sed 's/"launch-times"/"launch-5"/' recipe.json >own.json
expect 4 "the budget is gone: com.example.launches allows epsilon 3 in 4 reports" drill F --recipe own.json
expect 2 "devices answer a name once" drill F --recipe recipe.json
expect 0 "stopped: nothing more is asked" stop F
expect 1 "was stopped" drill F --recipe own.json
expect 0 "quantile 0.5" result F
expect 1 "not empty: name another folder" start F --recipe recipe.json --policy policy.json --simulate launches.csv
expect 2 "no such option" watch F --nonsense
expect 1 "has no analysis in it" watch nowhere

# ---- what a crash leaves ---------------------------------------------------------------------------------------------------------
expect 0 "step 1" start C --recipe recipe.json --policy policy.json --simulate launches.csv --fast
echo '{"reports": 1' >C/01/answer.json.part
expect 0 "interrupted" watch C
grep -q "nothing of that counts, and the same command asks again" out || complain "a crash: it is not said what to do"
expect 0 "quantile 0.5   1024" result C --quiet
[ -e C/01/answer.json.part ] && complain "a crash: its rest is left"

# A start that ends before the folder is an analysis has its recipe there, and is made again by the same command.
mkdir -p K/analysis.json.new
expect 1 "can't write" start K --recipe recipe.json --policy policy.json --simulate launches.csv --fast
[ -e K/01/recipe.json ] || complain "a start: the folder is an analysis before it has a question"
rmdir K/analysis.json.new
expect 0 "step 1 is K/01/recipe.json" start K --recipe recipe.json --policy policy.json --simulate launches.csv --fast

# ---- bad input: what happened, what is kept, what to type ------------------------------------------------------------------------
printf 'launch_ms\n5\n6,7\n' >ragged.csv
expect 0 "step 1" start B --recipe recipe.json --policy policy.json --simulate ragged.csv --fast
expect 1 "line 3: 2 fields for 1 column" result B --quiet
grep -q "Kept: 0 answered steps, and the recipe of step 1" err || { complain "bad rows: it is not said what is kept"; cat err; }
expect 0 "it failed" watch B
head -50 launches.csv >few.csv
expect 0 "step 1" start S --recipe recipe.json --policy policy.json --simulate few.csv --fast
expect 5 "too few reports" result S --quiet
expect 1 "No such file" start M --recipe recipe.json --policy policy.json --simulate missing.csv
[ -e M ] && complain "a folder is made for nothing"
sed 's/"epsilon": 0.7/"epsilon": 0.01/' recipe.json >small.json
expect 3 "privacy.epsilon" start M --recipe small.json --policy policy.json --simulate launches.csv
[ -e M ] && complain "a folder is made for a recipe with mistakes"
expect 2 "who answers?" start M --recipe recipe.json --policy policy.json
cp -r C D && echo '{' >D/analysis.json
expect 1 "not as \`sotto analysis\` wrote it" watch D

# ---- words, by simulated devices ---------------------------------------------------------------------------------------------------
cp "$source"/examples/words/*.json .
"$source/examples/words/make-users.sh" 20000 >words.csv
expect 0 "of all rounds together: one budget" discover W --words --recipe recipe.json --policy policy.json --simulate words.csv --fast --quiet \
    --cells 3000 --rounds 6
grep -q "^  the  *[0-9]" out || { complain "the most frequent word is not found"; cat out; }
cp out first
rm -r W/03/answer.* # as if it had crashed there
rm -rf W/0[4-9]
expect 0 "words found" discover W --quiet
cmp -s out first || { complain "a search that goes on finds something else"; diff out first | head; }
expect 2 "its search has begun" discover W --cells 5000
expect 2 "this is a search" drill W --bin the
expect 0 "word,count,low,high,round" export W --csv -
"$sotto" analysis result W --json >found.json 2>err || complain "no JSON"
python3 - <<'CHECK' || failed=1
import json
d = json.load(open("found.json"))
assert d["done"] and d["counted"] and d["epsilon"] <= 1 and d["false_finds_expected"] < 1, d
words = {f["word"]: f for f in d["found"]}
true = {}
for line in list(open("words.csv"))[1:]:
    true[line.strip()] = true.get(line.strip(), 0) + 1
assert set(words) <= set(true), set(words) - set(true)
held = sum(f["low"] <= true[w] <= f["high"] for w, f in words.items())
assert len(words) > 20 and held >= 0.8 * len(words), (len(words), held)
CHECK
# An answer to another recipe is none to this search.
cp -r W X && sed 's/"min_cohort": 10000/"min_cohort": 10001/' W/frame.json >X/frame.json
cmp -s W/frame.json X/frame.json && complain "the frame has no min_cohort of 10000"
expect 1 "" result X
grep -q "words found" out && complain "answers to other recipes are shown"
printf 'the\n' >known.txt
expect 0 "words found" discover N --words --recipe recipe.json --policy policy.json --simulate words.csv --fast --quiet --cells 3000 \
    --rounds 6 --deny known.txt
grep -q "^  the  *[0-9]" out && complain "a denied word is found"
sed 's/"reports": 20/"reports": 2/' policy.json >poor.json
expect 4 "the budget is gone" discover P --words --recipe recipe.json --policy poor.json --simulate words.csv --fast --quiet --cells 3000
grep -q "Kept: 2 steps" err || complain "a budget that is gone: it is not said what is kept"
expect 0 "words found in 2 rounds so far" result P
expect 4 "fresh devices answer once" discover Q --words --recipe recipe.json --policy policy.json --simulate words.csv --per-round fresh-devices
[ -e Q ] && complain "a folder is made for a search that can't be asked"
sed 's/"reports": 20/"reports": 1/' policy.json >once.json
sed 's/"min_cohort": 10000/"min_cohort": 1000/' recipe.json >fresh.json
sed 's/"encode"/"on_no_match": "silence", "encode"/' recipe.json >silent.json
expect 0 "each round asks fresh devices" discover E --words --recipe fresh.json --policy once.json --simulate words.csv --fast --quiet --cells 3000 \
    --rounds 6 --per-round fresh-devices
grep -q "counts are of the devices that a round asks, about one in 7 of all" out || { complain "fresh devices: counts of all?"; cat out; }
grep -q "zCDP" out && complain "fresh devices: a filter that there is none of"
"$sotto" analysis result E --json | grep -q '"asked_one_in": 7' || complain "fresh devices: JSON does not say how many were asked"
grep -q '"rate": 0.142857' E/01/recipe.json || complain "fresh devices: not one in seven"
# Words of three letters are found, and those that go on are said to be longer.
expect 0 "not followed to their end: --longest was reached" discover T --words --recipe recipe.json --policy policy.json --simulate words.csv --fast \
    --quiet --cells 3000 --rounds 6 --longest 3
grep -q "^  the  *[0-9]" out || { complain "a word of the longest kind is not found"; cat out; }
expect 4 "on_no_match no-value" discover Q --words --recipe silent.json --policy policy.json --simulate words.csv
expect 2 "the end of a word" discover Q --words --alphabet 'ab$' --recipe recipe.json --policy policy.json --simulate words.csv

# ---- places ---------------------------------------------------------------------------------------------------------------------------
cp "$source"/examples/places/*.json .
"$source/examples/places/make-users.sh" 20000 >places.csv
expect 0 "places found" discover L --places --box 0,0,16,16 --levels 5 --recipe recipe.json --policy policy.json --simulate places.csv --fast --quiet
"$sotto" analysis export L --csv found.csv || complain "no table of places"
python3 - <<'CHECK' || failed=1
import csv
rows = list(csv.DictReader(open("found.csv")))
points = [(float(r["x"]), float(r["y"])) for r in csv.DictReader(open("places.csv"))]
assert len(rows) > 5
for r in rows:
    w, s, e, n, count = (float(r[k]) for k in ("west", "south", "east", "north", "count"))
    true = sum(w <= x < e and s <= y < n for x, y in points)
    assert abs(true - count) < 200, (r, true)
assert max(len(r["cell"]) for r in rows) == 5
CHECK

# ---- a leader and a helper: three rounds that twelve devices answer ------------------------------------------------------------------
"$sotto" demo --keep >kept 2>err &
keeper=$!
for i in $(seq 300); do
    grep -q "Ctrl-C ends" kept && break
    sleep 0.2
done
folder=$(sed -n 's|^  \(.*\)/recipe.json .*|\1|p' kept)
[ -n "$folder" ] || { complain "no deployment"; cat kept err; exit 1; }
python3 - "$folder" <<'FRAME'
import json, sys
folder = sys.argv[1]
recipe = json.load(open(folder + "/recipe.json"))
recipe["recipe"], recipe["analysis"] = "ways", "com.example.commute"
del recipe["randomizer"]
recipe["encode"] = {"way": {"type": "categories", "values": ["a", "b"]}}
recipe["privacy"] = {"adjacency": "replacement", "by": "servers", "sigma": 1, "epsilon": 30, "delta": 1e-6, "min_cohort": 10}
json.dump(recipe, open("frame.json", "w"))
policy = json.load(open(folder + "/policy.json"))
policy["analyses"]["com.example.commute"].update(epsilon=100, reports=9)
policy["fields"]["commutes.way"].update(epsilon=100, reports=9, epsilon_local="none", by=["servers"])
json.dump(policy, open("allowed.json", "w"))
FRAME
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    mkdir "device$i"
    cp allowed.json "device$i/policy.json"
    cp "$folder"/parties.json "$folder"/streams.json "device$i"
    echo '{"way": "ab"}' | "$sotto" device donate commutes --json-lines - --dir "device$i" >/dev/null || complain "device $i: no event"
    "$sotto" device consent yes --dir "device$i" >/dev/null || complain "device $i: no consent"
done

answer() { # STEP: both operators add its task, and all devices answer
    step=R/0$1
    for server in leader helper; do
        (cd "$folder" && "$sotto" admin task add "$work/$step/recipe.json" parties.json --config $server.ini --population 12) >out 2>err ||
            { complain "$step: no task at the $server"; cat err; }
    done
    url=$(python3 -c "
import json, subprocess
task = json.loads(subprocess.run(['$sotto', 'recipe', 'compile', '$step/recipe.json', '$folder/parties.json', '--json'], stdout=subprocess.PIPE).stdout)
print(json.load(open('$folder/parties.json'))['key:leader']['url'] + 'tasks/' + task['task_id'] + '/reports')")
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        mkdir "device$i/sent$1"
        "$sotto" device offer "$step/recipe.json" --dir "device$i" >out 2>&1 || { complain "$step: device $i refuses"; cat out; }
        "$sotto" device tick --idle --charging --network --out "device$i/sent$1" --dir "device$i" >out 2>&1 || { complain "$step: device $i: no report"; cat out; }
    done
    # A server serves a task within a second of its being added.
    python3 - "$url" device*/sent$1/* <<'POST' || complain "$step: reports are not taken"
import sys, time, urllib.error, urllib.request
for path in sys.argv[2:]:
    for attempt in range(100):
        request = urllib.request.Request(sys.argv[1], open(path, "rb").read(), {"Content-Type": "application/ppm-dap;message=upload-req"}, method="POST")
        try:
            assert urllib.request.urlopen(request).status == 200
            break
        except urllib.error.HTTPError:
            time.sleep(0.2)
    else:
        sys.exit(1)
POST
}

cp -p "$folder/parties.json" "$folder/pairing.json" "$folder/collector-key.json" .
servers="--parties parties.json --pairing pairing.json --key collector-key.json"
expect 0 "give these bytes to devices, and to both operators" discover R --words --alphabet ab --longest 3 --cells 6 --rounds 2 --epsilon 30 \
    --recipe frame.json --policy allowed.json $servers
expect 5 "its schedule is not over" discover R
expect 0 "schedule is not over" watch R
"$sotto" analysis watch R --json >out 2>err || complain "watch: no JSON"
python3 - <<'CHECK' || { complain "watch tells a count"; cat out; }
import json
d = json.load(open("out"))
assert set(d) - {"format", "version"} == {"simulated", "search", "stopped", "steps"}, d
for step in d["steps"]:
    assert set(step) <= {"step", "recipe", "state", "epsilon", "delta", "opens", "closes", "last"}, step
    assert "reports so far" not in step.get("last", ""), step
    # Behind its time, what the last request came to: words, no number.
    assert not any(c.isdigit() for c in step.get("last", "").partition("Z: ")[2]), step
CHECK
answer 1
expect 0 "step 2 is R/02/recipe.json" discover R --close-early
answer 2
expect 0 "step 3 is R/03/recipe.json" discover R --close-early
answer 3
expect 0 '"rounds": 3' discover R --close-early --json --wait 120
python3 - <<'CHECK' || failed=1
import json
d = json.load(open("out"))
# Real noise: besides the word of all twelve, something may be found that nobody has. A deviation of 0.8 is never off by 8.
found = {f["word"]: f["count"] for f in d["found"]}
assert d["done"] and d["counted"] and abs(found["ab"] - 12) < 8, d
CHECK
# Servers that are gone: what is there stays.
expect 0 "step 1 is" start Z --recipe frame.json --policy allowed.json $servers
kill -INT "$keeper"
wait "$keeper" || complain "Ctrl-C is no clean end"
keeper=
expect 7 "a server can't be reached" result Z --close-early --wait 1
grep -q "Kept: 0 answered steps, and the recipe of step 1" err || complain "servers that are gone: it is not said what is kept"
expect 0 "stopped: nothing more is asked" stop Z
exit $failed
