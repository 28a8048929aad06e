#!/bin/sh
# test_analysis.sh SOTTO SOURCE: `sotto analysis` over simulated devices: steps in a folder, what a crash leaves, bad input, and
# searches for words, phrases and places.
. "$2/tests/apps/analysis.sh"

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
expect 0 "this is step 1; step 2 has no answer yet" export F --csv t.csv
expect 0 "quantile 0.5   928" result F --quiet
expect 0 '"state": "answered"' watch F --json
expect 0 "next: sotto analysis drill F" watch F
expect 0 "" export F --csv t.csv --html t.html --out t.json
grep -q "this is step" err && complain "export names a step that is the last"
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
expect 4 "com.example.launches allows 4 reports, and 4 steps took them" drill F --recipe own.json
grep -q "Kept: 4 steps" err && grep -q "sotto analysis watch F" err || { complain "no report is left: what is kept, and what to type?"; cat err; }
expect 2 "devices answer a name once" drill F --recipe recipe.json
expect 0 "no step like the last is left: com.example.launches allows 4 reports, and 4 steps took them" watch F
grep -q "analysis drill" out && complain "watch advises a step that no device answers"
expect 2 "--cells: no such option" watch F --cells 5
expect 2 "--wait: not a whole number" result F --wait soon
expect 2 "the last step asks for quantiles: --quantile T goes on" drill F --bin 1024
expect 0 "stopped: nothing more is asked" stop F
expect 0 "next: sotto analysis export F --csv FILE" watch F
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
(cat launches.csv && echo 6,7) >ragged.csv # one row of many
expect 1 "2 fields for 1 column" result B --quiet
expect 0 "quantile 0.5   1024" result B --quiet --skip-bad-rows
head -50 launches.csv >few.csv
expect 0 "step 1" start S --recipe recipe.json --policy policy.json --simulate few.csv --fast
expect 5 "too few reports came for its min_cohort" result S --quiet
grep -q "Kept: 0 answered steps, and the recipe of step 1" err || { complain "too few reports: it is not said what is kept"; cat err; }
grep -q "in a new folder takes a file of more rows, --devices N, or a recipe with a lower min_cohort" err || { complain "too few rows: what helps?"; cat err; }
grep -q "asks for this answer again" err && complain "too few rows: the same command does not help"
flock S/lock "$sotto" analysis watch S >out 2>err
[ $? -eq 5 ] && grep -q "another command is at work in S" err || { complain "two commands in one folder"; cat err; }
expect 1 "No such file" start M --recipe recipe.json --policy policy.json --simulate missing.csv
[ -e M ] && complain "a folder is made for nothing"
sed 's/"epsilon": 0.7/"epsilon": 0.01/' recipe.json >small.json
expect 3 "privacy.epsilon" start M --recipe small.json --policy policy.json --simulate launches.csv
[ -e M ] && complain "a folder is made for a recipe with mistakes"
expect 2 "who answers?" start M --recipe recipe.json --policy policy.json
expect 2 "nothing is sent then" start M --recipe recipe.json --policy policy.json --simulate launches.csv --key key.json
expect 2 "it goes with --log and --token" start M --recipe recipe.json --policy policy.json --simulate launches.csv --witness w
cp -r C D && echo '{' >D/analysis.json
expect 1 "not as \`sotto analysis\` wrote it" watch D

# ---- bins that can't be divided ----------------------------------------------------------------------------------------------------
cp "$source"/examples/error-codes/*.json .
"$source/examples/error-codes/make-users.sh" 2000 >errors.csv
sed 's/"min_cohort": [0-9]*/"min_cohort": 1000/' recipe.json >codes.json
expect 0 "step 1" start H --recipe codes.json --policy policy.json --simulate errors.csv --fast
expect 0 "receipt" result H --quiet
expect 2 "the last step is a histogram of listed values, which have no smaller parts: --recipe FILE goes on" drill H --quantile 0.5
expect 0 "next: sotto analysis drill H --bin LABEL --by COLUMN --values A,B,..." watch H
grep -q "a ledger pays the epsilon that each recipe states" out || complain "watch: what does a ledger pay?"
expect 2 "no column of this bin has smaller parts" drill H --bin "4.8 | E17"
grep -qF "WHERE version = '4.8' AND code = 'E17'" err || { complain "a bin of listed values: how is it asked about?"; cat err; }
grep -qF -- "--by COLUMN --values A,B,... asks for another column of the same rows" err || { complain "a bin of listed values: what goes on?"; cat err; }
expect 2 "the last step has no bin with this label" drill H --bin nonsense
expect 2 "go together" drill H --bin "4.8 | E17" --by model
expect 2 "the bin has one value of code" drill H --bin "4.8 | E17" --by code --values E18
expect 3 "errors.maker" drill H --bin "4.8 | E17" --by maker --values x,y
[ -e H/02 ] && complain "a question that the policy forbids is a step"
expect 0 "step 2 is H/02/recipe.json" drill H --bin "4.8 | E17" --by model --values classic,fold,mini,plus
grep -qF "SELECT model FROM errors WHERE version = '4.8' AND code = 'E17'" H/02/recipe.json || { complain "a column of the rows in a bin"; cat H/02/recipe.json; }
expect 0 "mini" result H --quiet
# What has smaller parts is divided, as is said.
"$source/examples/heatmap/make-users.sh" >map.csv
expect 0 "step 1" start G --recipe "$source/examples/heatmap/recipe.json" --policy "$source/examples/heatmap/policy.json" --simulate map.csv --fast
expect 0 "receipt" result G --quiet
expect 2 "the last step is a histogram: --bin LABEL goes on" drill G --quantile 0.5
expect 0 "next: sotto analysis drill G --bin LABEL" watch G
expect 0 "step 2 is G/02/recipe.json" drill G --bin "[11,12) | [4,5)"

# ---- tables of the devices: types that rows do not tell ------------------------------------------------------------------------------
cat >streams.json <<'STREAMS'
{"errors": {"fields": {"version": "text", "code": "text", "model": "text"}, "max_age": "30d", "max_rows": 100}}
STREAMS
expect 0 "step 1" start T1 --recipe codes.json --policy policy.json --simulate errors.csv --fast --streams streams.json
cmp -s streams.json T1/streams.json || complain "the folder does not keep the streams"
expect 0 "receipt" result T1 --quiet
sed 's/"code": "text", //' streams.json >lacking.json
expect 3 "code" start T2 --recipe codes.json --policy policy.json --simulate errors.csv --fast --streams lacking.json
[ -e T2 ] && complain "a folder is made for a recipe that devices with these streams refuse"
echo '{' >broken.json
expect 3 "broken.json:" start T2 --recipe codes.json --policy policy.json --simulate errors.csv --streams broken.json
: >nothing.json
expect 2 "prints one" start T2 --recipe codes.json --policy policy.json --simulate errors.csv --streams nothing.json
expect 1 "No such file" start T2 --recipe codes.json --policy policy.json --simulate errors.csv --streams missing.json

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
# The command that began it goes on with it; another one does not.
expect 0 "words found" discover W --words --recipe recipe.json --policy policy.json --simulate words.csv --fast --quiet --cells 3000 --rounds 6
cmp -s out first || { complain "the same command finds something else"; diff out first | head; }
expect 2 "its search has begun, with other settings" discover W --words --recipe recipe.json --policy policy.json --simulate words.csv --fast --cells 5000
expect 2 "" discover W --cells 5000
expect 2 "" discover W --seed 5
expect 0 "next: sotto analysis discover W" watch W
expect 2 "this is a search" drill W --bin the
expect 0 "word,count,low,high,round,asked_one_in" export W --csv - --html found.html
grep -q "<p>A search of [0-9]* rounds: epsilon 1 at delta 0.000001, of all rounds together. The numbers below are of round" found.html ||
    complain "the page of a search has no epsilon of all rounds"
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
# A command that is killed in the middle leaves a folder that the same command goes on with, and no child at work in it.
"$sotto" analysis discover A --words --recipe recipe.json --policy policy.json --simulate words.csv --fast --quiet --cells 3000 --rounds 6 >out 2>&1 &
killed=$!
for i in $(seq 600); do
    [ -e A/03/recipe.json ] && break
    sleep 0.1
done
kill -KILL "$killed" 2>/dev/null
wait "$killed" 2>/dev/null
expect 0 "step" watch A
expect 0 "words found" discover A --words --recipe recipe.json --policy policy.json --simulate words.csv --fast --quiet --cells 3000 --rounds 6
sed 's/export A /export W /' out >again
cmp -s again first || { complain "a search that was killed finds something else"; diff again first | head; }
# An answer to another recipe is none to this search.
cp -r W X && sed 's/"min_cohort": 10000/"min_cohort": 10001/' W/frame.json >X/frame.json
cmp -s W/frame.json X/frame.json && complain "the frame has no min_cohort of 10000"
expect 1 "" result X
grep -q "words found" out && complain "answers to other recipes are shown"
printf 'the\n' >known.txt
expect 0 "words found" discover N --words --recipe recipe.json --policy policy.json --simulate words.csv --fast --quiet --cells 3000 \
    --rounds 6 --deny known.txt
grep -q "^  the  *[0-9]" out && complain "a denied word is found"
expect 1 "no-such-file: No such file" discover Q --words --recipe recipe.json --policy policy.json --simulate words.csv --deny no-such-file
(echo the && head -c 3000 /dev/zero | tr '\0' a) >long.txt
expect 1 "long.txt: line 2: it is too long" discover Q --words --recipe recipe.json --policy policy.json --simulate words.csv --deny long.txt
expect 2 "--box: it is for --places alone" discover Q --words --box 0,0,1,1 --recipe recipe.json --policy policy.json --simulate words.csv
expect 2 "--deny: places have none" discover Q --places --box 0,0,1,1 --deny known.txt --recipe recipe.json --policy policy.json --simulate words.csv
# What ledgers would refuse is refused before round 1.
sed 's/"reports": 20/"reports": 2/' policy.json >poor.json
expect 4 "devices would refuse round 3 of up to 9: com.example.words allows 2 reports, and 2 steps took them" discover P --words --recipe recipe.json \
    --policy poor.json --simulate words.csv --fast --quiet --cells 3000
sed 's/"epsilon": 6/"epsilon": 1.5/' policy.json >thrifty.json
expect 4 "com.example.words allows epsilon 1.5: after" discover P --words --recipe recipe.json --policy thrifty.json --simulate words.csv
[ -e P ] && complain "a folder is made for a search that devices can't pay for"
# A budget that is gone in the middle: the policy became smaller after round 2.
cp -r W P && cp poor.json P/policy.json && rm -r P/0[3-9]
expect 4 "com.example.words allows 2 reports, and 2 steps took them" discover P --quiet
grep -q "Kept: 2 steps" err && grep -q "sotto analysis result P" err || { complain "a budget that is gone: what is kept, and what to type?"; cat err; }
[ -e P/03 ] && complain "a budget that is gone: a step is asked"
expect 0 "words found in 2 rounds so far" result P
expect 0 "stopped" stop P
expect 1 "was stopped, so round 3 is not asked" discover P
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
"$sotto" analysis export E --csv - | grep -q "^the,.*,7$" || complain "fresh devices: CSV does not say how many were asked"
grep -q '"rate": 0.142857' E/01/recipe.json || complain "fresh devices: not one in seven"
# Words of three letters are found, and those that go on are said to be longer.
expect 0 "not followed to their end: --longest was reached" discover T --words --recipe recipe.json --policy policy.json --simulate words.csv --fast \
    --quiet --cells 3000 --rounds 6 --longest 3
grep -q "^  the  *[0-9]" out || { complain "a word of the longest kind is not found"; cat out; }
expect 4 "on_no_match no-value" discover Q --words --recipe silent.json --policy policy.json --simulate words.csv
expect 2 "the end of a word" discover Q --words --alphabet 'ab$' --recipe recipe.json --policy policy.json --simulate words.csv

# ---- phrases of words that were found ---------------------------------------------------------------------------------------------
cp "$source"/examples/phrases/*.json .
"$source/examples/phrases/make-users.sh" 20000 >phrases.csv
expect 0 "phrases found" discover I --phrases 3 --recipe recipe.json --policy policy.json --simulate phrases.csv --fast --quiet --cells 3000
grep -q "^  see you soon  *[0-9]" out || { complain "a frequent phrase is not found"; cat out; }
cp out first
over=$(grep -l prefix-tree I/*/recipe.json | head -1) # as if it had crashed among the rounds over words
rm -r "${over%/recipe.json}"/answer.*
behind=
for step in I/[01]*/recipe.json; do
    [ -z "$behind" ] || rm -r "${step%/recipe.json}"
    [ "$step" != "$over" ] || behind=yes
done
expect 0 "phrases found" discover I --quiet
cmp -s out first || { complain "a search for phrases that goes on finds something else"; diff out first | head; }
"$sotto" analysis result I --json >found.json 2>err || complain "no JSON of phrases"
expect 0 "phrase,count,low,high,round,asked_one_in" export I --csv -
python3 - <<'CHECK' || failed=1
import csv, glob, json
d = json.load(open("found.json"))
assert d["done"] and d["counted"] and d["epsilon"] == 1 and d["false_finds_expected"] < 1, d
found = {f["phrase"]: f for f in d["found"]}
rows = list(csv.DictReader(open("phrases.csv")))
true, words = {}, {}
for r in rows:
    true[r["phrase"]] = true.get(r["phrase"], 0) + 1
    words[r["word"]] = words.get(r["word"], 0) + 1
# A plain count: what is four deviations of noise above the largest threshold is found, and nothing that nobody has.
assert set(found) <= set(true), set(found) - set(true)
wanted = [p for p, n in true.items() if n > 260 and all(words.get(w, 0) > 260 for w in p.split())]
missed = [p for p in wanted if p not in found]
assert len(wanted) > 10 and not missed, (missed, len(wanted))
held = sum(f["low"] <= true[p] <= f["high"] for p, f in found.items())
assert held >= 0.8 * len(found), (held, len(found))
assert {w for p in found for w in p.split()} <= {w["word"] for w in d["words"]}, d["words"]
# One budget: 8 rounds of letters, 2 over words, the count.
epsilons = [json.load(open(p))["privacy"]["epsilon"] for p in sorted(glob.glob("I/*/recipe.json"))]
assert len(epsilons) <= 11 and len(set(epsilons[:-1])) == 1, epsilons
CHECK
expect 2 "not a whole number from 1 to 8" discover Q --phrases 9 --recipe recipe.json --policy policy.json --simulate phrases.csv
expect 2 "what is looked for" discover Q --phrases 2 --words --recipe recipe.json --policy policy.json --simulate phrases.csv

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

# What is just below the eastern edge of a box is in the last square, though arithmetic rounds it onto the edge.
(cat places.csv && for i in $(seq 2000); do echo 15.999999999999998,3; done) >edge.csv
expect 0 "places found" discover edge --places --box -5,0,16,16 --levels 3 --recipe recipe.json --policy policy.json --simulate edge.csv --fast --quiet
"$sotto" analysis export edge --csv found.csv
python3 - <<'CHECK' || failed=1
import csv
rows = {r["cell"]: float(r["count"]) for r in csv.DictReader(open("found.csv"))}
assert rows.get("113", 0) > 1900 and rows.get("002", 0) < 1900, rows
CHECK
exit $failed
